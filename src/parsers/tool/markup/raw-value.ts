import { findMarker, heldFrom } from "../../marker-scanner.ts";
import type { OutputCursor, Reading } from "../output-cursor.ts";

/**
 * What becomes of line breaks next to the tags around a value.
 * - keep: they are part of it;
 * - lines: one behind the opening tag and one before the closing tag are layout;
 * - wrapped: the same, but the last one only if the first one is there.
 */
export type Trim = "keep" | "lines" | "wrapped";

/** How the text of a value ends. */
export interface ValueEnd {
  readonly tag: string;
  /**
   * What may follow the closing tag, after white space. A closing tag that is followed by something else is text of the
   * value: so a value may hold its own closing tag.
   */
  readonly followers: readonly string[];
  readonly trim: Trim;
}

/** White space between a closing tag and what follows; after more than this the tag is text. In code units. */
const MAX_GAP = 64;

/** Reads a value's raw text up to and with its closing tag, as it arrives. False when the output ends before. */
export type ReadValue = (
  cursor: OutputCursor,
  end: ValueEnd,
  sink: (raw: string) => void,
) => Reading<boolean>;

export const readRawValue: ReadValue = function* readRawValue(cursor, end, sink) {
  const isTrimmed = end.trim !== "keep" && (yield* cursor.literal("\n"));
  const tags = isTrimmed || end.trim === "lines" ? [`\n${end.tag}`, end.tag] : [end.tag];
  for (;;) {
    const tag = yield* passTo(cursor, tags, sink);
    if (tag === undefined) return false;
    if (yield* isFollowed(cursor, tag, end.followers)) {
      cursor.take(tag.length);
      return true;
    }
    sink(cursor.take(tag.length));
  }
};

/** Passes text on up to the first of some tags, which stays unread; undefined when the output ends before. */
export function* passTo(
  cursor: OutputCursor,
  tags: readonly string[],
  sink: (raw: string) => void,
): Reading<string | undefined> {
  for (;;) {
    const { unread } = cursor;
    const match = findMarker(unread, tags);
    const certain = match?.start ?? heldFrom(unread, tags);
    if (certain > 0) sink(cursor.take(certain));
    if (match !== undefined) return match.marker;
    const held = unread.length - certain;
    if ((yield* cursor.ahead(held + 1)).length > held) continue;
    // What may be the beginning of a tag is not told: so what a call cut off has told begins what the whole would have.
    cursor.take(held);
    return undefined;
  }
}

/** Does one of these, or the end of the output, follow the tag that is unread here, with only white space between? */
export function* isFollowed(
  cursor: OutputCursor,
  tag: string,
  followers: readonly string[],
): Reading<boolean> {
  let gap = 0;
  for (; gap <= MAX_GAP; gap++) {
    const next = (yield* cursor.ahead(tag.length + gap + 1)).charAt(tag.length + gap);
    if (next === "") return true;
    if (next.trim() !== "") break;
  }
  const from = tag.length + gap;
  for (let length = 1; ; length++) {
    const text = (yield* cursor.ahead(from + length)).slice(from);
    const candidates = followers.filter((follower) => follower.startsWith(text));
    if (candidates.length === 0) return false;
    if (text.length < length || candidates.includes(text)) return true;
  }
}
