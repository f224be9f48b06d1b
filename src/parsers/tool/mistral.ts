import type { ToolFormat } from "../output-parser.ts";
import { CallDraft, type CallOutcome } from "./call-draft.ts";
import { readFramedCalls } from "./call-frame.ts";
import { readArguments } from "./json-arguments.ts";
import { MAX_NAME_CHARS, NAME_AND_ARGUMENTS, readCallList, readCallObject } from "./json-calls.ts";
import { createGrammarParser, type OutputCursor, type Reading } from "./output-cursor.ts";
import { toToolName } from "./tagged-calls.ts";

const TOOL_CALLS = "[TOOL_CALLS]";
const TOOL_CALLS_END = "[/TOOL_CALLS]";
const CALL_ID = "[CALL_ID]";
const ARGS = "[ARGS]";

/**
 * Mistral, in both notations: `[TOOL_CALLS] [{"name": …, "arguments": …}, …]` of the older models, and
 * `[TOOL_CALLS]name[ARGS]{…}`, once for each call, of the newer ones; some write an id between, `[CALL_ID]id`.
 */
export const MISTRAL: ToolFormat = {
  name: "mistral",
  markers: [TOOL_CALLS, TOOL_CALLS_END, CALL_ID, ARGS],
  create: () =>
    createGrammarParser((cursor) =>
      readFramedCalls(cursor, {
        starts: [TOOL_CALLS],
        ends: [TOOL_CALLS_END],
        readCalls: () => readCalls(cursor),
      }),
    ),
};

function* readCalls(cursor: OutputCursor): Reading<boolean> {
  yield* cursor.skipSpace();
  const first = yield* cursor.peek();
  if (first === "[" || first === "{") {
    return yield* readCallList(cursor, () => readCallObject(cursor, NAME_AND_ARGUMENTS));
  }
  return (yield* readNamedCall(cursor)) !== "broken";
}

function* readNamedCall(cursor: OutputCursor): Reading<CallOutcome> {
  const header = yield* cursor.until([ARGS, CALL_ID, "{"], MAX_NAME_CHARS);
  const name = header === undefined ? undefined : toToolName(header);
  if (name === undefined) return "broken";
  let id: string | undefined;
  if (yield* cursor.literal(CALL_ID)) {
    id = (yield* cursor.until([ARGS, "{"], MAX_NAME_CHARS))?.trim();
    if (id === undefined || id === "") return "broken";
  }
  yield* cursor.literal(ARGS);
  yield* cursor.skipSpace();
  const draft = new CallDraft(cursor, name, id);
  return draft.settle(yield* readArguments(cursor, draft));
}
