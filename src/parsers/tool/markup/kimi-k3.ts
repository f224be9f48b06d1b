import type { ToolFormat } from "../../output-parser.ts";
import { attributeHead, attributeParameter } from "./heads.ts";
import { createMarkupParser, type MarkupGrammar } from "./markup-calls.ts";
import { tagArguments } from "./tag-arguments.ts";

const OPEN = "<|open|>";
const CLOSE = "<|close|>";
const SEPARATOR = "<|sep|>";

function unescape(value: string): string {
  return value.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
}

/** Tags of three special tokens. An argument names its type: string is raw text, all others are JSON. */
const GRAMMAR: MarkupGrammar = {
  section: { start: `${OPEN}tools${SEPARATOR}`, end: `${CLOSE}tools${SEPARATOR}` },
  looseCalls: "all",
  call: `${OPEN}call`,
  readHead: attributeHead("tool", [SEPARATOR], unescape),
  readArguments: tagArguments({
    callEnd: `${CLOSE}call${SEPARATOR}`,
    parameter: `${OPEN}argument`,
    readParameter: attributeParameter(
      "key",
      [SEPARATOR],
      (values) => ({
        is: (values.get("type") ?? "string") === "string" ? new Set(["string"]) : undefined,
      }),
      unescape,
    ),
    parameterEnd: `${CLOSE}argument${SEPARATOR}`,
    trim: "keep",
    json: {
      start: `${OPEN}json type="object"${SEPARATOR}`,
      end: `${CLOSE}json${SEPARATOR}`,
    },
  }),
  frames: [
    { start: `${OPEN}response${SEPARATOR}` },
    { start: `${CLOSE}response${SEPARATOR}` },
    { start: `${CLOSE}message${SEPARATOR}` },
  ],
};

export const kimiK3: ToolFormat = {
  name: "kimi_k3",
  markers: [OPEN, CLOSE, SEPARATOR],
  create: (options) => createMarkupParser([GRAMMAR], options),
};
