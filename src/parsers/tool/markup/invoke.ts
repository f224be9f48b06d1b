import type { ToolFormat } from "../../output-parser.ts";
import type { OutputCursor, Reading } from "../output-cursor.ts";
import { attributeHead, attributeParameter } from "./heads.ts";
import {
  createMarkupParser,
  type CallHead,
  type MarkupGrammar,
  type ReadArguments,
} from "./markup-calls.ts";
import type { Trim } from "./raw-value.ts";
import { tagArguments } from "./tag-arguments.ts";

const readInvoke = attributeHead("name", [">", "/>"]);

/** Parameters as tags with a name; `prefix` is the tags' namespace. */
function invokeArguments(trim: Trim, prefix = ""): ReadArguments {
  return tagArguments({
    callEnd: `</${prefix}invoke>`,
    parameter: `<${prefix}parameter`,
    readParameter: attributeParameter("name", [">"]),
    parameterEnd: `</${prefix}parameter>`,
    trim,
  });
}

const MINIMAX_M2: MarkupGrammar = {
  section: { start: "<minimax:tool_call>", end: "</minimax:tool_call>" },
  looseCalls: "declared",
  call: "<invoke",
  readHead: readInvoke,
  readArguments: invokeArguments("wrapped"),
};

export const minimaxM2: ToolFormat = {
  name: "minimax-m2",
  markers: ["<minimax:tool_call>", "</minimax:tool_call>"],
  create: (options) => createMarkupParser([MINIMAX_M2], options),
};

/** A call is a tag within special tokens. */
const STEP3: MarkupGrammar = {
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
  create: (options) => createMarkupParser([STEP3], options),
};

const START = "<|start|>";
const MESSAGE = "<|message|>";

/** Calls in messages to tools, whose headers and ends are no content. */
const MUSE: MarkupGrammar = {
  section: { start: "<atem:function_calls>", end: "</atem:function_calls>" },
  looseCalls: "all",
  call: "<atem:invoke",
  readHead: readInvoke,
  readArguments: invokeArguments("keep", "atem:"),
  frames: [{ start: START, end: MESSAGE }, { start: "<|eom|>" }, { start: "<|eot|>" }],
  /** The prompt ends inside the first header. */
  *opening(cursor) {
    yield* cursor.skipSpace();
    const isTo = yield* cursor.literal("to=");
    const isHeader =
      (!isTo || ((yield* cursor.run(/[\w.-]*/y, 128)) ?? "") !== "") &&
      (yield* cursor.literal(MESSAGE));
    if (isHeader) cursor.forget();
    else cursor.giveBack();
  },
  resolveName: (name, tools) =>
    resolveNamespace(
      name,
      tools.map((tool) => tool.name),
    ),
};

/** The template writes a tool's name with its namespace, twice the same for a tool that has none. */
function resolveNamespace(name: string, declared: readonly string[]): string {
  if (declared.includes(name)) return name;
  const leaf = name.slice(name.lastIndexOf(".") + 1);
  if (name === `${leaf}.${leaf}` && declared.includes(leaf)) return leaf;
  const meant = declared.filter((other) => other.slice(other.lastIndexOf(".") + 1) === leaf);
  return leaf !== name && meant.length === 1 ? (meant[0] ?? name) : name;
}

export const muse: ToolFormat = {
  name: "muse",
  markers: [START, MESSAGE, "<|eom|>", "<|eot|>"],
  create: (options) => createMarkupParser([MUSE], options),
};
