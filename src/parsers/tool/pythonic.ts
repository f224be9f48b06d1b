import type { ToolFormat, ToolParserOptions } from "../output-parser.ts";
import { readFramedCalls } from "./call-frame.ts";
import { readCallItems, readCallList } from "./json-calls.ts";
import { createGrammarParser, type OutputCursor, type Reading } from "./output-cursor.ts";
import { readPythonCall } from "./python-calls.ts";

const START = "<|python_start|>";
const END = "<|python_end|>";

/**
 * Llama 4 and other models that call tools in Python's syntax: `[f(a="x", b=3), g()]`, bare or between markers.
 *
 * Without the markers, a list with nothing before it but calls is one of calls if its syntax is; behind other text also
 * the first name must be that of a tool, for text about code has such lists, too.
 */
export const PYTHONIC: ToolFormat = {
  name: "pythonic",
  markers: [START, END],
  create: (options) => createGrammarParser((cursor) => readPythonic(cursor, options)),
};

function* readPythonic(cursor: OutputCursor, { tools }: ToolParserOptions): Reading<void> {
  const declared = new Set(tools.map(({ name }) => name));
  yield* readFramedCalls(cursor, {
    starts: [START, "["],
    ends: [END],
    *readCalls(start) {
      const isPossible = cursor.isBesideCall;
      const calls = cursor.calls;
      const readCall = () =>
        readPythonCall(cursor, (name) => {
          if (start === START || declared.has(name)) return "certain";
          return isPossible || cursor.calls > calls ? "possible" : "refused";
        });
      return start === START
        ? yield* readCallList(cursor, readCall)
        : yield* readCallItems(cursor, readCall, true);
    },
  });
}
