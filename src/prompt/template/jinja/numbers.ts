import { strip } from "./string-methods.ts";
import { normalizeInt } from "./values.ts";
import type { Int } from "./values.ts";

const PREFIXES: Readonly<Record<number, string>> = { 2: "0b", 8: "0o", 16: "0x" };

/** Python's own limit to the digits of an int that it reads. */
const MAX_INT_DIGITS = 4300;

/** Python's `int(text, base)`; undefined where it raises. */
export function parseIntText(text: string, base: number): Int | undefined {
  const match = /^([-+]?)(\w+)$/.exec(strip(text, undefined, "both").toLowerCase());
  if (match === null) return undefined;
  const [, sign = "", written = ""] = match;
  const prefix = PREFIXES[base];
  const digits = prefix !== undefined && written.startsWith(prefix) ? written.slice(2) : written;
  if (digits.length > MAX_INT_DIGITS || !/^[\da-z]+(?:_[\da-z]+)*$/.test(digits)) return undefined;
  let value = 0n;
  for (const digit of digits.replaceAll("_", "")) {
    const weight = Number.parseInt(digit, 36);
    if (weight >= base) return undefined;
    value = value * BigInt(base) + BigInt(weight);
  }
  return normalizeInt(sign === "-" ? -value : value);
}

const FLOAT_TEXT = /^[-+]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:e[-+]?\d+)?$/i;

/** Python's `float(text)`; undefined where it raises. */
export function parseFloatText(text: string): number | undefined {
  const stripped = strip(text, undefined, "both");
  if (FLOAT_TEXT.test(stripped)) return Number(stripped.replaceAll("_", ""));
  const word = /^([-+]?)(inf|infinity|nan)$/i.exec(stripped);
  if (word === null) return undefined;
  if (word[2]?.toLowerCase() === "nan") return Number.NaN;
  return word[1] === "-" ? -Infinity : Infinity;
}

/** Rounds half to even, as Python's `round`, or towards one side. */
export function roundTo(
  value: number,
  precision: number,
  method: "common" | "ceil" | "floor",
): number {
  const factor = 10 ** precision;
  if (method !== "common") return Math[method](value * factor) / factor;
  if (!Number.isFinite(value)) return value;
  if (precision < 0) return roundHalfEven(value * factor) / factor;
  if (precision === 0) return roundHalfEven(value);
  // toFixed works on the exact value; only true ties differ, and those have few digits.
  const scaled = value * factor;
  const isTie =
    Math.abs(scaled) < 2 ** 50 &&
    Math.abs(scaled % 1) === 0.5 &&
    scaled / factor === value &&
    isShortBinary(value);
  if (isTie) return roundHalfEven(scaled) / factor;
  return Number(value.toFixed(Math.min(precision, 100)));
}

function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** Whether the number's decimal expansion ends within twenty places. */
function isShortBinary(value: number): boolean {
  return Number.isInteger(value * 2 ** 20);
}
