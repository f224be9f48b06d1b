import { createJsonScanner } from "../../json-scanner.ts";
import type { OutputCursor, Reading } from "../output-cursor.ts";
import type { CallScope, ReadArguments } from "./markup-calls.ts";
import { isFollowed, readRawValue, type ReadValue, type Trim } from "./raw-value.ts";
import type { ValueTypes } from "./schema.ts";
import { createValueWriter } from "./typed-value.ts";

/** The opening of a parameter, read. */
export interface ParameterHead {
  readonly key: string;
  /** What the format itself says of the value's type; absent: the tool's schema decides. */
  readonly types?: { readonly is: ValueTypes };
}

export type ReadParameter = (cursor: OutputCursor) => Reading<ParameterHead | undefined>;

/** Arguments as one tag for each. */
export interface TagArguments {
  readonly callEnd: string;
  /** What a parameter begins with, and how the rest of its opening is read. */
  readonly parameter: string;
  readonly readParameter: ReadParameter;
  readonly parameterEnd: string;
  readonly trim: Trim;
  readonly readValue?: ReadValue;
  /** All arguments may be given as one JSON object instead: by itself, or within tags. */
  readonly json?: "bare" | { readonly start: string; readonly end: string };
}

/**
 * Reads arguments that are tags. Nothing is told before the first tag that belongs to a call. A call whose end is
 * missing before what encloses it ends is complete.
 */
export function tagArguments(tags: TagArguments): ReadArguments {
  const { callEnd, parameter, json } = tags;
  const jsonTags = json === undefined || json === "bare" ? undefined : json;
  const texts = [callEnd, parameter, ...(jsonTags === undefined ? [] : [jsonTags.start])];
  return function* readArguments(scope) {
    const { cursor, call, closers } = scope;
    for (;;) {
      yield* cursor.skipSpace();
      if (json === "bare" && (yield* cursor.peek()) === "{") {
        return yield* readJson(scope, [callEnd]);
      }
      const tag = yield* cursor.oneOf(texts);
      if (tag === parameter) {
        if (!(yield* readParameter(scope, tags))) return false;
      } else if (tag !== undefined && tag === jsonTags?.start) {
        return yield* readJson(scope, [jsonTags.end, callEnd]);
      } else {
        const isOver =
          tag !== undefined || (!cursor.atEnd && (yield* isFollowed(cursor, "", closers)));
        if (isOver) call.end();
        return isOver;
      }
    }
  };
}

function* readParameter(
  { cursor, call, schema, closers }: CallScope,
  tags: TagArguments,
): Reading<boolean> {
  const head = yield* tags.readParameter(cursor);
  if (head === undefined) return false;
  const { callEnd, parameter, parameterEnd: tag, trim, readValue = readRawValue } = tags;
  const followers = [parameter, callEnd, ...closers];
  const types = head.types === undefined ? schema.property(head.key).types : head.types.is;
  const writer = createValueWriter(types);
  call.writeKey(head.key);
  const isRead = yield* readValue(cursor, { tag, followers, trim }, (raw) => {
    call.write(writer.write(raw));
  });
  if (isRead) call.write(writer.end());
  return isRead;
}

/** Reads arguments that are one JSON object, and the tags behind, as far as they are there. */
function* readJson({ cursor, call }: CallScope, ends: readonly string[]): Reading<boolean> {
  yield* cursor.skipSpace();
  if ((yield* cursor.peek()) !== "{") return false;
  const scanner = createJsonScanner();
  let untold = "";
  while (scanner.state === "open") {
    if (!(yield* cursor.more())) return false;
    const { end, json } = scanner.scan(cursor.unread);
    cursor.take(end);
    untold += json;
    // A bracket alone may still begin something else, `{'a': 1}` say.
    if (!call.hasStarted && untold.trim().length <= 1) continue;
    call.start();
    call.write(untold);
    untold = "";
  }
  if (scanner.state === "invalid") return false;
  call.endWritten();
  for (const end of ends) {
    yield* cursor.skipSpace();
    if (yield* cursor.literal(end)) cursor.forget();
  }
  return true;
}
