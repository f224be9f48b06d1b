import type { ToolFormat } from "../../output-parser.ts";
import { namedParameter } from "./heads.ts";
import { createMarkupParser, type MarkupGrammar, type ReadHead } from "./markup-calls.ts";
import type { Trim } from "./raw-value.ts";
import { tagArguments, type TagArguments } from "./tag-arguments.ts";
import { readName } from "./tags.ts";

/** Name, then keys and values in tags of their own. */
function argKeyGrammar(trim: Trim): MarkupGrammar {
  return {
    looseCalls: "all",
    call: "<tool_call>",
    readHead: separatedHead(undefined),
    readArguments: tagArguments(argKeyTags(trim)),
  };
}

/** A name, behind which a separator may stand. */
function separatedHead(separator: string | undefined): ReadHead {
  return function* readHead(cursor) {
    yield* cursor.skipSpace();
    const name = yield* readName(cursor);
    if (name === undefined) return undefined;
    yield* cursor.skipSpace();
    if (separator !== undefined) yield* cursor.literal(separator);
    return { name };
  };
}

function argKeyTags(trim: Trim, suffix = ""): TagArguments {
  return {
    callEnd: `</tool_call${suffix}>`,
    parameter: `<arg_key${suffix}>`,
    readParameter: namedParameter(`</arg_key${suffix}>`, `<arg_value${suffix}>`),
    parameterEnd: `</arg_value${suffix}>`,
    trim,
  };
}

/** The releases of Hunyuan's tokenizer: each has a suffix of its own on all of these tokens. */
const HUNYUAN_SUFFIXES = ["", ":opensource"];

function hunyuanGrammar(suffix: string): MarkupGrammar {
  return {
    section: { start: `<tool_calls${suffix}>`, end: `</tool_calls${suffix}>` },
    looseCalls: "all",
    call: `<tool_call${suffix}>`,
    readHead: separatedHead(`<tool_sep${suffix}>`),
    readArguments: tagArguments({ ...argKeyTags("keep", suffix), json: "bare" }),
  };
}

function tagMarkers(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => [`<${name}>`, `</${name}>`]);
}

const TAGS = ["tool_call", "arg_key", "arg_value"];

function hunyuanMarkers(suffix: string): readonly string[] {
  const names = ["tool_calls", ...TAGS].map((name) => name + suffix);
  return [`<tool_sep${suffix}>`, ...tagMarkers(names)];
}

function format(
  name: string,
  grammars: readonly MarkupGrammar[],
  markers: readonly string[],
): ToolFormat {
  return { name, markers, create: (options) => createMarkupParser(grammars, options) };
}

export const ARG_KEY_FORMATS: readonly ToolFormat[] = [
  format("glm45", [argKeyGrammar("keep")], tagMarkers(TAGS)),
  format("glm47", [argKeyGrammar("keep")], tagMarkers(TAGS)),
  format("poolside_v1", [argKeyGrammar("lines")], tagMarkers(TAGS)),
  format("hunyuan", HUNYUAN_SUFFIXES.map(hunyuanGrammar), HUNYUAN_SUFFIXES.flatMap(hunyuanMarkers)),
];
