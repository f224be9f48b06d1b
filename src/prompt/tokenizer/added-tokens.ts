import type { AddedTokenSpec } from "./format.ts";

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

/** `\w` as Hugging Face's library takes it (Unicode's own definition). */
const WORD_CHARACTER = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$/u;

/**
 * Finds added tokens in a text: leftmost first, of several at one place the longest. The texts are kept as one sorted
 * list, which a search narrows character by character: no tree, and nothing to build at load.
 */
export class AddedTokenMatcher {
  readonly #tokens: readonly AddedTokenSpec[];
  readonly #stripsSpaces: boolean;
  readonly #onlyFirst: string;
  readonly #firstCodes: Uint8Array;

  /**
   * @param tokens sorted by text in order of UTF-16 code units, no text twice
   * @param spacesAreLetters whether U+0020 is no white space for lstrip and rstrip
   */
  constructor(tokens: readonly AddedTokenSpec[], spacesAreLetters: boolean) {
    this.#tokens = tokens;
    this.#stripsSpaces = !spacesAreLetters;
    const firsts = new Set(tokens.map((token) => token.text.charAt(0)));
    this.#onlyFirst = firsts.size === 1 ? [...firsts].join("") : "";
    this.#firstCodes = new Uint8Array(0x10000 >> 3);
    for (const first of firsts) {
      const code = first.charCodeAt(0);
      this.#firstCodes[code >> 3] = (this.#firstCodes[code >> 3] ?? 0) | (1 << (code & 7));
    }
  }

  get isEmpty(): boolean {
    return this.#tokens.length === 0;
  }

  /** The match after another (after TEXT_START, the first). */
  next(text: string, previous: AddedTokenMatch): AddedTokenMatch | undefined {
    let position = this.#nextCandidate(text, previous.searchFrom);
    while (position >= 0) {
      const token = this.#longestAt(text, position);
      if (token === undefined) {
        position = this.#nextCandidate(text, position + 1);
        continue;
      }
      const end = position + token.text.length;
      if (token.singleWord !== true || isSingleWord(text, position, end)) {
        return this.#widen(text, position, { token, from: previous.end });
      }
      position = this.#nextCandidate(text, end);
    }
    return undefined;
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

  #longestAt(text: string, position: number): AddedTokenSpec | undefined {
    let low = 0;
    let high = this.#tokens.length;
    let longest: AddedTokenSpec | undefined;
    for (let depth = 0; low < high; depth++) {
      const shortest = this.#tokens[low];
      if (shortest !== undefined && shortest.text.length === depth) {
        longest = shortest;
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
      if ((this.#tokens[middle]?.text.charCodeAt(key.depth) ?? 0) < key.code) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  #widen(
    text: string,
    position: number,
    context: { readonly token: AddedTokenSpec; readonly from: number },
  ): AddedTokenMatch {
    const searchFrom = position + context.token.text.length;
    let start = position;
    let end = searchFrom;
    if (context.token.lstrip === true) {
      while (start > context.from && this.#isSpace(text.charCodeAt(start - 1))) start--;
    }
    if (context.token.rstrip === true) {
      while (end < text.length && this.#isSpace(text.charCodeAt(end))) end++;
    }
    return { start, end, id: context.token.id, searchFrom };
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
