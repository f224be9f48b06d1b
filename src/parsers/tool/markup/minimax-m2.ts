import type { ToolFormat } from "../../output-parser.ts";
import { invokeArguments, readInvoke } from "./invoke.ts";
import { createMarkupParser, type MarkupGrammar } from "./markup-calls.ts";

/** The template writes values right between their tags; models put long ones into lines of their own. */
const GRAMMAR: MarkupGrammar = {
  section: { start: "<minimax:tool_call>", end: "</minimax:tool_call>" },
  looseCalls: "declared",
  call: "<invoke",
  readHead: readInvoke,
  readArguments: invokeArguments("wrapped"),
};

export const minimaxM2: ToolFormat = {
  name: "minimax-m2",
  markers: ["<minimax:tool_call>", "</minimax:tool_call>"],
  create: (options) => createMarkupParser([GRAMMAR], options),
};
