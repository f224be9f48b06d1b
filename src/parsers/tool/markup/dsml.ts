import type { ToolFormat } from "../../output-parser.ts";
import { attributeHead, attributeParameter } from "./heads.ts";
import { createMarkupParser, type MarkupGrammar } from "./markup-calls.ts";
import { tagArguments } from "./tag-arguments.ts";

/** DeepSeek's markup language; the text between brackets is one special token. */
const TOKEN = "｜DSML｜";

/** A parameter says itself whether it is a string or JSON. A call without parameters may close itself. */
function dsmlGrammar(section: string): MarkupGrammar {
  return {
    section: { start: `<${TOKEN}${section}>`, end: `</${TOKEN}${section}>` },
    looseCalls: "all",
    call: `<${TOKEN}invoke`,
    readHead: attributeHead("name", [">", "/>"]),
    readArguments: tagArguments({
      callEnd: `</${TOKEN}invoke>`,
      parameter: `<${TOKEN}parameter`,
      readParameter: attributeParameter("name", [">"], (values) => {
        const isString = values.get("string");
        if (isString === "true") return { is: new Set(["string"]) };
        return isString === "false" ? { is: undefined } : undefined;
      }),
      parameterEnd: `</${TOKEN}parameter>`,
      trim: "keep",
      json: "bare",
    }),
  };
}

function dsmlFormat(name: string, section: string): ToolFormat {
  const grammar = dsmlGrammar(section);
  return {
    name,
    markers: [TOKEN, `<${TOKEN}${section}>`, `</${TOKEN}${section}>`],
    create: (options) => createMarkupParser([grammar], options),
  };
}

export const DSML_FORMATS: readonly ToolFormat[] = [
  dsmlFormat("deepseekv32", "function_calls"),
  dsmlFormat("deepseekv4", "tool_calls"),
];
