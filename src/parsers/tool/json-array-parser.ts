import type { OutputParser } from "../output-parser.ts";
import { NAME_AND_ARGUMENTS, readCallList, readCallObject } from "./json-calls.ts";
import { createGrammarParser, type OutputCursor, type Reading } from "./output-cursor.ts";

/**
 * Reads an output that was constrained to be a JSON array of calls, `[{"name": …, "parameters": …}, …]`, or a single
 * such object. What does not begin like that, and what comes behind it, is text.
 */
export function createJsonArrayParser(): OutputParser {
  return createGrammarParser(readJsonArray);
}

function* readJsonArray(cursor: OutputCursor): Reading<void> {
  const isRead = yield* readCallList(cursor, () => readCallObject(cursor, NAME_AND_ARGUMENTS));
  if (isRead && cursor.atEnd) cursor.forget();
  cursor.giveBack();
  yield* cursor.text([]);
}
