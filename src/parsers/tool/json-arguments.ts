import { createJsonScanner, type JsonScanner } from "../json-scanner.ts";
import type { CallDraft } from "./call-draft.ts";
import type { OutputCursor, Reading } from "./output-cursor.ts";

/**
 * Reads a call's arguments into the draft, as they arrive: an object, or a string that holds one (some models escape it
 * once more; clients get the object). `null` and an empty string are no arguments: nothing is written. False when this
 * is none of them, or not to its end.
 */
export function* readArguments(cursor: OutputCursor, draft: CallDraft): Reading<boolean> {
  switch (yield* cursor.peek()) {
    case "{":
      return yield* readObject(cursor, draft);
    case '"':
      return yield* readQuotedObject(cursor, draft);
    case "n":
      return yield* cursor.literal("null");
    default:
      return false;
  }
}

function* readObject(cursor: OutputCursor, draft: CallDraft): Reading<boolean> {
  const scanner = createJsonScanner();
  for (;;) {
    const { end, json } = scanner.scan(cursor.unread);
    cursor.take(end);
    if (!readScanned(scanner, draft, json)) return scanner.state === "complete";
    if (!(yield* cursor.more())) return false;
  }
}

function* readQuotedObject(cursor: OutputCursor, draft: CallDraft): Reading<boolean> {
  const scanner = createJsonScanner();
  let phase: "before" | "inside" | "behind" = "before";
  cursor.take(1);
  for (;;) {
    if (phase !== "inside") yield* cursor.skipSpace();
    const piece = yield* peekStringPiece(cursor);
    if (piece === undefined) return false;
    if (piece.raw === '"') {
      cursor.take(1);
      return phase !== "inside";
    }
    if (phase !== "inside" && piece.text.trim() === "") {
      cursor.take(piece.raw.length);
      continue;
    }
    if (phase === "behind" || (phase === "before" && !piece.text.startsWith("{"))) return false;
    phase = "inside";
    const { end, json } = scanner.scan(piece.text);
    cursor.take(end === piece.text.length ? piece.raw.length : end);
    const isOpen = readScanned(scanner, draft, json);
    if (!isOpen && scanner.state === "invalid") return false;
    if (!isOpen) phase = "behind";
  }
}

/** Passes on what a scanner has read of an object; false when the object goes no further. */
function readScanned(scanner: JsonScanner, draft: CallDraft, json: string): boolean {
  draft.write(json);
  // `{'a': …}` and `{a: …}` are still text, so the bracket alone decides nothing.
  if (scanner.hasContent) draft.commit();
  if (scanner.state === "complete") draft.complete();
  return scanner.state === "open";
}

/**
 * The next piece of a JSON string: a run of plain characters, an escape or the closing quote, unread, and the text that
 * it stands for. Undefined when the string is cut off or malformed.
 */
function* peekStringPiece(
  cursor: OutputCursor,
): Reading<{ readonly raw: string; readonly text: string } | undefined> {
  const first = yield* cursor.peek();
  if (first === "") return undefined;
  if (first === '"') return { raw: '"', text: "" };
  if (first !== "\\") {
    const raw = /^[^"\\]+/.exec(cursor.unread)?.[0] ?? "";
    return { raw, text: raw };
  }
  const isUnicode = (yield* cursor.ahead(2)).endsWith("u");
  const raw = yield* cursor.ahead(isUnicode ? 6 : 2);
  if (!/^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})$/.test(raw)) {
    if (raw.length < (isUnicode ? 6 : 2)) cursor.take(raw.length);
    return undefined;
  }
  return { raw, text: parseString(`"${raw}"`) ?? "" };
}

/** Reads one JSON value of any kind, and gives its text; undefined when it is malformed, cut off, or too long. */
export function* readValue(
  cursor: OutputCursor,
  maxLength = Infinity,
): Reading<string | undefined> {
  const scanner = createJsonScanner();
  let value = "";
  while (yield* cursor.more()) {
    const { end, json } = scanner.scan(cursor.unread);
    cursor.take(end);
    value += json;
    if (scanner.state === "invalid" || value.length > maxLength) return undefined;
    if (scanner.state === "complete") return value;
  }
  scanner.finish();
  return scanner.state === "complete" ? value : undefined;
}

/** Reads a JSON string; undefined when this is none. */
export function* readString(
  cursor: OutputCursor,
  maxLength = Infinity,
): Reading<string | undefined> {
  if ((yield* cursor.peek()) !== '"') return undefined;
  // A character takes at most six to write.
  const json = yield* readValue(cursor, 6 * maxLength + 2);
  const text = json === undefined ? undefined : parseString(json);
  return text === undefined || text.length > maxLength ? undefined : text;
}

function parseString(json: string): string | undefined {
  const value: unknown = JSON.parse(json);
  return typeof value === "string" ? value : undefined;
}
