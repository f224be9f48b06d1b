/**
 * The split patterns, as scanners written by hand: each gives the end of the piece that starts at `start`. They work on
 * UTF-8 and on the class of each byte's character (see classifyBytes), take time linear in the piece, and match what
 * Oniguruma matches, alternative by alternative. JavaScript's own regular expressions are not used: its `\s` is not
 * Unicode's White_Space, its Unicode version is the runtime's, and it may backtrack.
 */
import {
  characterLength,
  IDEOGRAPH,
  LETTER,
  LOWER,
  MARK,
  NUMBER,
  OTHER_LETTER,
  SPACE,
  SYMBOL,
  UPPER,
} from "./character-classes.ts";

/** The end of the piece that starts at `start` (start < end); `end` counts as the end of the text. */
export type Scanner = (
  bytes: Uint8Array,
  classes: Uint8Array,
  start: number,
  end: number,
) => number;

/** How a model splits text, as the compiled tokenizer's header says it. */
export type ScannerSpec =
  /** GPT-2: contractions in lower case, a space joins letters, digits or symbols. */
  | { readonly kind: "gpt2" }
  /** cl100k and what came of it (Llama 3, Qwen, GLM, OLMo 2): any one character may lead a word. */
  | { readonly kind: "cl100k"; readonly digits: number; readonly marksInWords: boolean }
  /** o200k (gpt-oss, Llama 4) and Mistral's tekken: words also split where the case changes. */
  | { readonly kind: "o200k"; readonly digits: number; readonly contractions: boolean }
  /** DeepSeek V3: the last of its three patterns; digits and ideographs are cut out as sections before. */
  | { readonly kind: "deepseek" }
  /** Metaspace with `split`: a piece starts at each space. */
  | { readonly kind: "spaces" }
  /** No split: a section is one piece. */
  | { readonly kind: "whole" };

/** Cuts made before the scanner runs; the scanner sees each section as a text of its own. */
export interface SectionSpec {
  /** Most digits in a section of digits; 0: digits are not cut out. */
  readonly digits: number;
  /** Whether runs of ideographs and kana are sections. */
  readonly ideographs: boolean;
}

/** Stands for "any number" of digits. */
export const ANY_DIGITS = 0xffff;

const APOSTROPHE = 0x27;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const BLANK = 0x20;
const SLASH = 0x2f;

/** What DeepSeek takes for a word. */
const WORD = LETTER | MARK;

export function createScanner(spec: ScannerSpec): Scanner {
  switch (spec.kind) {
    case "gpt2":
      return scanGpt2;
    case "cl100k":
      return createCl100kScanner(spec.digits, spec.marksInWords ? LETTER | MARK : LETTER);
    case "o200k":
      return createO200kScanner(spec.digits, spec.contractions);
    case "deepseek":
      return scanDeepSeek;
    case "spaces":
      return scanSpaces;
    case "whole":
      return (_bytes, _classes, _start, end) => end;
  }
}

/** Undefined when the text is not cut into sections. */
export function createSectionScanner(spec: SectionSpec): Scanner | undefined {
  const { digits, ideographs } = spec;
  if (digits === 0 && !ideographs) return undefined;
  const cut = (digits > 0 ? NUMBER : 0) | (ideographs ? IDEOGRAPH : 0);
  return (bytes, classes, start, end) => {
    const first = (classes[start] ?? 0) & cut;
    if (first === 0) return runEndWithout(classes, start, end, cut);
    if (first === IDEOGRAPH) return runEnd(classes, start, end, IDEOGRAPH);
    return numberEnd(bytes, classes, start, { end, most: digits });
  };
}

function runEnd(classes: Uint8Array, start: number, end: number, mask: number): number {
  let position = start;
  while (position < end && ((classes[position] ?? 0) & mask) !== 0) position++;
  return position;
}

function runEndWithout(classes: Uint8Array, start: number, end: number, mask: number): number {
  let position = start;
  while (position < end && ((classes[position] ?? 0) & mask) === 0) position++;
  return position;
}

/** `\p{N}{1,most}` */
function numberEnd(
  bytes: Uint8Array,
  classes: Uint8Array,
  start: number,
  limit: { readonly end: number; readonly most: number },
): number {
  let position = start;
  for (let count = 0; count < limit.most && position < limit.end; count++) {
    if (((classes[position] ?? 0) & NUMBER) === 0) break;
    position += characterLength(bytes[position] ?? 0);
  }
  return position;
}

/** `\s*[\r\n]+|\s+(?!\S)|\s+` at white space. */
function spaceEnd(bytes: Uint8Array, classes: Uint8Array, start: number, end: number): number {
  const runStop = runEnd(classes, start, end, SPACE);
  for (let position = runStop - 1; position >= start; position--) {
    if (bytes[position] === NEWLINE || bytes[position] === RETURN) return position + 1;
  }
  return trailingSpaceEnd(bytes, start, runStop, end);
}

/** `\s+(?!\S)|\s+` for a run of white space: all but its last character, unless the text ends or it has only one. */
function trailingSpaceEnd(bytes: Uint8Array, start: number, runStop: number, end: number): number {
  if (runStop === end) return runStop;
  let last = runStop - 1;
  while (((bytes[last] ?? 0) & 0xc0) === 0x80) last--;
  return last > start ? last : runStop;
}

/** `(?i:'s|'t|'re|'ve|'m|'ll|'d)`; `start` itself when there is none. Oniguruma folds ſ (U+017F) to s. */
function contractionEnd(bytes: Uint8Array, start: number, end: number): number {
  if (bytes[start] !== APOSTROPHE || start + 1 >= end) return start;
  const letter = bytes[start + 1] ?? 0;
  if (letter === 0xc5) return bytes[start + 2] === 0xbf ? start + 3 : start;
  const length = contractionLength(
    letter | 0x20,
    start + 2 < end ? (bytes[start + 2] ?? 0) | 0x20 : 0,
  );
  return start + length;
}

/** 2 or 3 with the apostrophe, 0 when the letters (in lower case) are no contraction. */
function contractionLength(letter: number, next: number): number {
  switch (letter) {
    case 0x73: // s
    case 0x74: // t
    case 0x6d: // m
    case 0x64: // d
      return 2;
    case 0x72: // re
    case 0x76: // ve
      return next === 0x65 ? 3 : 0;
    case 0x6c: // ll
      return next === 0x6c ? 3 : 0;
    default:
      return 0;
  }
}

/** `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+` */
function scanGpt2(bytes: Uint8Array, classes: Uint8Array, start: number, end: number): number {
  if (bytes[start] === APOSTROPHE) {
    const letter = start + 1 < end ? (bytes[start + 1] ?? 0) : 0;
    const length = contractionLength(letter, start + 2 < end ? (bytes[start + 2] ?? 0) : 0);
    if (length > 0) return start + length;
  }
  const from = bytes[start] === BLANK && start + 1 < end ? start + 1 : start;
  const first = classes[from] ?? 0;
  if ((first & LETTER) !== 0) return runEnd(classes, from, end, LETTER);
  if ((first & NUMBER) !== 0) return runEnd(classes, from, end, NUMBER);
  if ((first & SPACE) === 0) return runEndWithout(classes, from, end, LETTER | NUMBER | SPACE);
  return trailingSpaceEnd(bytes, start, runEnd(classes, start, end, SPACE), end);
}

/**
 * `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|` and white space;
 * where marks belong to words, `[\p{L}\p{M}]` for the second `\p{L}` and `\p{M}` out of the symbols.
 */
function createCl100kScanner(digits: number, letters: number): Scanner {
  const notSymbol = SPACE | NUMBER | letters;
  return (bytes, classes, start, end) => {
    const lead = bytes[start] ?? 0;
    const first = classes[start] ?? 0;
    if ((first & letters) !== 0) return runEnd(classes, start + 1, end, letters);
    const contraction = contractionEnd(bytes, start, end);
    if (contraction > start) return contraction;
    if ((first & NUMBER) !== 0) return numberEnd(bytes, classes, start, { end, most: digits });
    if (lead !== NEWLINE && lead !== RETURN) {
      const next = start + characterLength(lead);
      if (next < end && ((classes[next] ?? 0) & letters) !== 0) {
        return runEnd(classes, next + 1, end, letters);
      }
    }
    const from = lead === BLANK ? start + 1 : start;
    if (from < end && ((classes[from] ?? 0) & notSymbol) === 0) {
      const stop = runEndWithout(classes, from, end, notSymbol);
      return newlinesEnd(bytes, stop, end);
    }
    return spaceEnd(bytes, classes, start, end);
  };
}

/** `[\r\n]*` */
function newlinesEnd(bytes: Uint8Array, start: number, end: number): number {
  let position = start;
  while (position < end && (bytes[position] === NEWLINE || bytes[position] === RETURN)) position++;
  return position;
}

/** `[\r\n/]*` */
function newlinesAndSlashesEnd(bytes: Uint8Array, start: number, end: number): number {
  let position = start;
  while (position < end) {
    const byte = bytes[position];
    if (byte !== NEWLINE && byte !== RETURN && byte !== SLASH) break;
    position++;
  }
  return position;
}

const O200K_UPPER = UPPER | OTHER_LETTER | MARK;
const O200K_LOWER = LOWER | OTHER_LETTER | MARK;
const O200K_BOTH = OTHER_LETTER | MARK;

/**
 * `[^\r\n\p{L}\p{N}]?[U]*[L]+(contraction)?|[^\r\n\p{L}\p{N}]?[U]+[L]*(contraction)?|\p{N}{1,digits}|`
 * ` ?[^\s\p{L}\p{N}]+[\r\n/]*|` and white space, where U is Lu Lt Lm Lo M and L is Ll Lm Lo M.
 */
function createO200kScanner(digits: number, contractions: boolean): Scanner {
  const notSymbol = SPACE | NUMBER | LETTER;
  return (bytes, classes, start, end) => {
    const word = o200kWordEnd(bytes, classes, start, end);
    if (word > start) return contractions ? contractionEnd(bytes, word, end) : word;
    const lead = bytes[start] ?? 0;
    if (((classes[start] ?? 0) & NUMBER) !== 0) {
      return numberEnd(bytes, classes, start, { end, most: digits });
    }
    const from = lead === BLANK ? start + 1 : start;
    if (from < end && ((classes[from] ?? 0) & notSymbol) === 0) {
      const stop = runEndWithout(classes, from, end, notSymbol);
      return newlinesAndSlashesEnd(bytes, stop, end);
    }
    return spaceEnd(bytes, classes, start, end);
  };
}

/** The end of a word by either of the first two alternatives; `start` when none matches. */
function o200kWordEnd(bytes: Uint8Array, classes: Uint8Array, start: number, end: number): number {
  const lead = bytes[start] ?? 0;
  const first = classes[start] ?? 0;
  if ((first & LETTER) !== 0) return Math.abs(casedEnd(classes, start, end));
  if ((first & NUMBER) !== 0 || lead === NEWLINE || lead === RETURN) return start;
  const next = start + characterLength(lead);
  const withLeader = casedEnd(classes, next, end);
  if (withLeader > next) return withLeader;
  // The first alternative without its leader comes before the second with it.
  if ((first & MARK) !== 0) return Math.abs(casedEnd(classes, start, end));
  return -withLeader > next ? -withLeader : start;
}

/**
 * `[U]*[L]+` from `start`, else (as a negative number) the end of `[U]+`; `start` or `-start` when neither matches.
 * Where a run of U is not followed by an L, the pattern gives back characters up to the last one that is in both.
 */
function casedEnd(classes: Uint8Array, start: number, end: number): number {
  let position = start;
  let lastBoth = -1;
  while (position < end) {
    const characterClass = classes[position] ?? 0;
    if ((characterClass & O200K_UPPER) === 0) break;
    if ((characterClass & O200K_BOTH) !== 0) lastBoth = position;
    position++;
  }
  if (position < end && ((classes[position] ?? 0) & LOWER) !== 0) {
    return runEnd(classes, position, end, O200K_LOWER);
  }
  return lastBoth >= 0 ? lastBoth + 1 : -position;
}

/**
 * `[ASCII punctuation][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|` and white space; what lies
 * between two matches is a piece too.
 */
function scanDeepSeek(bytes: Uint8Array, classes: Uint8Array, start: number, end: number): number {
  const first = classes[start] ?? 0;
  if ((first & WORD) !== 0) return runEnd(classes, start, end, WORD);
  const lead = bytes[start] ?? 0;
  const next = start + characterLength(lead);
  const second = next < end ? (classes[next] ?? 0) : 0;
  if ((first & SYMBOL) !== 0) return nameOrSymbolsEnd(bytes, classes, start, end);
  if ((second & WORD) !== 0 && lead !== NEWLINE && lead !== RETURN) {
    return runEnd(classes, next, end, WORD);
  }
  if ((second & SYMBOL) !== 0 && lead === BLANK) {
    return symbolsEnd(bytes, classes, next, end);
  }
  if ((first & SPACE) !== 0) return spaceEnd(bytes, classes, start, end);
  return unmatchedEnd(bytes, classes, next, end);
}

/** `[ASCII punctuation][A-Za-z]+|[\p{P}\p{S}]+[\r\n]*`, of which the first character is a symbol. */
function nameOrSymbolsEnd(
  bytes: Uint8Array,
  classes: Uint8Array,
  start: number,
  end: number,
): number {
  const next = start + 1;
  const opensName = (bytes[start] ?? 0) < 0x80 && next < end && isAsciiLetter(bytes[next] ?? 0);
  return opensName ? asciiLettersEnd(bytes, next, end) : symbolsEnd(bytes, classes, start, end);
}

/** `[\p{P}\p{S}]+[\r\n]*` */
function symbolsEnd(bytes: Uint8Array, classes: Uint8Array, start: number, end: number): number {
  return newlinesEnd(bytes, runEnd(classes, start, end, SYMBOL), end);
}

/** Controls, numbers and unassigned characters, up to one that leads a word. */
function unmatchedEnd(bytes: Uint8Array, classes: Uint8Array, start: number, end: number): number {
  let position = start;
  while (position < end) {
    if (((classes[position] ?? 0) & (WORD | SYMBOL | SPACE)) !== 0) return position;
    const next = position + characterLength(bytes[position] ?? 0);
    if (next < end && ((classes[next] ?? 0) & WORD) !== 0) return position;
    position = next;
  }
  return position;
}

function asciiLettersEnd(bytes: Uint8Array, start: number, end: number): number {
  let position = start;
  while (position < end && isAsciiLetter(bytes[position] ?? 0)) position++;
  return position;
}

function isAsciiLetter(byte: number): boolean {
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

function scanSpaces(bytes: Uint8Array, _classes: Uint8Array, start: number, end: number): number {
  let position = start + 1;
  while (position < end && bytes[position] !== BLANK) position++;
  return position;
}
