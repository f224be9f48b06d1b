import { createJsonScanner } from "../../json-scanner.ts";
import type { ToolFormat } from "../../output-parser.ts";
import type { OutputCursor, Reading } from "../output-cursor.ts";
import { namedHead } from "./heads.ts";
import { createMarkupParser, type MarkupGrammar } from "./markup-calls.ts";
import { passTo } from "./raw-value.ts";
import type { Schema } from "./schema.ts";
import { readUpTo } from "./tags.ts";
import { createValueWriter, writeValue } from "./typed-value.ts";

/** Stands around strings, one special token. */
const QUOTE = '<|"|>';

/** Deeper values are refused. */
const MAX_DEPTH = 64;
/** Longest key, and longest value without quotes, in code units. */
const MAX_KEY_CHARS = 256;
const MAX_BARE_CHARS = 4_096;

const STRING: ReadonlySet<"string"> = new Set(["string"]);

type WriteJson = (json: string) => void;

/**
 * An object without quotes around its keys, whose strings stand between special tokens. Its form is that of JSON, so
 * nested values are told as they arrive. What stands without quotes is read by the tool's schema.
 */
const GRAMMAR: MarkupGrammar = {
  section: { start: "<|tool_call>", end: "<tool_call|>" },
  looseCalls: "none",
  call: "call:",
  readHead: namedHead("{"),
  *readArguments({ cursor, call, schema }) {
    const write: WriteJson = (json) => {
      call.write(json);
    };
    const isRead = yield* readMembers(cursor, function* readMember(key) {
      call.writeKey(key);
      return yield* readValue(cursor, { write, schema: schema.property(key), depth: 1 });
    });
    if (isRead) call.end();
    return isRead;
  },
};

interface Place {
  readonly write: WriteJson;
  readonly schema: Schema;
  readonly depth: number;
}

/** Reads keys and values, from behind the opening bracket up to and with the closing one. */
function* readMembers(
  cursor: OutputCursor,
  readMember: (key: string) => Reading<boolean>,
): Reading<boolean> {
  for (;;) {
    yield* cursor.skipSpace();
    if (yield* cursor.literal("}")) return true;
    const key = yield* readKey(cursor);
    if (key === undefined) return false;
    yield* cursor.skipSpace();
    if (!(yield* readMember(key))) return false;
    yield* cursor.skipSpace();
    const next = yield* cursor.oneOf([",", "}"]);
    if (next !== ",") return next === "}";
  }
}

/** Reads a key, with or without quotes, and the colon behind it. */
function* readKey(cursor: OutputCursor): Reading<string | undefined> {
  const isQuoted = yield* cursor.literal(QUOTE);
  const text = yield* readUpTo(
    cursor,
    isQuoted ? [QUOTE] : [":", "\n", "{", "}", ","],
    MAX_KEY_CHARS,
  );
  if (text === undefined) return undefined;
  if (isQuoted) {
    if (!(yield* cursor.literal(QUOTE))) return undefined;
    yield* cursor.skipSpace();
  }
  const key = isQuoted ? text : text.trim().replace(/^"(.+)"$/, "$1");
  return key !== "" && (yield* cursor.literal(":")) ? key : undefined;
}

function* readValue(cursor: OutputCursor, place: Place): Reading<boolean> {
  if (yield* cursor.literal(QUOTE)) return yield* readString(cursor, place.write);
  switch (yield* cursor.peek()) {
    case "{":
      return yield* readObject(cursor, place);
    case "[":
      return yield* readList(cursor, place);
    case '"':
      return yield* readJsonString(cursor, place.write);
    default:
      return yield* readBare(cursor, place);
  }
}

function* readString(cursor: OutputCursor, write: WriteJson): Reading<boolean> {
  const writer = createValueWriter(STRING);
  const end = yield* passTo(cursor, [QUOTE], (raw) => {
    write(writer.write(raw));
  });
  if (end === undefined) return false;
  cursor.take(end.length);
  write(writer.end());
  return true;
}

function* readObject(cursor: OutputCursor, { write, schema, depth }: Place): Reading<boolean> {
  if (depth === MAX_DEPTH) return false;
  cursor.take(1);
  let separator = "{";
  const isRead = yield* readMembers(cursor, function* readMember(key) {
    write(`${separator}${JSON.stringify(key)}:`);
    separator = ",";
    return yield* readValue(cursor, { write, schema: schema.property(key), depth: depth + 1 });
  });
  if (isRead) write(separator === "{" ? "{}" : "}");
  return isRead;
}

function* readList(cursor: OutputCursor, { write, schema, depth }: Place): Reading<boolean> {
  if (depth === MAX_DEPTH) return false;
  cursor.take(1);
  const { items } = schema;
  for (let separator = "["; ; separator = ",") {
    yield* cursor.skipSpace();
    if (yield* cursor.literal("]")) {
      write(separator === "[" ? "[]" : "]");
      return true;
    }
    write(separator);
    if (!(yield* readValue(cursor, { write, schema: items, depth: depth + 1 }))) return false;
    yield* cursor.skipSpace();
    const next = yield* cursor.oneOf([",", "]"]);
    if (next !== ",") {
      if (next === "]") write("]");
      return next === "]";
    }
  }
}

/** A string in JSON's own quotes, which models write too. */
function* readJsonString(cursor: OutputCursor, write: WriteJson): Reading<boolean> {
  const scanner = createJsonScanner();
  while (scanner.state === "open" && (yield* cursor.more())) {
    const { end, json } = scanner.scan(cursor.unread);
    cursor.take(end);
    write(json);
  }
  return scanner.state === "complete";
}

function* readBare(cursor: OutputCursor, { write, schema }: Place): Reading<boolean> {
  const raw = yield* readUpTo(cursor, [",", "}", "]"], MAX_BARE_CHARS);
  if (raw === undefined) return false;
  write(writeValue(raw.trim(), schema.types));
  return true;
}

export const gemma4: ToolFormat = {
  name: "gemma4",
  markers: ["<|tool_call>", "<tool_call|>", QUOTE],
  create: (options) => createMarkupParser([GRAMMAR], options),
};
