import type { ToolFormat } from "../../output-parser.ts";
import { namedHead, namedParameter } from "./heads.ts";
import { createMarkupParser, type MarkupGrammar } from "./markup-calls.ts";
import type { Trim } from "./raw-value.ts";
import { tagArguments } from "./tag-arguments.ts";

/** `<function=f>` and `<parameter=k>`, `<tool_call>` around each call, which models sometimes forget. */
function functionFormat(name: string, trim: Trim): ToolFormat {
  const grammar: MarkupGrammar = {
    section: { start: "<tool_call>", end: "</tool_call>" },
    looseCalls: "declared",
    call: "<function=",
    readHead: namedHead(">"),
    readArguments: tagArguments({
      callEnd: "</function>",
      parameter: "<parameter=",
      readParameter: namedParameter(">"),
      parameterEnd: "</parameter>",
      trim,
    }),
  };
  return {
    name,
    markers: ["<tool_call>", "</tool_call>"],
    create: (options) => createMarkupParser([grammar], options),
  };
}

export const FUNCTION_FORMATS: readonly ToolFormat[] = [
  functionFormat("qwen3_coder", "lines"),
  functionFormat("mimo", "keep"),
];
