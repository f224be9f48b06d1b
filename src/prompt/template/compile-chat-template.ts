import { EdgeError, invalidRequest } from "../../core/api-error.ts";
import type {
  ChatTemplate,
  ChatTemplateSource,
  TemplateInput,
  TemplateMessage,
} from "./chat-template.ts";
import { detectContentFormat } from "./content-format.ts";
import { cutAfterFinalMessage, markFinalMessage } from "./continue-final-message.ts";
import { compileTemplate } from "./jinja/compile-template.ts";
import { TemplateFailure } from "./jinja/failure.ts";
import { createGlobals } from "./jinja/globals.ts";
import { parseTemplate } from "./jinja/parser.ts";
import { mentionsString } from "./jinja/queries.ts";
import { toValue } from "./jinja/values.ts";
import type { Value } from "./jinja/values.ts";

/** Longest message of a template that is passed on to a client. */
const MAX_MESSAGE_CHARS = 2000;

interface NamedTemplate {
  readonly source: string;
  readonly render: (variables: ReadonlyMap<string, Value>, now: Date) => string;
  /** Whether the template has a place for the role `developer`. */
  readonly knowsDeveloper: boolean;
  readonly contentFormat: () => "string" | "openai";
}

/**
 * Reads all templates of a model, once; renders as Hugging Face's `apply_chat_template(..., tokenize=False)` does.
 * Throws EdgeError `invalid-request` for a source that is not a template, and so does every rendering that fails.
 */
export function compileChatTemplate(source: ChatTemplateSource): ChatTemplate {
  const templates = new Map(
    Object.entries(source.templates).map(([name, text]) => [
      name,
      compileNamed(name, text, source.specialTokens),
    ]),
  );
  const choose = (hasTools: boolean): NamedTemplate => {
    const template =
      (hasTools ? templates.get("tool_use") : undefined) ??
      templates.get("default") ??
      (templates.size === 1 ? templates.values().next().value : undefined);
    if (template !== undefined) return template;
    throw invalidRequest("The model has no default chat template.");
  };
  return {
    contentFormat: ({ hasTools }) => choose(hasTools).contentFormat(),
    render: (input) =>
      asEdgeError(() => render(choose(input.tools !== undefined), input, source.specialTokens)),
  };
}

function compileNamed(
  name: string,
  source: string,
  specialTokens: Readonly<Record<string, string>>,
): NamedTemplate {
  const body = asEdgeError(
    () => parseTemplate(source),
    `The model's chat template '${name}' is not valid`,
  );
  const run = compileTemplate(body);
  const renderWith = (variables: ReadonlyMap<string, Value>, now: Date): string =>
    run(createGlobals(now), variables);
  let format: "string" | "openai" | undefined;
  return {
    source,
    render: renderWith,
    knowsDeveloper: mentionsString(body, "developer"),
    contentFormat: () => {
      format ??= detectContentFormat(body, (messages) =>
        renderWith(
          variablesOf({ messages, addGenerationPrompt: true, kwargs: {} }, specialTokens),
          new Date(0),
        ),
      );
      return format;
    },
  };
}

function render(
  template: NamedTemplate,
  input: TemplateInput,
  specialTokens: Readonly<Record<string, string>>,
): string {
  const messages = template.knowsDeveloper ? input.messages : input.messages.map(withoutDeveloper);
  if (!input.continueFinalMessage) {
    return template.render(variablesOf({ ...input, messages }, specialTokens), input.now);
  }
  const marked = markFinalMessage(messages, template.source);
  const variables = variablesOf({ ...input, messages: marked.messages }, specialTokens);
  return cutAfterFinalMessage(template.render(variables, input.now), marked.finalText);
}

/** A template that does not know the role `developer` gets its text as the system's. */
function withoutDeveloper(message: TemplateMessage): TemplateMessage {
  return message.role === "developer" ? { ...message, role: "system" } : message;
}

/** What Hugging Face gives a template; `tools` and `documents` are None when there are none. */
function variablesOf(
  input: Pick<TemplateInput, "messages" | "tools" | "addGenerationPrompt" | "kwargs">,
  specialTokens: Readonly<Record<string, string>>,
): ReadonlyMap<string, Value> {
  const variables = {
    ...specialTokens,
    messages: input.messages,
    tools: input.tools ?? null,
    documents: null,
    add_generation_prompt: input.addGenerationPrompt,
  };
  return new Map(
    [...Object.entries(variables), ...Object.entries(input.kwargs)].map(([name, value]) => [
      name,
      toValue(value),
    ]),
  );
}

/** Runs `work`; whatever it throws leaves as an EdgeError whose detail is safe to show. */
function asEdgeError<Result>(
  work: () => Result,
  prefix = "The model's chat template cannot render this request",
): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof EdgeError) throw error;
    throw new EdgeError({ kind: "invalid-request", detail: describe(error, prefix) }, error);
  }
}

function describe(error: unknown, prefix: string): string {
  if (!(error instanceof TemplateFailure)) return `${prefix}.`;
  const message =
    error.message.length > MAX_MESSAGE_CHARS
      ? `${error.message.slice(0, MAX_MESSAGE_CHARS)}…`
      : error.message;
  return error.kind === "raised" ? message : `${prefix}: ${message}`;
}
