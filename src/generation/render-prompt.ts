import { EdgeError } from "../core/api-error.ts";
import type { ChatRequest, Message } from "../core/chat-request.ts";
import type { ChatTemplate, TemplateMessage } from "../prompt/template/chat-template.ts";
import { TemplateFailure } from "../prompt/template/jinja/failure.ts";
import { prepareMessages } from "../prompt/template/messages.ts";

/** How a chat is put before a template that does not take it as it is. */
interface Rendering {
  /** A missing content is empty text. */
  readonly emptyContent?: boolean;
  /** Arguments of calls are text, not objects. */
  readonly argumentText?: boolean;
  /** Calls that were made together are turns of their own. */
  readonly splitCalls?: boolean;
}

/** Tried one after the other while the template fails by itself. */
const RENDERINGS: readonly Rendering[] = [
  {},
  { emptyContent: true },
  { argumentText: true },
  { emptyContent: true, argumentText: true },
];

/**
 * The prompt text of a chat. Templates differ in what they take without looking (a missing content, arguments as objects,
 * several calls in a turn): what fails for such a reason is rendered in the next way. Throws EdgeError `invalid-request`
 * with the template's own message.
 */
export function renderPrompt(
  request: Pick<
    ChatRequest,
    "messages" | "addGenerationPrompt" | "continueFinalMessage" | "templateKwargs" | "tools"
  >,
  template: ChatTemplate,
  options: { readonly now: Date; readonly hasShortCallIds: boolean },
): string {
  const { tools } = request;
  const hasTools = tools.length > 0;
  const messages = request.messages.map((message) =>
    toTemplateMessage(message, options.hasShortCallIds ? toShortId : keepId),
  );
  const render = (way: Rendering): string =>
    template.render({
      messages: prepareMessages(arrange(messages, way), template, {
        hasTools,
        keepsArgumentText: way.argumentText ?? false,
      }),
      ...(hasTools ? { tools: tools.map(({ forTemplate }) => forTemplate) } : {}),
      addGenerationPrompt: request.addGenerationPrompt,
      continueFinalMessage: request.continueFinalMessage,
      kwargs: request.templateKwargs,
      now: options.now,
    });
  return tryRenderings(render, RENDERINGS, (error) => {
    const hasSeveral = request.messages.some(({ toolCalls }) => (toolCalls?.length ?? 0) > 1);
    if (!hasSeveral) throw error;
    // The template has a message of its own about it: what it says is the best that there is when this fails as well.
    return tryRenderings(
      (way) => render({ ...way, splitCalls: true }),
      RENDERINGS,
      () => {
        throw error;
      },
    );
  });
}

function tryRenderings(
  render: (way: Rendering) => string,
  ways: readonly Rendering[],
  giveUp: (error: unknown) => string,
): string {
  let first: unknown;
  for (const way of ways) {
    try {
      return render(way);
    } catch (error) {
      first ??= error;
      if (!isTemplateFault(error)) return giveUp(error);
    }
  }
  return giveUp(first);
}

function arrange(messages: readonly TemplateMessage[], way: Rendering): readonly TemplateMessage[] {
  const arranged = way.splitCalls === true ? splitCalls(messages) : messages;
  if (way.emptyContent !== true) return arranged;
  return arranged.map((message) =>
    message.content === null ? Object.assign({}, message, { content: "" }) : message,
  );
}

/** Each call a turn of the assistant, with its result behind it. */
function splitCalls(messages: readonly TemplateMessage[]): readonly TemplateMessage[] {
  const results = new Map<unknown, TemplateMessage>();
  for (const message of messages) {
    if (message.role === "tool") results.set(message["tool_call_id"], message);
  }
  const split: TemplateMessage[] = [];
  const placed = new Set<TemplateMessage>();
  for (const message of messages) {
    if (placed.has(message)) continue;
    const calls = message["tool_calls"];
    if (!Array.isArray(calls) || calls.length < 2) {
      split.push(message);
      continue;
    }
    for (const [index, call] of calls.entries()) {
      split.push({ ...message, content: index === 0 ? message.content : null, tool_calls: [call] });
      const result = results.get(idOf(call));
      if (result === undefined) continue;
      placed.add(result);
      split.push(result);
    }
  }
  return split;
}

function idOf(call: unknown): unknown {
  return typeof call === "object" && call !== null && "id" in call ? call.id : undefined;
}

function keepId(id: string): string {
  return id;
}

/** Nine letters and digits, which is all that Mistral's templates take: the same for the same id. */
function toShortId(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  let [low, high] = [0x811c9dc5, 0x9e3779b1];
  for (let position = 0; position < id.length; position++) {
    low = Math.imul(low ^ id.charCodeAt(position), 0x01000193);
    high = Math.imul(high ^ low, 0x85ebca6b);
  }
  const text =
    (low >>> 0).toString(36).padStart(7, "0") + (high >>> 0).toString(36).padStart(7, "0");
  return text.slice(-9);
}

/** The template failed by itself; not one of its own messages about the request. */
function isTemplateFault(error: unknown): boolean {
  return (
    error instanceof EdgeError &&
    error.cause instanceof TemplateFailure &&
    error.cause.kind !== "raised"
  );
}

/** A message in the words that templates know. */
function toTemplateMessage(message: Message, toId: (id: string) => string): TemplateMessage {
  const { role, content, name, toolCallId, toolCalls, reasoning } = message;
  return {
    role,
    content:
      typeof content === "object" ? (content?.map((part) => ({ ...part })) ?? null) : content,
    ...(name === undefined ? {} : { name }),
    ...(toolCallId === undefined ? {} : { tool_call_id: toId(toolCallId) }),
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(toolCalls === undefined
      ? {}
      : {
          tool_calls: toolCalls.map((call) => ({
            id: toId(call.id),
            type: "function",
            function: { name: call.name, arguments: call.arguments },
          })),
        }),
  };
}
