import { RULE_LSTRIP, RULE_RSTRIP, RULE_SINGLE_WORD } from "./format.ts";
import type { AddedTokenColumns } from "./format.ts";

/** An added token found in a text; `start` and `end` take in what lstrip and rstrip take. */
export interface AddedTokenMatch {
  readonly start: number;
  readonly end: number;
  readonly id: number;
  /** Where the search goes on: white space taken by rstrip may still begin another added token. */
  readonly searchFrom: number;
}

/** The match "before the text": where a search starts. */
export const TEXT_START: AddedTokenMatch = { start: 0, end: 0, id: -1, searchFrom: 0 };

/** Added tokens as a compiled file holds them. */
export interface AddedTokenTable extends AddedTokenColumns {
  readonly ids: Uint32Array;
  /** Where each text begins in `text`; one more at the end. */
  readonly starts: Uint32Array;
}

/** A token's text as it is looked for. */
export function addedTokenText({ text, starts }: AddedTokenTable, token: number): string {
  return text.slice(starts[token], starts[token + 1]);
}

/** `\w` as Hugging Face's library takes it (Unicode's own definition). */
const WORD_CHARACTER = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$/u;

/**
 * Finds added tokens in a text: leftmost first, of several at one place the longest. The texts are kept as one sorted
 * list, which a search narrows character by character: no tree, and nothing to build at load.
 */
export class AddedTokenMatcher {
  readonly #table: AddedTokenTable;
  readonly #stripsSpaces: boolean;
  readonly #onlyFirst: string;
  readonly #firstCodes: Uint8Array;

  /** @param spacesAreLetters whether U+0020 is no white space for lstrip and rstrip */
  constructor(table: AddedTokenTable, spacesAreLetters: boolean) {
    this.#table = table;
    this.#stripsSpaces = !spacesAreLetters;
    this.#firstCodes = new Uint8Array(0x10000 >> 3);
    const { count } = table;
    for (let token = 0; token < count; token++) {
      const code = this.#codeAt(token, 0);
      this.#firstCodes[code >> 3] = (this.#firstCodes[code >> 3] ?? 0) | (1 << (code & 7));
    }
    // The texts are sorted: when the outermost two begin alike, all do.
    const first = count === 0 ? "" : String.fromCharCode(this.#codeAt(0, 0));
    this.#onlyFirst = count > 0 && this.#codeAt(count - 1, 0) === first.charCodeAt(0) ? first : "";
  }

  get isEmpty(): boolean {
    return this.#table.count === 0;
  }

  #codeAt(token: number, depth: number): number {
    const { text, starts } = this.#table;
    return text.charCodeAt((starts[token] ?? 0) + depth);
  }

  #lengthOf(token: number): number {
    const { starts } = this.#table;
    return (starts[token + 1] ?? 0) - (starts[token] ?? 0);
  }

  /** The match after another (after TEXT_START, the first). */
  next(text: string, previous: AddedTokenMatch): AddedTokenMatch | undefined {
    let position = this.#nextCandidate(text, previous.searchFrom);
    while (position >= 0) {
      const token = this.#longestAt(text, position);
      if (token < 0) {
        position = this.#nextCandidate(text, position + 1);
        continue;
      }
      const end = position + this.#lengthOf(token);
      const isAnywhere = (this.#rulesOf(token) & RULE_SINGLE_WORD) === 0;
      if (isAnywhere || isSingleWord(text, position, end)) {
        return this.#widen(text, position, { token, from: previous.end });
      }
      position = this.#nextCandidate(text, end);
    }
    return undefined;
  }

  #rulesOf(token: number): number {
    return this.#table.rules[token] ?? 0;
  }

  #nextCandidate(text: string, from: number): number {
    if (this.#onlyFirst !== "") return text.indexOf(this.#onlyFirst, from);
    if (this.isEmpty) return -1;
    for (let position = from; position < text.length; position++) {
      const code = text.charCodeAt(position);
      if (((this.#firstCodes[code >> 3] ?? 0) & (1 << (code & 7))) !== 0) return position;
    }
    return -1;
  }

  /** The index of the longest token that begins here; -1 for none. */
  #longestAt(text: string, position: number): number {
    let low = 0;
    let high = this.#table.count;
    let longest = -1;
    for (let depth = 0; low < high; depth++) {
      if (this.#lengthOf(low) === depth) {
        longest = low;
        low++;
      }
      if (position + depth >= text.length) break;
      const code = text.charCodeAt(position + depth);
      low = this.#lowerBound(low, high, { depth, code });
      high = this.#lowerBound(low, high, { depth, code: code + 1 });
    }
    return longest;
  }

  /** The first of tokens low..high whose code unit at a depth is at least `code`; all are longer than that. */
  #lowerBound(
    low: number,
    high: number,
    key: { readonly depth: number; readonly code: number },
  ): number {
    let from = low;
    let to = high;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.#codeAt(middle, key.depth) < key.code) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  #widen(
    text: string,
    position: number,
    context: { readonly token: number; readonly from: number },
  ): AddedTokenMatch {
    const { token, from } = context;
    const rules = this.#rulesOf(token);
    const searchFrom = position + this.#lengthOf(token);
    let start = position;
    let end = searchFrom;
    if ((rules & RULE_LSTRIP) !== 0) {
      while (start > from && this.#isSpace(text.charCodeAt(start - 1))) start--;
    }
    if ((rules & RULE_RSTRIP) !== 0) {
      while (end < text.length && this.#isSpace(text.charCodeAt(end))) end++;
    }
    return { start, end, id: this.#table.ids[token] ?? -1, searchFrom };
  }

  #isSpace(code: number): boolean {
    return code === 0x20 ? this.#stripsSpaces : isWhiteSpace(code);
  }
}

/** Unicode's White_Space, all of it in the basic plane. */
function isWhiteSpace(code: number): boolean {
  if (code <= 0x20) return code === 0x20 || (code >= 0x09 && code <= 0x0d);
  if (code === 0x85 || code === 0xa0 || code === 0x1680 || code === 0x3000) return true;
  if (code < 0x2000) return false;
  return code <= 0x200a || code === 0x2028 || code === 0x2029 || code === 0x202f || code === 0x205f;
}

function isSingleWord(text: string, start: number, end: number): boolean {
  return !endsWithWord(text, start) && !startsWithWord(text, end);
}

function endsWithWord(text: string, end: number): boolean {
  if (end === 0) return false;
  const before = end >= 2 && isLowSurrogate(text.charCodeAt(end - 1)) ? end - 2 : end - 1;
  return WORD_CHARACTER.test(text.slice(before, end));
}

function startsWithWord(text: string, start: number): boolean {
  const code = text.codePointAt(start);
  return code !== undefined && WORD_CHARACTER.test(String.fromCodePoint(code));
}

function isLowSurrogate(code: number): boolean {
  return (code & 0xfc00) === 0xdc00;
}
