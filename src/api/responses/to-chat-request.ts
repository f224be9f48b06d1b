import type { ChatRequest, OutputFormat } from "../../core/chat-request.ts";
import { dropUnset } from "../shared/drop-unset.ts";
import { toGenerationOptions, toOutputFormat } from "../shared/generation-options.ts";
import type { ResponseRequest } from "./schema.ts";
import { toMessages } from "./to-messages.ts";
import { toResponseToolChoice } from "./to-tool-choice.ts";
import { toRequestTools, type ToolOrigin } from "./tool-names.ts";

export interface DecodedRequest {
  readonly request: ChatRequest;
  /** Tools by the name that the model sees. */
  readonly origins: ReadonlyMap<string, ToolOrigin>;
  /** The wire's path of each message's content. */
  readonly paths: readonly string[];
  /** Paths of fields that ask for what cannot be done here and were left out. */
  readonly ignored: readonly string[];
}

/** The wire request as a ChatRequest. Pure. Throws EdgeError `invalid-request` for fields that contradict each other. */
export function toChatRequest(wire: ResponseRequest): DecodedRequest {
  const items = typeof wire.input === "string" ? [] : wire.input;
  const tools = toRequestTools(wire.tools ?? [], items);
  const { messages, paths } = toMessages(wire.instructions, wire.input);
  const effort = wire.reasoning?.effort;
  const request: ChatRequest = {
    model: wire.model,
    messages,
    addGenerationPrompt: true,
    continueFinalMessage: false,
    templateKwargs: { ...dropUnset({ reasoning_effort: effort }), ...wire.chat_template_kwargs },
    ...toGenerationOptions({ ...wire, n: 1 }, wire.max_output_tokens ?? undefined),
    ...(includes(wire, TEXT_LOGPROBS) ? { logprobs: { top: wire.top_logprobs ?? 0 } } : {}),
    tools: tools.definitions,
    toolChoice: toResponseToolChoice(wire.tool_choice, tools),
    parallelToolCalls: wire.parallel_tool_calls ?? true,
    output: toResponseOutput(wire),
    separateReasoning: true,
    streamReasoning: true,
    ...dropUnset({ reasoningEffort: effort }),
  };
  return { request, origins: tools.origins, paths, ignored: findIgnored(wire, tools.builtIns) };
}

const TEXT_LOGPROBS = "message.output_text.logprobs";
/** Asks for what only replies of built-in tools have; such replies never come. */
const VACUOUS_INCLUDES =
  /^(file_search_call|web_search_call|computer_call_output|code_interpreter_call)\./;

function includes(wire: ResponseRequest, value: string): boolean {
  return wire.include?.includes(value) ?? false;
}

function findIgnored(
  wire: ResponseRequest,
  builtIns: readonly { readonly path: string }[],
): readonly string[] {
  const includePaths = (wire.include ?? []).flatMap((value, index) =>
    value === TEXT_LOGPROBS || VACUOUS_INCLUDES.test(value) ? [] : [`include[${index}]`],
  );
  return [...builtIns.map(({ path }) => path), ...includePaths];
}

function toResponseOutput(wire: ResponseRequest): OutputFormat {
  const { regex, ebnf, json_schema, structural_tag } = wire;
  return toOutputFormat({ regex, ebnf, json_schema, structural_tag, ...toFormatField(wire) });
}

/** `text.format` in the shape of chat completions. */
function toFormatField(
  wire: ResponseRequest,
): Pick<Parameters<typeof toOutputFormat>[0], "response_format"> {
  const format = wire.text?.format;
  switch (format?.type) {
    case undefined:
    case "text":
      return {};
    case "json_object":
      return { response_format: { type: "json_object" } };
    case "json_schema": {
      const { name, schema, strict } = format;
      return { response_format: { type: "json_schema", json_schema: { name, schema, strict } } };
    }
  }
}
