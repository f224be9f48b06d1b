/**
 * A compiled tokenizer: one binary that the Worker uses in place, as typed arrays over the fetched buffer.
 *
 *     u32  magic "SGTK" (little-endian), u32 version, u32 section count, u32 zero
 *     u32  offset, u32 byte length     of each section, in the order of SECTIONS; offsets are multiples of 8
 *     ...  the sections, each padded with zeros to a multiple of 8
 *
 * All numbers are little-endian. The sections:
 *
 * - `header`: JSON (UTF-8), a TokenizerHeader.
 * - `tokenOffsets`: u32 × (vocabSize + 1). Token i's bytes are `tokenBytes[tokenOffsets[i] .. tokenOffsets[i + 1]]`.
 * - `tokenBytes`: what each token stands for. In a vocabulary of characters "▁" is written as a space; a byte-fallback
 *   token `<0x0A>` is its one byte.
 * - `tokenFlags`: u8 × vocabSize, TOKEN_* bits.
 * - `tokenSlots`: u32 × capacity, an open-addressing hash from bytes to id. A slot is EMPTY, or
 *   `tag << 21 | merged << 20 | id`: tag = the hash's low 11 bits; merged = 1 when the entry is *not* what the merges
 *   make of its text, so that it stands for a whole piece only where the model ignores merges.
 * - `pairSlots`: (u32, u32) × capacity, an open-addressing hash from a pair of ids to its rank. A slot is EMPTY twice, or
 *   `left | (right & 0xfff) << 20`, `right >> 12 | rank << 8`.
 * - `mergedIds`: u32 × merges, the id that the merge of each rank makes.
 * - `startIds`: u32 × 256, the id of each single byte (of its byte-fallback token), or EMPTY.
 * - `joinBits`: a Bloom filter over the pairs of neighbouring characters that lie inside some entry. Where a pair is not
 *   in it, no entry crosses the boundary, so that a piece may be cut there without changing its merges.
 * - `byteRanks`: u32 × 65536, the rank of each pair of single bytes (in a vocabulary of characters: of ASCII characters),
 *   or EMPTY: what merging asks first and most often.
 * - `addedIds`: u32 × added tokens, the ids of the header's `addedTokens`, then of `normalizedAddedTokens`.
 * - `addedStarts`: u32 × (added tokens + 1) for each of the two tables: where each text begins in the table's `text`, in
 *   code units; the last one is its length.
 * - `classStarts` (u16), `classBlocks` (u8): the ClassTable of character-classes.ts.
 * - `crossBits`: one bit for each (byte, byte), for entries that hold only a part of a character beside a boundary.
 *
 * Capacities are 2^k or 3·2^k; see `slotOf`.
 */
import type { DecoderSpec } from "./decoder-spec.ts";
import type { ScannerSpec, SectionSpec } from "./scanners.ts";

export const MAGIC = 0x4b544753;
export const FORMAT_VERSION = 3;
export const PREAMBLE_BYTES = 16;

export const SECTIONS = [
  "header",
  "tokenOffsets",
  "tokenBytes",
  "tokenFlags",
  "tokenSlots",
  "pairSlots",
  "mergedIds",
  "startIds",
  "joinBits",
  "crossBits",
  "byteRanks",
  "addedIds",
  "addedStarts",
  "classStarts",
  "classBlocks",
] as const;
export type SectionName = (typeof SECTIONS)[number];

export const EMPTY = 0xffffffff;
/** Ids are below this, ranks below MAX_RANKS. */
export const MAX_IDS = 1 << 20;
export const MAX_RANKS = (1 << 24) - 1;
export const ID_MASK = MAX_IDS - 1;
export const SLOT_NOT_MERGED = 1 << 20;
export const SLOT_TAG_SHIFT = 21;

/** `skipSpecialTokens` leaves the token out. */
export const TOKEN_SPECIAL = 1;
/** A byte-fallback token. */
export const TOKEN_BYTE = 2;
/** The token's spaces are spaces in the file too, not "▁". */
export const TOKEN_PLAIN_SPACE = 4;

/** A hash table's size, as `slotOf` needs it. */
export interface TableShape {
  /** 4: the capacity is 2^bits; 3: three quarters of that. */
  readonly numerator: 3 | 4;
  /** 32 - bits. */
  readonly shift: number;
  readonly capacity: number;
}

/** An added token takes the white space before it, the white space after it, and stands only as a word of its own. */
export const RULE_LSTRIP = 1;
export const RULE_RSTRIP = 2;
export const RULE_SINGLE_WORD = 4;

/**
 * Added tokens in columns, their texts as one string: making thousands of objects, or of strings, would take most of the
 * time to load. Ids and places are in the sections `addedIds` and `addedStarts`.
 */
export interface AddedTokenColumns {
  /**
   * The texts to find, joined: as in the file, or (second table) as the normalizer leaves them. Sorted by UTF-16 code
   * units.
   */
  readonly text: string;
  readonly count: number;
  /** RULE_* bits; empty when no token has any. */
  readonly rules: readonly number[];
  /** The text in the file, by index, where it is another. */
  readonly contents: Readonly<Record<string, string>>;
}

export type NormalizerStep =
  | { readonly kind: "unicode"; readonly form: "NFC" | "NFD" | "NFKC" | "NFKD" }
  | { readonly kind: "replace"; readonly from: string; readonly to: string }
  /** Puts text before each non-empty stretch between added tokens. */
  | { readonly kind: "prepend"; readonly text: string };

export interface TokenizerHeader {
  readonly vocabSize: number;
  /** What the merges start from: bytes, or characters (with byte fallback or the unknown token). */
  readonly symbols: "bytes" | "characters";
  /** Whether a whole piece that is an entry is never merged. */
  readonly ignoreMerges: boolean;
  /** Id for what has no entry; null: such characters are left out. */
  readonly unknownId: number | null;
  readonly fuseUnknown: boolean;
  readonly normalizer: readonly NormalizerStep[];
  /** Whether spaces were "▁" for the model, so that no added token's lstrip or rstrip sees them after normalizing. */
  readonly spacesAreLetters: boolean;
  /** A space put before a stretch of text between added tokens that does not start with one. */
  readonly prependSpace: "always" | "first" | "never";
  /** The pre-tokenizer replaces "▁" in the text by a space. */
  readonly foldsMetaspace: boolean;
  readonly sections: SectionSpec;
  readonly scanner: ScannerSpec;
  /** Found before normalizing. */
  readonly addedTokens: AddedTokenColumns;
  /** Found after it. */
  readonly normalizedAddedTokens: AddedTokenColumns;
  /** What `addSpecialTokens` puts before and after. */
  readonly prefixIds: readonly number[];
  readonly suffixIds: readonly number[];
  readonly decoder: DecoderSpec;
  readonly tokenTable: TableShape;
  readonly pairTable: TableShape;
  readonly joinBitsShift: number;
  /** Bytes of the longest entry of `tokenSlots`. */
  readonly longestEntry: number;
}

/** The smallest table that `count` entries fill to two thirds or less. */
export function shapeTable(count: number): TableShape {
  for (let bits = 3; ; bits++) {
    const full = 2 ** bits;
    if (count <= full / 2) return { numerator: 3, shift: 32 - bits, capacity: (full / 4) * 3 };
    if (count <= (full / 3) * 2) return { numerator: 4, shift: 32 - bits, capacity: full };
  }
}

/** A hash's home slot. */
export function slotOf(hash: number, shape: TableShape): number {
  return ((hash >>> shape.shift) * shape.numerator) >>> 2;
}

/** FNV-1a over bytes, its bits mixed for `slotOf`, which takes the upper ones. */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let position = start; position < end; position++) {
    hash = Math.imul(hash ^ (bytes[position] ?? 0), 0x01000193);
  }
  return Math.imul(hash ^ (hash >>> 15), 0x9e3779b1);
}

export function hashPair(left: number, right: number): number {
  const mixed = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
  return Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35);
}

/** The lower word of a pair's slot. */
export function pairLow(left: number, right: number): number {
  return (left | (right << 20)) >>> 0;
}

/** The bit of `joinBits` for two neighbouring characters. */
export function joinBit(left: number, right: number, shift: number): number {
  return hashPair(left, right) >>> shift;
}
