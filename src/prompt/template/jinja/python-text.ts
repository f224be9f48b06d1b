import {
  PyDict,
  PyFloat,
  PyFunction,
  PyNamespace,
  PyRange,
  PyTuple,
  PyUndefined,
  PyView,
} from "./values.ts";
import { isList, typeNameOf } from "./values.ts";
import type { Value } from "./values.ts";

/** Python's `str(x)`. */
export function toText(value: Value): string {
  if (typeof value === "string") return value;
  return value instanceof PyUndefined ? "" : toRepr(value);
}

/** Python's `repr(x)`. */
export function toRepr(value: Value): string {
  if (value === null) return "None";
  if (typeof value === "string") return stringRepr(value);
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  return isList(value) ? `[${value.map(toRepr).join(", ")}]` : objectRepr(value);
}

function objectRepr(
  value: Exclude<Value, null | boolean | number | bigint | string | readonly Value[]>,
): string {
  if (value instanceof PyFloat) return floatRepr(value.value);
  if (value instanceof PyTuple) {
    const items = value.items.map(toRepr);
    return items.length === 1 ? `(${items.join("")},)` : `(${items.join(", ")})`;
  }
  if (value instanceof PyDict) return dictRepr(value.entries());
  if (value instanceof PyView)
    return `${value.typeName}([${value.items().map(toRepr).join(", ")}])`;
  if (value instanceof PyRange) {
    const step = value.step === 1 ? "" : `, ${String(value.step)}`;
    return `range(${String(value.start)}, ${String(value.stop)}${step})`;
  }
  if (value instanceof PyNamespace) return `<Namespace ${dictRepr(value.attributes)}>`;
  if (value instanceof PyUndefined) return "Undefined";
  if (value instanceof PyFunction) return `<${value.typeName} '${value.name}'>`;
  return `<${typeNameOf(value)} object>`;
}

function dictRepr(entries: Iterable<readonly [Value, Value]>): string {
  const parts = Array.from(entries, ([key, member]) => `${toRepr(key)}: ${toRepr(member)}`);
  return `{${parts.join(", ")}}`;
}

const REPR_ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};
/** What `str.isprintable` denies, the space excepted. */
const UNPRINTABLE = /[\\\p{C}\p{Z}]/gu;

function stringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll(UNPRINTABLE, (character) => {
    if (character === " ") return character;
    const known = REPR_ESCAPES[character];
    if (known !== undefined) return known;
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x100) return `\\x${hex(code, 2)}`;
    return code < 0x1_0000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
  });
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

export function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}

/** Python's `repr` of a float: the shortest digits, exponents from 1e16 on and below 1e-4. */
export function floatRepr(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const [mantissa = "", power = "0"] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const sign = exponent < 0 ? "-" : "+";
    return `${mantissa}e${sign}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  const text = value.toString();
  const plain = text.includes("e")
    ? value.toFixed(mantissa.replaceAll(/[-.]/g, "").length - 1 - exponent)
    : text;
  return plain.includes(".") ? plain : `${plain}.0`;
}
