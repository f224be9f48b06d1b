import type { ToolFormat } from "../output-parser.ts";
import { CallDraft, type CallOutcome } from "./call-draft.ts";
import { readArguments } from "./json-arguments.ts";
import { MAX_NAME_CHARS } from "./json-calls.ts";
import { createGrammarParser, type OutputCursor, type Reading } from "./output-cursor.ts";
import { readTaggedArguments, readTaggedCalls, toToolName } from "./tagged-calls.ts";

const SECTION_START = "<｜tool▁calls▁begin｜>";
const SECTION_END = "<｜tool▁calls▁end｜>";
const CALL_START = "<｜tool▁call▁begin｜>";
const CALL_END = "<｜tool▁call▁end｜>";
const SEPARATOR = "<｜tool▁sep｜>";
const FENCE = "```";

const MARKERS = [SECTION_START, SECTION_END, CALL_START, CALL_END, SEPARATOR];

/** The word before a V3 call's name; models only ever write "function". */
const MAX_TYPE_CHARS = 64;

/** DeepSeek V3 and R1: a type, the name, and the arguments in a fenced code block. */
export const DEEPSEEKV3: ToolFormat = createFormat("deepseekv3", readFencedCall);

/** DeepSeek V3.1: the name and the arguments. */
export const DEEPSEEKV31: ToolFormat = createFormat("deepseekv31", readPlainCall);

function createFormat(
  name: string,
  readCall: (cursor: OutputCursor) => Reading<CallOutcome>,
): ToolFormat {
  return {
    name,
    markers: MARKERS,
    create: () =>
      createGrammarParser((cursor) =>
        readTaggedCalls(cursor, {
          sectionStarts: [SECTION_START],
          sectionEnds: [SECTION_END],
          callStart: CALL_START,
          callEnd: CALL_END,
          readCall: () => readCall(cursor),
        }),
      ),
  };
}

function* readPlainCall(cursor: OutputCursor): Reading<CallOutcome> {
  const name = yield* readHeader(cursor, [SEPARATOR]);
  if (name === undefined || !(yield* cursor.literal(SEPARATOR))) return "broken";
  return yield* readTaggedArguments(cursor, new CallDraft(cursor, name), CALL_END);
}

function* readFencedCall(cursor: OutputCursor): Reading<CallOutcome> {
  const type = yield* cursor.until([SEPARATOR], MAX_TYPE_CHARS);
  if (type === undefined || !(yield* cursor.literal(SEPARATOR))) return "broken";
  const name = yield* readHeader(cursor, ["\n", FENCE, "{", CALL_END]);
  if (name === undefined) return "broken";
  yield* cursor.skipSpace();
  const draft = new CallDraft(cursor, name);
  if (!(yield* cursor.literal(FENCE))) return yield* readTaggedArguments(cursor, draft, CALL_END);
  yield* cursor.literal("json");
  yield* cursor.skipSpace();
  if (yield* cursor.literal(FENCE)) return draft.settle(true);
  if (cursor.atEnd || !(yield* readArguments(cursor, draft))) return draft.settle(false);
  yield* cursor.skipSpace();
  yield* cursor.literal(FENCE);
  return draft.settle(true);
}

function* readHeader(cursor: OutputCursor, ends: readonly string[]): Reading<string | undefined> {
  const header = yield* cursor.until(ends, MAX_NAME_CHARS);
  return header === undefined ? undefined : toToolName(header);
}
