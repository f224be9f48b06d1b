import type { ToolFormat } from "../../output-parser.ts";
import { invokeArguments, readInvoke } from "./invoke.ts";
import { createMarkupParser, type MarkupGrammar } from "./markup-calls.ts";

const START = "<|start|>";
const MESSAGE = "<|message|>";

/** Longest recipient of a message, in code units. */
const MAX_RECIPIENT_CHARS = 128;

/** Calls in messages to tools, whose headers and ends are no content. */
const GRAMMAR: MarkupGrammar = {
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
      (!isTo || ((yield* cursor.run(/[\w.-]*/y, MAX_RECIPIENT_CHARS)) ?? "") !== "") &&
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
  create: (options) => createMarkupParser([GRAMMAR], options),
};
