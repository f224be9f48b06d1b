import type { ToolFormat } from "../output-parser.ts";
import { readFramedCalls } from "./call-frame.ts";
import {
  NAME_AND_ARGUMENTS,
  readBareCallObject,
  readCallList,
  readCallObject,
} from "./json-calls.ts";
import { createGrammarParser, type OutputCursor, type Reading } from "./output-cursor.ts";

const PYTHON_TAG = "<|python_tag|>";

/**
 * Llama 3: JSON behind a marker, or the whole reply is JSON, several calls with semicolons between.
 *
 * Without the marker only the beginning of the output counts, and the keys decide: `name` with a text, `parameters` (or
 * `arguments`) with an object, and no others but `id` and `type` before both were seen. Any other JSON is an answer.
 */
export const LLAMA3: ToolFormat = {
  name: "llama3",
  markers: [PYTHON_TAG],
  create: () => createGrammarParser(readLlama3),
};

function* readLlama3(cursor: OutputCursor): Reading<void> {
  yield* cursor.skipSpace();
  const first = yield* cursor.peek();
  if (first === "{" || first === "[") {
    yield* readCallList(cursor, () => readBareCallObject(cursor, NAME_AND_ARGUMENTS));
  }
  cursor.giveBack();
  yield* readFramedCalls(cursor, {
    starts: [PYTHON_TAG],
    ends: [],
    readCalls: () => readCallList(cursor, () => readCallObject(cursor, NAME_AND_ARGUMENTS)),
  });
}
