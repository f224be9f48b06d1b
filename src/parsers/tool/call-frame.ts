import type { OutputCursor, Reading } from "./output-cursor.ts";

/** Where in a text calls are. */
export interface CallFrame {
  /** What announces calls. No marker of a frame may be part of another one, except as its end. */
  readonly starts: readonly string[];
  /** What ends the calls that a start announced. */
  readonly ends: readonly string[];
  /** What ends a single one of several calls. */
  readonly innerEnds?: readonly string[];
  /** What is no content anywhere in the text. */
  readonly ignored?: readonly string[];
  /**
   * Reads the calls behind a start, which was read. False when the last thing read was none: then what was read and not
   * told is text.
   */
  readonly readCalls: (start: string) => Reading<boolean>;
}

/**
 * Reads text with framed calls in it. What looked like a call and is none stays text, its end marker included. A call
 * that turns out malformed after its events have begun counts as cut off: the arguments so far stand, and what follows
 * is text. Behind a call that was told, its end marker is never content, even when other text stands between.
 */
export function* readFramedCalls(cursor: OutputCursor, frame: CallFrame): Reading<void> {
  const { starts, ends, innerEnds = [], ignored = [] } = frame;
  const outside = [...starts, ...ignored];
  const inside = [...outside, ...innerEnds, ...ends];
  let isInside: boolean = false;
  for (;;) {
    const marker: string | undefined = yield* cursor.text(isInside ? inside : outside);
    if (marker === undefined) return;
    cursor.take(marker.length);
    if (!starts.includes(marker)) {
      cursor.forget();
      if (ends.includes(marker)) isInside = false;
      continue;
    }
    isInside = yield* frame.readCalls(marker);
    if (isInside) isInside = yield* readEnds(cursor, innerEnds, ends);
    else cursor.giveBack();
  }
}

/** Reads the end markers directly behind calls; false when the last one of the section was among them. */
function* readEnds(
  cursor: OutputCursor,
  innerEnds: readonly string[],
  ends: readonly string[],
): Reading<boolean> {
  for (;;) {
    yield* cursor.skipSpace();
    const end = yield* cursor.oneOf([...innerEnds, ...ends]);
    if (end !== undefined || cursor.atEnd) cursor.forget();
    else cursor.giveBack();
    if (end === undefined) return true;
    if (ends.includes(end)) return false;
  }
}
