import { compareValues } from "./comparison.ts";
import { failure } from "./failure.ts";
import { checkSize } from "./limits.ts";
import { floatRepr, hex } from "./python-text.ts";
import { PyDict, PyFloat, PyTuple, isList, typeNameOf } from "./values.ts";
import type { Value } from "./values.ts";

export interface JsonOptions {
  readonly ensureAscii: boolean;
  /** One level of indentation; null: all on one line. */
  readonly indent: string | null;
  readonly itemSeparator: string;
  readonly keySeparator: string;
  readonly sortKeys: boolean;
}

/** Python's `json.dumps`: key order kept, no HTML escapes, floats as Python writes them. */
export function dumpJson(value: Value, options: JsonOptions): string {
  const text = dump(value, options, "\n");
  checkSize(text.length);
  return text;
}

function dump(value: Value, options: JsonOptions, newline: string): string {
  if (value === null) return "null";
  if (typeof value === "string") return quote(value, options.ensureAscii);
  if (typeof value !== "object") return String(value);
  if (isList(value)) return dumpItems(value, options, newline);
  if (value instanceof PyTuple) return dumpItems(value.items, options, newline);
  if (value instanceof PyDict) return dumpDict(value, options, newline);
  if (value instanceof PyFloat) return jsonFloat(value.value);
  throw failure(`Object of type ${typeNameOf(value)} is not JSON serializable`);
}

function dumpItems(items: readonly Value[], options: JsonOptions, newline: string): string {
  const inner = options.indent === null ? newline : newline + options.indent;
  return enclose(
    "[]",
    items.map((item) => dump(item, options, inner)),
    { options, newline, inner },
  );
}

function dumpDict(dict: PyDict, options: JsonOptions, newline: string): string {
  const inner = options.indent === null ? newline : newline + options.indent;
  const entries = Array.from(dict.entries());
  if (options.sortKeys) entries.sort(([left], [right]) => compareValues(left, right));
  const parts = entries.map(
    ([key, member]) =>
      quote(jsonKey(key), options.ensureAscii) +
      options.keySeparator +
      dump(member, options, inner),
  );
  return enclose("{}", parts, { options, newline, inner });
}

function enclose(
  brackets: string,
  parts: readonly string[],
  layout: { readonly options: JsonOptions; readonly newline: string; readonly inner: string },
): string {
  if (parts.length === 0) return brackets;
  const { options, newline, inner } = layout;
  const body = parts.join(
    options.indent === null ? options.itemSeparator : options.itemSeparator + inner,
  );
  return options.indent === null
    ? `${brackets.charAt(0)}${body}${brackets.charAt(1)}`
    : `${brackets.charAt(0)}${inner}${body}${newline}${brackets.charAt(1)}`;
}

function jsonKey(key: Value): string {
  if (typeof key === "string") return key;
  if (
    key === null ||
    typeof key === "boolean" ||
    typeof key === "number" ||
    typeof key === "bigint"
  ) {
    return String(key);
  }
  if (key instanceof PyFloat) return jsonFloat(key.value);
  throw failure(`keys must be str, int, float, bool or None, not ${typeNameOf(key)}`);
}

function jsonFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return floatRepr(value);
  return value > 0 ? "Infinity" : "-Infinity";
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

function quote(text: string, ensureAscii: boolean): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what JSON escapes
  const pattern = ensureAscii ? /["\\]|[^ -~]/g : /["\\\u0000-\u001f]/g;
  const escaped = text.replaceAll(
    pattern,
    (character) => ESCAPES[character] ?? `\\u${hex(character.charCodeAt(0), 4)}`,
  );
  return `"${escaped}"`;
}
