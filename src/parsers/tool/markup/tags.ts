import type { OutputCursor, Reading } from "../output-cursor.ts";

/** Longest name of a tool or a parameter, and longest other attribute, in code units. */
const MAX_NAME_CHARS = 256;
const MAX_ATTRIBUTES = 8;

/** What a tool's name is made of: not of what ends tags, quotes, or begins another notation. */
const NAME = /[^\s<>"'`\\{}[\](),;=|]*/y;

/** Reads a tool's name; undefined when none is here, or when the end of the output may have cut it. */
export function* readName(cursor: OutputCursor): Reading<string | undefined> {
  const name = yield* cursor.run(NAME, MAX_NAME_CHARS);
  return name === undefined || name === "" || cursor.atEnd ? undefined : name;
}

export function isName(text: string): boolean {
  NAME.lastIndex = 0;
  return text !== "" && NAME.exec(text)?.[0] === text;
}

/** Reads a key, in one line, up to and with what ends it. White space around it is layout. */
export function* readKeyUpTo(cursor: OutputCursor, end: string): Reading<string | undefined> {
  const text = yield* readUpTo(cursor, [end, "\n"], MAX_NAME_CHARS);
  const key = text?.trim() ?? "";
  return key !== "" && (yield* cursor.literal(end)) ? key : undefined;
}

/**
 * Reads up to the first of some marks, which stays unread; undefined when none begins within `maxLength`. The
 * end of the output before it is read, too.
 */
export function* readUpTo(
  cursor: OutputCursor,
  marks: readonly string[],
  maxLength: number,
): Reading<string | undefined> {
  const text = yield* cursor.until(marks, maxLength);
  // Less than that was searched in vain only because nothing more comes.
  if (text === undefined && cursor.unread.length <= maxLength) cursor.take(cursor.unread.length);
  return text;
}

/** A tag's attributes, and which of its ends it had; none if the output ended first. */
export interface Attributes<End extends string> {
  readonly values: ReadonlyMap<string, string>;
  readonly end: End | undefined;
}

/** Reads `key="value"` pairs up to and with the end of the tag; undefined when there is something else. */
export function* readAttributes<End extends string>(
  cursor: OutputCursor,
  ends: readonly End[],
): Reading<Attributes<End> | undefined> {
  const values = new Map<string, string>();
  for (let count = 0; count <= MAX_ATTRIBUTES; count++) {
    const space = yield* cursor.run(/\s*/y, MAX_NAME_CHARS);
    const end = yield* cursor.oneOf(ends);
    if (end !== undefined || (cursor.atEnd && values.size > 0)) return { values, end };
    if (space === undefined || space === "") return undefined;
    const pair = yield* readAttribute(cursor);
    if (pair === undefined)
      return cursor.atEnd && values.size > 0 ? { values, end: undefined } : undefined;
    values.set(pair.key, pair.value);
  }
  return undefined;
}

function* readAttribute(
  cursor: OutputCursor,
): Reading<{ readonly key: string; readonly value: string } | undefined> {
  const key = yield* cursor.run(/[\w-]*/y, MAX_NAME_CHARS);
  if (key === undefined || key === "" || !(yield* cursor.literal("="))) return undefined;
  const quote = yield* cursor.oneOf(['"', "'"]);
  if (quote === undefined) return undefined;
  const value = yield* cursor.run(quote === '"' ? /[^"\n]*/y : /[^'\n]*/y, MAX_NAME_CHARS);
  return value !== undefined && (yield* cursor.literal(quote)) ? { key, value } : undefined;
}
