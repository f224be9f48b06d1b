import { createJsonScanner } from "../../json-scanner.ts";
import { OutputCursor } from "../output-cursor.ts";
import { readPythonLiteral } from "../python-literal.ts";
import type { ValueType, ValueTypes } from "./schema.ts";

/** Longest text, but for lists and objects, that is read as something else than JSON; beyond it is a string. */
const MAX_LITERAL_CHARS = 64;

const KINDS: Readonly<Record<string, ValueType>> = {
  "{": "object",
  "[": "array",
  t: "boolean",
  f: "boolean",
  n: "null",
};

/** Turns the raw text of one value into JSON text, as far as each piece decides it. */
export interface ValueWriter {
  /** More of the raw text; gives the JSON text that is certain now. */
  write(raw: string): string;
  /** The value is over: the rest of its JSON text. */
  end(): string;
}

/**
 * Writes a value by the types that its schema allows.
 *
 * - A string is the raw text, and is written as it arrives.
 * - Of several types, the most special that the text reads as: `3` is a number for string or integer, `null` is null
 *   for string or null.
 * - Other types are held until they are complete. They are read as JSON, whose text is passed on unchanged (no digit of
 *   a long number is lost), else as a Python literal (`True`, `{'a': None}`), which models write too.
 * - What reads as none of its types is a string.
 * - Types unknown: JSON if it is JSON, else a string.
 */
export function createValueWriter(types: ValueTypes): ValueWriter {
  return types?.size === 1 && types.has("string") ? new StringWriter() : new TypedWriter(types);
}

/** The JSON text of a value that is there as a whole. */
export function writeValue(raw: string, types: ValueTypes): string {
  const writer = createValueWriter(types);
  return writer.write(raw) + writer.end();
}

/** A text as it stands within a JSON string; lone surrogates stay, so that halves of a pair may come apart. */
function escapeText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- JSON wants these escaped
  return text.replaceAll(/["\\\u0000-\u001f]/g, (char) => JSON.stringify(char).slice(1, -1));
}

class StringWriter implements ValueWriter {
  #isOpen = false;

  write(raw: string): string {
    if (raw === "") return "";
    const open = this.#isOpen ? "" : '"';
    this.#isOpen = true;
    return open + escapeText(raw);
  }

  end(): string {
    return this.#isOpen ? '"' : '""';
  }
}

/** Holds a value while its JSON, or what else it may be read as, is not complete. */
class TypedWriter implements ValueWriter {
  readonly #types: ValueTypes;
  readonly #scanner = createJsonScanner();
  #raw = "";
  #json = "";
  /** The first character that is no white space, and how many there are from there on. */
  #first = "";
  #length = 0;
  /** What followed the complete JSON value: may only be white space. */
  #hasTail = false;
  #string: StringWriter | undefined;

  constructor(types: ValueTypes) {
    this.#types = types;
  }

  write(raw: string): string {
    if (this.#string !== undefined) return this.#string.write(raw);
    this.#raw += raw;
    const text = this.#first === "" ? raw.trimStart() : raw;
    if (this.#first === "") this.#first = text.charAt(0);
    this.#length += text.length;
    const { end, json } = this.#scanner.scan(raw);
    this.#json += json;
    if (raw.slice(end).trim() !== "") this.#hasTail = true;
    return this.#isSurelyString() ? this.#startString() : "";
  }

  end(): string {
    if (this.#string === undefined) {
      const json = this.#read();
      if (json !== undefined) return json;
    }
    const text = this.#startString();
    return text + (this.#string?.end() ?? "");
  }

  /** Whatever still comes, the value is a string. */
  #isSurelyString(): boolean {
    const isBroken = this.#hasTail || this.#scanner.state === "invalid";
    if (this.#types === undefined) return isBroken;
    if (this.#types.has("string")) {
      return isBroken || (this.#first !== "" && !allowed(kindOf(this.#first), this.#types));
    }
    if (!isBroken || (/[[{]/.test(this.#first) && this.#types.has(kindOf(this.#first)))) {
      return false;
    }
    return this.#length > MAX_LITERAL_CHARS;
  }

  /** The value as JSON; undefined when it reads as none of its types. */
  #read(): string | undefined {
    const types = this.#types;
    if (this.#first === "") {
      return types?.has("null") === true && !types.has("string") ? "null" : undefined;
    }
    this.#scanner.finish();
    if (this.#scanner.state === "complete" && !this.#hasTail) {
      return typedJson(this.#json.trim(), types);
    }
    if (types === undefined || types.has("string")) return undefined;
    const json = readLiteral(this.#raw);
    return json === undefined ? undefined : typedJson(json, types);
  }

  /** Writes what was held as the beginning of a string. */
  #startString(): string {
    if (this.#string !== undefined) return "";
    this.#string = new StringWriter();
    const text = this.#raw;
    this.#raw = "";
    this.#json = "";
    return this.#string.write(text);
  }
}

/** JSON text as one of the types; undefined when it is none of them. */
function typedJson(json: string, types: ValueTypes): string | undefined {
  if (types === undefined) return json;
  const kind = kindOf(json);
  if (kind === "string") {
    const text: unknown = JSON.parse(json);
    return types.has("string") || typeof text !== "string" ? undefined : writeValue(text, types);
  }
  if (kind === "number" && !types.has("number")) {
    return types.has("integer") ? toInteger(json) : undefined;
  }
  return types.has(kind) ? json : undefined;
}

/** The kind of JSON value that starts like this; a string when none does. */
function kindOf(text: string): ValueType {
  const first = text.charAt(0);
  return KINDS[first] ?? (/[-\d]/.test(first) ? "number" : "string");
}

function allowed(kind: ValueType, types: ReadonlySet<ValueType>): boolean {
  return kind !== "string" && (types.has(kind) || (kind === "number" && types.has("integer")));
}

/** `3.0` and `3e2` are integers too; written without point and exponent, which readers of integers refuse. */
function toInteger(json: string): string | undefined {
  const whole = /^(?<digits>-?\d+)(?:\.0*)?$/.exec(json)?.groups?.["digits"];
  if (whole !== undefined) return whole;
  const value = Number(json);
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

/** A Python literal as JSON. */
function readLiteral(raw: string): string | undefined {
  const lowered = /^\s*(?:true|false|none|null)\s*$/i.test(raw) ? raw.trim().toLowerCase() : raw;
  if (lowered === "none") return "null";
  const cursor = new OutputCursor();
  // The space ends a number, which the end of the output would not.
  cursor.feed(`${lowered.trim()} `);
  cursor.finish();
  let json = "";
  const reading = readPythonLiteral(cursor, (piece) => {
    json += piece;
  });
  // Nothing more comes, so the reader never waits.
  const { value: isRead } = reading.next();
  return isRead === true && cursor.unread.trim() === "" ? json : undefined;
}
