import { BoundArguments, expectNoArguments } from "./arguments.ts";
import { failure } from "./failure.ts";
import { PYTHON_SPACE } from "./lexer.ts";
import { checkSize } from "./limits.ts";
import { stringPredicates } from "./string-predicates.ts";
import { PyTuple, codePointLength, hasSurrogates, iterate, typeNameOf } from "./values.ts";
import type { CallArguments, Value } from "./values.ts";

export type StringMethod = (text: string, args: CallArguments) => Value;

/** Whether a character is white to Python's `str.strip`. */
const IS_SPACE = new RegExp(`^[${PYTHON_SPACE}]$`);
const SPACES = new RegExp(`[${PYTHON_SPACE}]+`, "g");
// oxlint-disable-next-line no-control-regex -- the file separators end lines in Python
const LINE_END = /\r\n|[\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]/g;

/** `text.strip(chars)` at the chosen ends; `chars` undefined strips white space. */
export function strip(
  text: string,
  chars: string | undefined,
  ends: "both" | "left" | "right",
): string {
  const set = chars === undefined ? undefined : new Set(chars);
  const isStripped = (character: string): boolean =>
    set === undefined ? IS_SPACE.test(character) : set.has(character);
  let start = 0;
  let end = text.length;
  if (ends !== "right") {
    while (start < end) {
      const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
      if (!isStripped(character)) break;
      start += character.length;
    }
  }
  if (ends !== "left") {
    while (end > start) {
      const isPair = end - 2 >= start && (text.codePointAt(end - 2) ?? 0) > 0xffff;
      if (!isStripped(text.slice(isPair ? end - 2 : end - 1, end))) break;
      end -= isPair ? 2 : 1;
    }
  }
  return text.slice(start, end);
}

/** `text.split(separator, limit)`; undefined splits at runs of white space. A negative limit is none. */
function split(text: string, separator: string | undefined, limit: number): string[] {
  if (separator === undefined) return splitAtSpaces(text, limit);
  if (separator === "") throw failure("empty separator");
  const parts = text.split(separator);
  if (limit < 0 || parts.length <= limit + 1) return parts;
  return [...parts.slice(0, limit), parts.slice(limit).join(separator)];
}

function splitAtSpaces(text: string, limit: number): string[] {
  const parts: string[] = [];
  let start = text.length - strip(text, undefined, "left").length;
  for (const match of text.matchAll(SPACES)) {
    if (match.index < start) continue;
    if (limit >= 0 && parts.length >= limit) break;
    parts.push(text.slice(start, match.index));
    start = match.index + match[0].length;
  }
  if (start < text.length) parts.push(text.slice(start));
  return parts;
}

/** `text.rsplit(separator, limit)`. */
function splitFromRight(text: string, separator: string | undefined, limit: number): string[] {
  if (limit < 0) return split(text, separator, -1);
  if (separator === "") throw failure("empty separator");
  const parts: string[] = [];
  let rest = separator === undefined ? strip(text, undefined, "right") : text;
  while (parts.length < limit) {
    const cut = lastSeparator(rest, separator);
    if (cut === null) break;
    parts.push(rest.slice(cut.end));
    rest = rest.slice(0, cut.start);
  }
  const isLeft = separator !== undefined || strip(rest, undefined, "left") !== "";
  if (isLeft) parts.push(rest);
  return parts.toReversed();
}

function lastSeparator(
  text: string,
  separator: string | undefined,
): { readonly start: number; readonly end: number } | null {
  if (separator !== undefined) {
    const start = text.lastIndexOf(separator);
    return start === -1 ? null : { start, end: start + separator.length };
  }
  let end = text.length;
  while (end > 0 && !IS_SPACE.test(text.charAt(end - 1))) end -= 1;
  if (end === 0) return null;
  return { start: strip(text.slice(0, end), undefined, "right").length, end };
}

export function splitLines(text: string, keepEnds = false): string[] {
  const lines: string[] = [];
  let start = 0;
  for (const match of text.matchAll(LINE_END)) {
    const end = match.index + match[0].length;
    lines.push(text.slice(start, keepEnds ? end : match.index));
    start = end;
  }
  if (start < text.length) lines.push(text.slice(start));
  return lines;
}

/** `text.replace(old, replacement, limit)`; a negative limit replaces all. */
export function replaceText(text: string, old: string, replacement: string, limit: number): string {
  const pieces = old === "" ? ["", ...Array.from(text), ""] : text.split(old);
  const found = pieces.length - 1;
  checkSize(text.length + found * replacement.length);
  if (limit < 0 || limit >= found) return pieces.join(replacement);
  return pieces.slice(0, limit + 1).join(replacement) + old + pieces.slice(limit + 1).join(old);
}

export function capitalize(text: string): string {
  const first = Array.from(text.slice(0, 2))[0] ?? "";
  return first.toUpperCase() + text.slice(first.length).toLowerCase();
}

/** `str.title`: each run of letters on its own. */
function title(text: string): string {
  return text.replaceAll(/[\p{Lu}\p{Ll}\p{Lt}]+/gu, (word) => capitalize(word));
}

function swapCase(text: string): string {
  return text.replaceAll(/\p{L}/gu, (letter) =>
    letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase(),
  );
}

export function justify(
  text: string,
  width: number,
  fill: string,
  side: "left" | "right" | "center",
): string {
  checkSize(width);
  const missing = width - codePointLength(text);
  if (missing <= 0) return text;
  if (side !== "center") {
    return side === "left" ? text + fill.repeat(missing) : fill.repeat(missing) + text;
  }
  const before = Math.floor(missing / 2) + (missing % 2 === 1 && width % 2 === 1 ? 1 : 0);
  return fill.repeat(before) + text + fill.repeat(missing - before);
}

/** The part of a text between two positions that count code points, as Python's `text[start:end]`. */
function part(text: string, start: number, end: number): string {
  return hasSurrogates(text) ? Array.from(text).slice(start, end).join("") : text.slice(start, end);
}

function affix(method: "startsWith" | "endsWith"): StringMethod {
  const name = method.toLowerCase();
  return (text, args) => {
    const bound = new BoundArguments(name, ["prefix", "start?", "end?"], args);
    const wanted = bound.value("prefix", "");
    const start = bound.int("start", 0);
    const range =
      args.positional.length > 1 ? part(text, start, bound.int("end", text.length)) : text;
    const candidates = wanted instanceof PyTuple ? wanted.items : [wanted];
    return candidates.some((candidate) => {
      if (typeof candidate === "string") return range[method](candidate);
      throw failure(`${name} first arg must be str or a tuple of str, not ${typeNameOf(wanted)}`);
    });
  };
}

function search(from: "first" | "last", whenMissing: "minus-one" | "fail"): StringMethod {
  return (text, args) => {
    const bound = new BoundArguments("find", ["sub", "start?", "end?"], args);
    const start = bound.int("start", 0);
    const offset = start < 0 ? Math.max(0, codePointLength(text) + start) : start;
    const range =
      args.positional.length > 1 ? part(text, start, bound.int("end", text.length)) : text;
    const index =
      from === "first" ? range.indexOf(bound.text("sub")) : range.lastIndexOf(bound.text("sub"));
    if (index === -1 && whenMissing === "fail") throw failure("substring not found");
    return index === -1 ? -1 : codePointLength(range.slice(0, index)) + offset;
  };
}

function stripMethod(ends: "both" | "left" | "right"): StringMethod {
  return (text, args) =>
    strip(text, new BoundArguments("strip", ["chars?"], args).optionalText("chars"), ends);
}

function splitMethod(splitter: typeof split): StringMethod {
  return (text, args) => {
    const bound = new BoundArguments("split", ["sep?", "maxsplit?"], args);
    return splitter(text, bound.optionalText("sep"), bound.int("maxsplit", -1));
  };
}

function partition(from: "first" | "last"): StringMethod {
  return (text, args) => {
    const separator = new BoundArguments("partition", ["sep"], args).text("sep");
    if (separator === "") throw failure("empty separator");
    const index = from === "first" ? text.indexOf(separator) : text.lastIndexOf(separator);
    if (index === -1) return new PyTuple(from === "first" ? [text, "", ""] : ["", "", text]);
    return new PyTuple([text.slice(0, index), separator, text.slice(index + separator.length)]);
  };
}

function justifyMethod(side: "left" | "right" | "center"): StringMethod {
  return (text, args) => {
    const bound = new BoundArguments("just", ["width", "fillchar?"], args);
    return justify(text, bound.int("width", 0), bound.text("fillchar", " "), side);
  };
}

function plain(convert: (text: string) => Value): StringMethod {
  return (text, args) => {
    expectNoArguments("method", args);
    return convert(text);
  };
}

function zeroFill(text: string, width: number): string {
  checkSize(width);
  const sign = /^[-+]/.exec(text)?.[0] ?? "";
  return sign + "0".repeat(Math.max(0, width - codePointLength(text))) + text.slice(sign.length);
}

function count(text: string, wanted: string): number {
  return wanted === "" ? codePointLength(text) + 1 : text.split(wanted).length - 1;
}

/** The methods of `str`; `format` is with the attribute lookup that it needs. */
export const STRING_METHODS: ReadonlyMap<string, StringMethod> = new Map<string, StringMethod>([
  ["strip", stripMethod("both")],
  ["lstrip", stripMethod("left")],
  ["rstrip", stripMethod("right")],
  ["split", splitMethod(split)],
  ["rsplit", splitMethod(splitFromRight)],
  [
    "splitlines",
    (text, args) =>
      splitLines(text, new BoundArguments("splitlines", ["keepends?"], args).flag("keepends")),
  ],
  ["startswith", affix("startsWith")],
  ["endswith", affix("endsWith")],
  [
    "replace",
    (text, args) => {
      const bound = new BoundArguments("replace", ["old", "new", "count?"], args);
      return replaceText(text, bound.text("old"), bound.text("new"), bound.int("count", -1));
    },
  ],
  ["upper", plain((text) => text.toUpperCase())],
  ["lower", plain((text) => text.toLowerCase())],
  ["casefold", plain((text) => text.toLowerCase().replaceAll("ß", "ss"))],
  ["title", plain(title)],
  ["capitalize", plain(capitalize)],
  ["swapcase", plain(swapCase)],
  ["find", search("first", "minus-one")],
  ["rfind", search("last", "minus-one")],
  ["index", search("first", "fail")],
  ["rindex", search("last", "fail")],
  ["count", (text, args) => count(text, new BoundArguments("count", ["sub"], args).text("sub"))],
  [
    "join",
    (text, args) => {
      const parts = Array.from(
        iterate(new BoundArguments("join", ["iterable"], args).value("iterable", "")),
      );
      const joined = parts.map((item, index) => {
        if (typeof item === "string") return item;
        throw failure(
          `sequence item ${String(index)}: expected str instance, ${typeNameOf(item)} found`,
        );
      });
      checkSize(joined.reduce((sum, item) => sum + item.length + text.length, 0));
      return joined.join(text);
    },
  ],
  ["partition", partition("first")],
  ["rpartition", partition("last")],
  [
    "removeprefix",
    (text, args) => {
      const prefix = new BoundArguments("removeprefix", ["prefix"], args).text("prefix");
      return text.startsWith(prefix) ? text.slice(prefix.length) : text;
    },
  ],
  [
    "removesuffix",
    (text, args) => {
      const suffix = new BoundArguments("removesuffix", ["suffix"], args).text("suffix");
      return suffix !== "" && text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
    },
  ],
  ["ljust", justifyMethod("left")],
  ["rjust", justifyMethod("right")],
  ["center", justifyMethod("center")],
  [
    "zfill",
    (text, args) => zeroFill(text, new BoundArguments("zfill", ["width"], args).int("width", 0)),
  ],
  ...Array.from(stringPredicates, ([name, holds]): [string, StringMethod] => [
    name,
    plain((text) => holds(text)),
  ]),
]);
