import type { ToolFormat } from "../../output-parser.ts";
import type { OutputCursor, Reading } from "../output-cursor.ts";
import { invokeArguments, readInvoke } from "./invoke.ts";
import { createMarkupParser, type CallHead, type MarkupGrammar } from "./markup-calls.ts";

/** A call is a tag within special tokens. */
const GRAMMAR: MarkupGrammar = {
  section: { start: "<｜tool_calls_begin｜>", end: "<｜tool_calls_end｜>" },
  looseCalls: "all",
  call: "<｜tool_call_begin｜>",
  *readHead(cursor: OutputCursor): Reading<CallHead | undefined> {
    for (const part of ["function", "<｜tool_sep｜>", "<steptml:invoke"]) {
      yield* cursor.skipSpace();
      if (!(yield* cursor.literal(part))) return undefined;
    }
    return yield* readInvoke(cursor);
  },
  readArguments: invokeArguments("wrapped", "steptml:"),
  callTail: "<｜tool_call_end｜>",
};

export const step3: ToolFormat = {
  name: "step3",
  markers: [
    "<｜tool_calls_begin｜>",
    "<｜tool_calls_end｜>",
    "<｜tool_call_begin｜>",
    "<｜tool_call_end｜>",
    "<｜tool_sep｜>",
  ],
  create: (options) => createMarkupParser([GRAMMAR], options),
};
