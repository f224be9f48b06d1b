import type { ToolFormat } from "../output-parser.ts";
import { JSON_FORMATS } from "./json-formats.ts";
import { MARKUP_ALIASES, MARKUP_FORMATS } from "./markup/markup-formats.ts";

/** Other names of formats: of SGLang's own and of other servers' parsers. */
const ALIASES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    qwen: "qwen25",
    qwen3: "qwen25",
    llama4: "pythonic",
    llama4_pythonic: "pythonic",
    llama3_json: "llama3",
    ...MARKUP_ALIASES,
  }),
);

const FORMATS: ReadonlyMap<string, ToolFormat> = new Map(
  [...JSON_FORMATS, ...MARKUP_FORMATS].map((format) => [format.name, format]),
);

/**
 * The format that SGLang's `--tool-call-parser` value names, in any case; undefined when there is none. Harmony's
 * ("gpt-oss") is not among them: it tells thoughts, calls and text apart in one grammar.
 */
export function findToolFormat(name: string): ToolFormat | undefined {
  const key = name.toLowerCase();
  return FORMATS.get(ALIASES.get(key) ?? key);
}
