import { BoundArguments, expectNoArguments } from "./arguments.ts";
import { applyBinary, applySign } from "./arithmetic.ts";
import { getAttribute } from "./attributes.ts";
import { compareValues, failIfUndefined } from "./comparison.ts";
import { failure } from "./failure.ts";
import type { Filter } from "./filter.ts";
import { iterationFilters } from "./iteration-filters.ts";
import { checkSize } from "./limits.ts";
import { parseFloatText, parseIntText, roundTo } from "./numbers.ts";
import { dumpJson } from "./python-json.ts";
import { toText } from "./python-text.ts";
import { formatPercent, percentEncode } from "./string-format.ts";
import { capitalize, justify, replaceText, splitLines, strip } from "./string-methods.ts";
import {
  PyDict,
  PyFloat,
  PyIterator,
  PyTuple,
  PyUndefined,
  PyView,
  asNumber,
  codePointLength,
  isInt,
  isIterable,
  isTruthy,
  iterate,
  lengthOf,
  toInt,
  typeNameOf,
} from "./values.ts";
import type { CallArguments, Value } from "./values.ts";

/** A filter without parameters that works on `str(value)`. */
function onText(convert: (text: string) => Value): Filter {
  return (value, args) => {
    expectNoArguments("filter", args);
    return convert(toText(value));
  };
}

function toJson(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments(
    "tojson",
    ["ensure_ascii?", "indent?", "separators?", "sort_keys?"],
    args,
  );
  const indent = indentation(bound.value("indent", null));
  const separators = bound.value("separators", null);
  const [item, key] =
    separators === null ? [indent === null ? ", " : ",", ": "] : Array.from(iterate(separators));
  if (typeof item !== "string" || typeof key !== "string") {
    throw failure("separators must be two strings");
  }
  return dumpJson(value, {
    ensureAscii: bound.flag("ensure_ascii"),
    indent,
    itemSeparator: item,
    keySeparator: key,
    sortKeys: bound.flag("sort_keys"),
  });
}

function indentation(width: Value): string | null {
  if (width === null || typeof width === "string") return width;
  if (!isInt(width))
    throw failure(`can't multiply sequence by non-int of type '${typeNameOf(width)}'`);
  checkSize(Number(width));
  return " ".repeat(Math.max(0, Number(width)));
}

function length(value: Value): Value {
  const size = lengthOf(value);
  if (size === undefined) throw failure(`object of type '${typeNameOf(value)}' has no len()`);
  return size;
}

function fallback(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments("default", ["default_value?", "boolean?"], args);
  const replaces = value instanceof PyUndefined;
  return replaces || (bound.flag("boolean") && !isTruthy(value))
    ? bound.value("default_value", "")
    : value;
}

function items(value: Value): Value {
  if (value instanceof PyUndefined) return new PyIterator([].values());
  if (!(value instanceof PyDict)) throw failure("Can only get item pairs from a mapping.");
  return new PyIterator(new PyView("dict_items", value).items().values());
}

function toIntFilter(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments("int", ["default?", "base?"], args);
  const otherwise = bound.value("default", 0);
  if (typeof value === "string") {
    return (
      parseIntText(value, bound.int("base", 10)) ?? truncated(parseFloatText(value)) ?? otherwise
    );
  }
  if (value instanceof PyUndefined) throw failure(value.message);
  if (isInt(value)) return toInt(value);
  return value instanceof PyFloat ? (truncated(value.value) ?? otherwise) : otherwise;
}

function truncated(value: number | undefined): Value | undefined {
  if (value === undefined || !Number.isFinite(value)) return undefined;
  const whole = Math.trunc(value);
  return Number.isSafeInteger(whole) ? whole + 0 : BigInt(whole);
}

function toFloatFilter(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments("float", ["default?"], args);
  if (value instanceof PyFloat) return value;
  if (value instanceof PyUndefined) throw failure(value.message);
  const number =
    typeof value === "string" ? parseFloatText(value) : isInt(value) ? Number(value) : undefined;
  return number === undefined ? bound.value("default", new PyFloat(0)) : new PyFloat(number);
}

function round(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments("round", ["precision?", "method?"], args);
  const method = bound.text("method", "common");
  const precision = bound.int("precision", 0);
  if (method !== "common" && method !== "ceil" && method !== "floor") {
    throw failure("method must be common, ceil or floor");
  }
  if (isInt(value)) {
    return method === "common" && precision >= 0
      ? toInt(value)
      : new PyFloat(roundTo(Number(value), precision, method));
  }
  if (!(value instanceof PyFloat)) {
    throw failure(`type ${typeNameOf(value)} doesn't define __round__ method`);
  }
  return new PyFloat(roundTo(value.value, precision, method));
}

function indentFilter(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments("indent", ["width?", "first?", "blank?"], args);
  const width = bound.value("width", 4);
  const indention = typeof width === "string" ? width : indentation(width);
  const text = applyBinary("+", value, "\n");
  if (typeof text !== "string" || indention === null) throw failure("indent works on strings");
  const lines = splitLines(text);
  checkSize(text.length + lines.length * indention.length);
  const indented = lines.map((line, index) =>
    index === 0 || (line === "" && !bound.flag("blank")) ? line : indention + line,
  );
  return (bound.flag("first") ? indention : "") + indented.join("\n");
}

function title(text: string): string {
  return text
    .split(/([-\s({[<]+)/)
    .map((word) => capitalize(word))
    .join("");
}

function truncate(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments("truncate", ["length?", "killwords?", "end?", "leeway?"], args);
  const limit = bound.int("length", 255);
  const end = bound.text("end", "...");
  if (Number(length(value)) <= limit + bound.int("leeway", 5)) return value;
  if (typeof value !== "string") throw failure("truncate works on strings");
  if (limit < end.length)
    throw failure(`expected length >= ${String(end.length)}, got ${String(limit)}`);
  const cut = Array.from(value)
    .slice(0, limit - codePointLength(end))
    .join("");
  if (bound.flag("killwords")) return cut + end;
  const space = cut.lastIndexOf(" ");
  return (space === -1 ? cut : cut.slice(0, space)) + end;
}

const HTML: Readonly<Record<string, string>> = {
  "&": "&amp;",
  ">": "&gt;",
  "<": "&lt;",
  "'": "&#39;",
  '"': "&#34;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&><'"]/g, (character) => HTML[character] ?? character);
}

function format(value: Value, args: CallArguments): Value {
  const text = toText(value);
  if (args.named.size === 0) return formatPercent(text, new PyTuple(args.positional));
  if (args.positional.length > 0) {
    throw failure("can't handle positional and keyword arguments at the same time");
  }
  const named = new PyDict();
  for (const [name, member] of args.named) named.set(name, member);
  return formatPercent(text, named);
}

function replace(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments("replace", ["old", "new", "count?"], args);
  const count = bound.value("count", null) === null ? -1 : bound.int("count", -1);
  const [old, replacement] = [toText(bound.value("old", "")), toText(bound.value("new", ""))];
  return replaceText(toText(value), old, replacement, count);
}

function urlEncode(value: Value): Value {
  if (typeof value === "string" || !isIterable(value)) {
    return percentEncode(toText(value), /[\w.~/-]/);
  }
  const pairs = value instanceof PyDict ? new PyView("dict_items", value).items() : iterate(value);
  return Array.from(pairs, (pair) => {
    const parts = Array.from(iterate(pair), (part) =>
      percentEncode(toText(part), /[\w.~ -]/).replaceAll(" ", "+"),
    );
    if (parts.length !== 2) throw failure("a query needs pairs of a name and a value");
    return parts.join("=");
  }).join("&");
}

function absolute(value: Value): Value {
  failIfUndefined(value);
  if (asNumber(value) === undefined) {
    throw failure(`bad operand type for abs(): '${typeNameOf(value)}'`);
  }
  return compareValues(value, 0) < 0 ? applySign("-", value) : applySign("+", value);
}

/** Filters of Jinja's that no chat template has a use for. */
const UNSUPPORTED = [
  "pprint",
  "random",
  "urlize",
  "wordwrap",
  "xmlattr",
  "filesizeformat",
  "striptags",
];

function createFilters(): ReadonlyMap<string, Filter> {
  const filters = new Map<string, Filter>();
  const named: [string, Filter][] = [
    ["abs", absolute],
    [
      "attr",
      (value, args) => getAttribute(value, new BoundArguments("attr", ["name"], args).text("name")),
    ],
    ["capitalize", onText(capitalize)],
    [
      "center",
      (value, args) =>
        justify(
          toText(value),
          new BoundArguments("center", ["width?"], args).int("width", 80),
          " ",
          "center",
        ),
    ],
    ["count", length],
    ["d", fallback],
    ["default", fallback],
    ["e", onText(escapeHtml)],
    ["escape", onText(escapeHtml)],
    ["float", toFloatFilter],
    ["forceescape", onText(escapeHtml)],
    ["format", format],
    ["indent", indentFilter],
    ["int", toIntFilter],
    ["items", items],
    ["length", length],
    ["lower", onText((text) => text.toLowerCase())],
    ["replace", replace],
    ["round", round],
    ["safe", onText((text) => text)],
    ["string", onText((text) => text)],
    ["title", onText(title)],
    ["tojson", toJson],
    [
      "trim",
      (value, args) =>
        strip(
          toText(value),
          new BoundArguments("trim", ["chars?"], args).optionalText("chars"),
          "both",
        ),
    ],
    ["truncate", truncate],
    ["upper", onText((text) => text.toUpperCase())],
    ["urlencode", urlEncode],
    ["wordcount", onText((text) => text.match(/[\p{L}\p{N}_]+/gu)?.length ?? 0)],
    ...iterationFilters(filters),
    ...UNSUPPORTED.map((name): [string, Filter] => [
      name,
      () => {
        throw failure(`the filter '${name}' is not supported`);
      },
    ]),
  ];
  for (const [name, filter] of named) filters.set(name, filter);
  return filters;
}

/** Jinja's filters by name, `tojson` as Hugging Face defines it. */
export const FILTERS: ReadonlyMap<string, Filter> = createFilters();
