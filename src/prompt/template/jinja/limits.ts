import { failure } from "./failure.ts";

/** Longest text, in UTF-16 units, that a rendering may build. */
export const MAX_RENDERED_CHARS = 16 * 1024 * 1024;

/** Longest list that an operator of the language may build. */
const MAX_LIST_ITEMS = 1_000_000;

/** Rounds of all loops and calls of macros in one rendering. */
export const MAX_STEPS = 2_000_000;

/** Guards what makes long lists out of short ones. */
export function checkItems(count: number): void {
  if (count > MAX_LIST_ITEMS) throw failure("a list is too long");
}

/** Guards what makes long texts out of short ones. */
export function checkSize(size: number): void {
  if (size > MAX_RENDERED_CHARS) throw failure("the rendered text is too long");
}
