import { failure } from "./failure.ts";
import { checkSize } from "./limits.ts";
import { hex, toRepr, toText } from "./python-text.ts";
import {
  PyDict,
  PyRange,
  isList,
  PyFloat,
  PyTuple,
  asNumber,
  codePointLength,
  isInt,
  toInt,
  typeNameOf,
} from "./values.ts";
import type { CallArguments, Int, Value } from "./values.ts";

/** How one value is laid out; both of Python's formatting languages come down to this. */
interface Layout {
  readonly fill: string;
  readonly align: "" | "<" | ">" | "^" | "=";
  readonly sign: "" | "+" | "-" | " ";
  readonly alternate: boolean;
  readonly width: number;
  readonly grouping: string;
  readonly precision: number | null;
  readonly type: string;
}

const PERCENT = /%(?:\(([^)]*)\))?([-+ #0]*)(\d*|\*)(?:\.(\d+|\*))?[hlL]?([^]|$)/g;

/** Python's `text % values`. */
export function formatPercent(text: string, values: Value): string {
  const queue = values instanceof PyTuple ? [...values.items] : [values];
  let byName = false;
  const take = (): Value => {
    const value = queue.shift();
    if (value === undefined) throw failure("not enough arguments for format string");
    return value;
  };
  const size = (written: string | undefined): number =>
    Number(written === "*" ? toText(take()) : (written ?? 0));
  const result = text.replaceAll(
    PERCENT,
    (...[, name, flags = "", width, precision, type = ""]: (string | undefined)[]) => {
      if (type === "%") return "%";
      const layout = {
        ...percentLayout(flags, type),
        width: size(width),
        precision: precision === undefined ? null : size(precision),
      };
      byName ||= name !== undefined;
      return percentField(name === undefined ? take() : namedValue(values, name), layout);
    },
  );
  if (!byName && queue.length > 0 && !isMapping(values)) {
    throw failure("not all arguments converted during string formatting");
  }
  checkSize(result.length);
  return result;
}

/** What C calls a mapping, whose leftovers nobody minds; a list is one. */
function isMapping(values: Value): boolean {
  return values instanceof PyDict || values instanceof PyRange || isList(values);
}

function percentLayout(flags: string, type: string): Layout {
  const numeric = !/[rsac]/.test(type);
  const zero = flags.includes("0") && !flags.includes("-") && numeric;
  return {
    fill: zero ? "0" : " ",
    align: flags.includes("-") ? "<" : zero ? "=" : ">",
    sign: flags.includes("+") ? "+" : flags.includes(" ") ? " " : "",
    alternate: flags.includes("#"),
    width: 0,
    grouping: "",
    precision: null,
    type: type === "i" || type === "u" ? "d" : type,
  };
}

function namedValue(values: Value, name: string): Value {
  if (!(values instanceof PyDict)) throw failure("format requires a mapping");
  const value = values.get(name);
  if (value === undefined) throw failure(`'${name}'`);
  return value;
}

function percentField(value: Value, layout: Layout): string {
  const { type } = layout;
  if (type === "s" || type === "r" || type === "a") {
    return layOutText(type === "s" ? toText(value) : toRepr(value), layout);
  }
  if (type === "c") {
    const code = isInt(value) ? Number(value) : undefined;
    return layOutText(code === undefined ? toText(value) : String.fromCodePoint(code), layout);
  }
  const number = asNumber(value);
  if (!/[dxXoeEfFgG]/.test(type)) throw failure(`unsupported format character '${type}'`);
  if (number === undefined) {
    const wanted = type === "d" || /[eEfFgG]/.test(type) ? "a real number" : "an integer";
    throw failure(`%${type} format: ${wanted} is required, not ${typeNameOf(value)}`);
  }
  if (/[dxXo]/.test(type)) {
    const int = isInt(value) ? toInt(value) : Math.trunc(number);
    return layOutNumber(intDigits(int, layout), Number(int) < 0, layout);
  }
  return layOutNumber(floatDigits(Math.abs(number), layout), number < 0, layout);
}

function intDigits(value: Int, layout: Layout): string {
  const magnitude = value < 0 ? -value : value;
  const radix = { x: 16, X: 16, o: 8, b: 2 }[layout.type] ?? 10;
  const digits = magnitude.toString(radix);
  const text = layout.type === "X" ? digits.toUpperCase() : digits;
  const prefix = layout.alternate && radix !== 10 ? `0${layout.type}` : "";
  return prefix + group(text, layout.grouping, radix === 10 ? 3 : 4);
}

function group(digits: string, separator: string, every: number): string {
  if (separator === "") return digits;
  return digits.replaceAll(new RegExp(`\\B(?=(?:.{${String(every)}})+$)`, "g"), separator);
}

function floatDigits(magnitude: number, layout: Layout): string {
  if (!Number.isFinite(magnitude)) return Number.isNaN(magnitude) ? "nan" : "inf";
  const precision = Math.min(layout.precision ?? 6, 100);
  const type = layout.type.toLowerCase();
  let text: string;
  if (type === "e") text = pythonExponent(magnitude.toExponential(precision));
  else if (type === "g") text = generalDigits(magnitude, precision === 0 ? 1 : precision);
  else if (type === "%") text = `${fixed(magnitude * 100, precision)}%`;
  else text = fixed(magnitude, precision);
  const [whole = "", ...rest] = text.split(".");
  const grouped = [group(whole, layout.grouping, 3), ...rest].join(".");
  return layout.type === layout.type.toUpperCase() ? grouped.toUpperCase() : grouped;
}

/** toFixed gives an exponent from 1e21 on; Python never does. */
function fixed(value: number, precision: number): string {
  if (value < 1e21) return exactFixed(value, precision);
  const digits = BigInt(value).toString();
  return precision === 0 ? digits : `${digits}.${"0".repeat(precision)}`;
}

/** Half to even on exact ties, as Python rounds; toFixed rounds those up. */
function exactFixed(value: number, precision: number): string {
  const text = value.toFixed(precision);
  if (precision > 60) return text;
  const exact = value.toFixed(precision + 40);
  const point = exact.indexOf(".");
  if (!/^50*$/.test(exact.slice(point + 1 + precision))) return text;
  const truncated = exact.slice(0, precision === 0 ? point : point + 1 + precision);
  return /[02468]$/.test(truncated) ? truncated : text;
}

function pythonExponent(text: string): string {
  return text.replace(/e([-+])(\d)$/, "e$10$2");
}

function generalDigits(magnitude: number, precision: number): string {
  if (magnitude === 0) return "0";
  const exponential = magnitude.toExponential(precision - 1);
  const exponent = Number(exponential.slice(exponential.indexOf("e") + 1));
  if (exponent < -4 || exponent >= precision) {
    const [mantissa = "", power = ""] = exponential.split("e");
    return pythonExponent(`${trimZeros(mantissa)}e${power}`);
  }
  return trimZeros(magnitude.toFixed(Math.min(100, Math.max(0, precision - 1 - exponent))));
}

function trimZeros(digits: string): string {
  return digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
}

function layOutText(text: string, layout: Layout): string {
  const cut =
    layout.precision === null ? text : Array.from(text).slice(0, layout.precision).join("");
  return pad(cut, layout, layout.align === "" ? "<" : layout.align);
}

function layOutNumber(digits: string, negative: boolean, layout: Layout): string {
  const sign = negative ? "-" : layout.sign === "-" ? "" : layout.sign;
  if (layout.align !== "=")
    return pad(sign + digits, layout, layout.align === "" ? ">" : layout.align);
  return sign + pad(digits, { ...layout, width: layout.width - sign.length }, ">");
}

function pad(text: string, layout: Pick<Layout, "fill" | "width">, align: string): string {
  checkSize(layout.width);
  const missing = layout.width - codePointLength(text);
  if (missing <= 0) return text;
  const before = align === ">" ? missing : align === "^" ? Math.floor(missing / 2) : 0;
  return layout.fill.repeat(before) + text + layout.fill.repeat(missing - before);
}

const FIELD = /\{\{|\}\}|\{([^{}!:]*)(?:!([rsa]))?(?::((?:[^{}]|\{[^{}]*\})*))?\}|[{}]/g;
const SPEC = /^(?:(.)?([<>=^]))?([-+ ])?z?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/u;

/** How a replacement field's `a.b[c]` is looked up. */
export type FieldLookup = (object: Value, key: Value, isItem: boolean) => Value;

/** Python's `text.format(*args, **kwargs)`. */
export function formatBraces(text: string, args: CallArguments, lookup: FieldLookup): string {
  let automatic = 0;
  let manual = false;
  const find = (path: string): Value => {
    const [, first = "", rest = ""] = /^([^.[]*)([^]*)$/.exec(path) ?? [];
    if (first === "" && manual) throw failure(numberingError("manual", "automatic"));
    if (/^\d+$/.test(first)) {
      if (automatic > 0) throw failure(numberingError("automatic", "manual"));
      manual = true;
    }
    let value = rootValue(first === "" ? String(automatic++) : first, args);
    for (const [, attribute, item] of rest.matchAll(/\.([^.[]*)|\[([^\]]*)\]/g)) {
      const key =
        item !== undefined && /^\d+$/.test(item) ? Number(item) : (item ?? attribute ?? "");
      value = lookup(value, key, item !== undefined);
    }
    return value;
  };
  const result = text.replaceAll(
    FIELD,
    (...[whole = "", path = "", conversion, spec = ""]: (string | undefined)[]) => {
      if (whole === "{{" || whole === "}}") return whole.charAt(0);
      if (whole === "{") throw failure("Single '{' encountered in format string");
      if (whole === "}") throw failure("Single '}' encountered in format string");
      const value = find(path);
      const inner = spec.replaceAll(/\{([^{}]*)\}/g, (_, nested: string) => toText(find(nested)));
      if (conversion === undefined) return formatValue(value, inner);
      return formatValue(conversion === "s" ? toText(value) : toRepr(value), inner);
    },
  );
  checkSize(result.length);
  return result;
}

function numberingError(from: "manual" | "automatic", to: "manual" | "automatic"): string {
  const name = { manual: "manual field specification", automatic: "automatic field numbering" };
  return `cannot switch from ${name[from]} to ${name[to]}`;
}

function rootValue(name: string, args: CallArguments): Value {
  const value = /^\d+$/.test(name) ? args.positional[Number(name)] : args.named.get(name);
  if (value !== undefined) return value;
  throw failure(/^\d+$/.test(name) ? "tuple index out of range" : `'${name}'`);
}

/** Python's `format(value, spec)`. */
function formatValue(value: Value, spec: string): string {
  if (spec === "") return toText(value);
  const match = SPEC.exec(spec);
  if (match === null) throw failure("Invalid format specifier");
  const [, fill, align, sign, alternate, zero, width, grouping, precision, type] = match;
  const layout: Layout = {
    fill: fill ?? (zero === undefined ? " " : "0"),
    align: alignment(align ?? (zero === undefined ? "" : "=")),
    sign: sign === "+" || sign === " " ? sign : "",
    alternate: alternate !== undefined,
    width: Number(width ?? 0),
    grouping: grouping ?? "",
    precision: precision === undefined ? null : Number(precision),
    type: type ?? "",
  };
  return formatWith(value, layout);
}

function alignment(text: string): Layout["align"] {
  return text === "<" || text === ">" || text === "^" || text === "=" ? text : "";
}

function formatWith(value: Value, layout: Layout): string {
  const number = typeof value === "boolean" && layout.type === "" ? undefined : asNumber(value);
  if (number === undefined) {
    if (layout.type !== "" && layout.type !== "s") {
      throw failure(
        `Unknown format code '${layout.type}' for object of type '${typeNameOf(value)}'`,
      );
    }
    return layOutText(toText(value), {
      ...layout,
      align: layout.align === "=" ? "<" : layout.align,
    });
  }
  const negative = number < 0 || Object.is(number, -0);
  if (isInt(value) && /^[dxXobn]?$/.test(layout.type)) {
    return layOutNumber(intDigits(toInt(value), layout), Number(value) < 0, layout);
  }
  if (isInt(value) && layout.type === "c") return layOutText(String.fromCodePoint(number), layout);
  if (!/^[eEfFgGn%]?$/.test(layout.type)) {
    throw failure(`Unknown format code '${layout.type}' for object of type '${typeNameOf(value)}'`);
  }
  if (layout.type !== "")
    return layOutNumber(floatDigits(Math.abs(number), layout), negative, layout);
  const digits =
    layout.precision === null
      ? toText(new PyFloat(Math.abs(number)))
      : generalDigits(Math.abs(number), Math.max(1, layout.precision));
  return layOutNumber(digits, negative, layout);
}

/** `%XX` of each byte that `urllib.parse.quote` does not leave as it is. */
export function percentEncode(text: string, safe: RegExp): string {
  const bytes = new TextEncoder().encode(text);
  return Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    return byte < 0x80 && safe.test(character) ? character : `%${hex(byte, 2).toUpperCase()}`;
  }).join("");
}
