import type { OutputCursor, Reading } from "./output-cursor.ts";

/** Takes JSON text as it is made. */
export type WriteJson = (json: string) => void;

/** Deeper literals are refused. */
const MAX_DEPTH = 64;
/** Longer numbers and words are refused. */
const MAX_TOKEN_CHARS = 1_000;

/** What a string may hold as it is in both languages: no quotes, no backslash, no control characters. */
const PLAIN = /[ !#-&(-[\]-\uffff]*/y;

const TOKEN = /[\w.+-]*/y;
const CONSTANTS: Readonly<Record<string, string>> = {
  True: "true",
  False: "false",
  None: "null",
  true: "true",
  false: "false",
  null: "null",
};

/**
 * Reads a Python literal (a string, a number, True, False, None, a list or a dict of them) and writes it as JSON while
 * it arrives. False when this is none, or not to its end. The JSON names of the constants are read, too, and raw line
 * breaks in strings and leading zeros of integers, which Python refuses and models write.
 */
export function* readPythonLiteral(
  cursor: OutputCursor,
  write: WriteJson,
  depth = 0,
): Reading<boolean> {
  const first = yield* cursor.peek();
  if (first === "'" || first === '"') return yield* readString(cursor, write);
  if (first === "[" || first === "{") {
    if (depth === MAX_DEPTH) return false;
    return first === "["
      ? yield* readList(cursor, write, depth)
      : yield* readDict(cursor, write, depth);
  }
  const json = yield* readToken(cursor);
  if (json === undefined) return false;
  write(json);
  return true;
}

function* readList(cursor: OutputCursor, write: WriteJson, depth: number): Reading<boolean> {
  cursor.take(1);
  write("[");
  const isRead = yield* readItems(cursor, "]", write, () =>
    readPythonLiteral(cursor, write, depth + 1),
  );
  if (isRead) write("]");
  return isRead;
}

function* readDict(cursor: OutputCursor, write: WriteJson, depth: number): Reading<boolean> {
  cursor.take(1);
  write("{");
  const isRead = yield* readItems(cursor, "}", write, function* readEntry() {
    if (!(yield* readKey(cursor, write))) return false;
    yield* cursor.skipSpace();
    if (!(yield* cursor.literal(":"))) return false;
    write(":");
    yield* cursor.skipSpace();
    return yield* readPythonLiteral(cursor, write, depth + 1);
  });
  if (isRead) write("}");
  return isRead;
}

/** A key that is no string becomes one, as Python's own JSON writer does it. */
function* readKey(cursor: OutputCursor, write: WriteJson): Reading<boolean> {
  const first = yield* cursor.peek();
  if (first === "'" || first === '"') return yield* readString(cursor, write);
  const json = yield* readToken(cursor);
  if (json === undefined) return false;
  write(`"${json}"`);
  return true;
}

/** Reads items with commas between, one may follow the last, up to and with the closing bracket. */
export function* readItems(
  cursor: OutputCursor,
  close: string,
  write: WriteJson,
  readItem: () => Reading<boolean>,
): Reading<boolean> {
  for (let count = 0; ; count++) {
    yield* cursor.skipSpace();
    if (yield* cursor.literal(close)) return true;
    if (count > 0) write(",");
    if (!(yield* readItem())) return false;
    yield* cursor.skipSpace();
    if (yield* cursor.literal(close)) return true;
    if (!(yield* cursor.literal(","))) return false;
  }
}

function* readToken(cursor: OutputCursor): Reading<string | undefined> {
  const token = yield* cursor.run(TOKEN, MAX_TOKEN_CHARS);
  // At the end of the output it may be the beginning of a longer one.
  if (token === undefined || token === "" || cursor.atEnd) return undefined;
  return Object.hasOwn(CONSTANTS, token) ? CONSTANTS[token] : toJsonNumber(token);
}

function toJsonNumber(token: string): string | undefined {
  const text = token.replaceAll(/(?<=[\da-f])_(?=[\da-f])/gi, "");
  const integer = /^(?<sign>[+-]?)(?<prefix>0x[\da-f]+|0o[0-7]+|0b[01]+)$/i.exec(text)?.groups;
  if (integer !== undefined) {
    const sign = integer["sign"] === "-" ? "-" : "";
    return `${sign}${BigInt(integer["prefix"] ?? "0")}`;
  }
  const decimal =
    /^(?<sign>[+-]?)0*(?<whole>\d*)(?:(?<dot>\.)(?<fraction>\d*))?(?<power>e[+-]?\d+)?$/i.exec(
      text,
    )?.groups;
  if (decimal === undefined || !/\d/.test(text.replace(/e.*/i, ""))) return undefined;
  const sign = decimal["sign"] === "-" ? "-" : "";
  const fraction = decimal["dot"] === undefined ? "" : `.${decimal["fraction"] || "0"}`;
  return `${sign}${decimal["whole"] || "0"}${fraction}${decimal["power"] ?? ""}`;
}

function* readString(cursor: OutputCursor, write: WriteJson): Reading<boolean> {
  const quote = cursor.take(1);
  const isTriple = yield* cursor.literal(quote + quote);
  const close = isTriple ? quote.repeat(3) : quote;
  write('"');
  for (;;) {
    const text = yield* cursor.some(PLAIN);
    if (text !== "") {
      write(text);
      continue;
    }
    const next = yield* cursor.peek();
    if (next === "") return false;
    if (next === quote && (yield* cursor.literal(close))) {
      write('"');
      return true;
    }
    if (cursor.atEnd) return false;
    if (next === "\\") {
      const char = yield* readEscape(cursor);
      if (char === undefined) return false;
      if (char !== "") write(quoteless(char));
    } else write(quoteless(cursor.take(1)));
  }
}

/** A text as it stands within a JSON string. */
function quoteless(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

/** How long an escape with a code is, backslash included. */
const CODE_LENGTHS: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

/** Reads an escape; what Python does not know as one stands for itself, backslash included. */
function* readEscape(cursor: OutputCursor): Reading<string | undefined> {
  const kind = (yield* cursor.ahead(2)).charAt(1);
  if (kind === "") {
    cursor.take(1);
    return undefined;
  }
  const short = SHORT_ESCAPES[kind];
  if (short !== undefined) {
    cursor.take(2);
    return short;
  }
  if (kind >= "0" && kind <= "7") {
    const octal = /^\\[0-7]+/.exec(yield* cursor.ahead(4))?.[0] ?? "";
    cursor.take(octal.length);
    return String.fromCodePoint(Number.parseInt(octal.slice(1), 8));
  }
  const length = CODE_LENGTHS[kind];
  const raw = yield* cursor.ahead(length ?? 2);
  if (length !== undefined && raw.length < length) {
    cursor.take(raw.length);
    return undefined;
  }
  const code = Number.parseInt(raw.slice(2), 16);
  if (length === undefined || !/^[\da-f]+$/i.test(raw.slice(2)) || code > 0x10ffff) {
    return cursor.take(1);
  }
  cursor.take(length);
  return String.fromCodePoint(code);
}
