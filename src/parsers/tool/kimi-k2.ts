import type { ToolFormat, ToolParserOptions, ToolSignature } from "../output-parser.ts";
import { CallDraft, type CallOutcome } from "./call-draft.ts";
import { MAX_NAME_CHARS } from "./json-calls.ts";
import { createGrammarParser, type OutputCursor, type Reading } from "./output-cursor.ts";
import { readTaggedArguments, readTaggedCalls, toToolName } from "./tagged-calls.ts";

const SECTION_STARTS = ["<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"];
const SECTION_ENDS = ["<|tool_calls_section_end|>", "<|tool_call_section_end|>"];
const CALL_START = "<|tool_call_begin|>";
const CALL_END = "<|tool_call_end|>";
const ARGUMENTS_START = "<|tool_call_argument_begin|>";

/**
 * Kimi K2: the id of a call, which has the name in it, and the arguments. The index is counted over the conversation, as
 * the model was trained to see it; what it writes itself often begins anew with each turn.
 */
export const KIMI_K2: ToolFormat = {
  name: "kimi_k2",
  markers: [...SECTION_STARTS, ...SECTION_ENDS, CALL_START, CALL_END, ARGUMENTS_START],
  create: (options) =>
    createGrammarParser((cursor) =>
      readTaggedCalls(cursor, {
        sectionStarts: SECTION_STARTS,
        sectionEnds: SECTION_ENDS,
        callStart: CALL_START,
        callEnd: CALL_END,
        readCall: () => readCall(cursor, options),
      }),
    ),
};

function* readCall(cursor: OutputCursor, options: ToolParserOptions): Reading<CallOutcome> {
  const header = yield* cursor.until([ARGUMENTS_START], MAX_NAME_CHARS);
  if (header === undefined || !(yield* cursor.literal(ARGUMENTS_START))) return "broken";
  const id = header.trim();
  if (/^(?:functions\.)?:?\d+$/.test(id)) return yield* readNamelessCall(cursor, options.tools);
  const parts = /^(?:functions\.)?(?<name>.+?)(?<index>:\d+)?$/s.exec(id)?.groups;
  const name = toToolName(parts?.["name"] ?? "");
  if (name === undefined) return "broken";
  const index = options.earlierCalls + cursor.calls;
  const draft = new CallDraft(cursor, name, `functions.${name}:${index}`);
  return yield* readTaggedArguments(cursor, draft, CALL_END);
}

/**
 * A call whose id is but a counter: the only tool, or the only one that takes these arguments, is meant, which is known
 * when they are complete. If no single tool fits, the call is text.
 */
function* readNamelessCall(
  cursor: OutputCursor,
  tools: readonly ToolSignature[],
): Reading<CallOutcome> {
  const [only, ...others] = tools;
  const draft = new CallDraft(cursor, others.length === 0 ? only?.name : undefined);
  const outcome = yield* readTaggedArguments(cursor, draft, CALL_END);
  if (draft.isNamed) return outcome;
  const name = draft.isWhole ? findTool(draft.pending, tools) : undefined;
  if (name === undefined) return "broken";
  draft.giveName(name);
  return draft.settle(true);
}

function findTool(json: string, tools: readonly ToolSignature[]): string | undefined {
  const given: unknown = JSON.parse(json);
  if (!isObject(given)) return undefined;
  const keys = Object.keys(given);
  const fitting = tools.filter(({ parameters }) => {
    const properties = parameters?.["properties"];
    const required = parameters?.["required"];
    if (!isObject(properties) || !keys.every((key) => Object.hasOwn(properties, key))) return false;
    return !Array.isArray(required) || required.every((key) => keys.includes(String(key)));
  });
  return fitting.length === 1 ? fitting[0]?.name : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
