import type { AddedTokenTable } from "./added-tokens.ts";
import type { ClassTable } from "./character-classes.ts";
import {
  EMPTY,
  FORMAT_VERSION,
  hashBytes,
  hashPair,
  ID_MASK,
  joinBit,
  MAGIC,
  pairLow,
  PREAMBLE_BYTES,
  SECTIONS,
  SLOT_NOT_MERGED,
  SLOT_TAG_SHIFT,
  slotOf,
} from "./format.ts";
import type { SectionName, TableShape, TokenizerHeader } from "./format.ts";

/** No rank: two symbols that do not merge. */
export const NO_RANK = 0x7fffffff;
/** No id. */
export const NO_ID = -1;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A compiled tokenizer's tables, as views over its buffer. */
export class Vocabulary {
  readonly header: TokenizerHeader;
  readonly tokenOffsets: Uint32Array;
  readonly tokenBytes: Uint8Array;
  readonly tokenFlags: Uint8Array;
  readonly #mergedIds: Uint32Array;
  readonly #startIds: Uint32Array;
  readonly #tokenSlots: Uint32Array;
  readonly #tokenTable: TableShape;
  readonly #pairSlots: Uint32Array;
  readonly #pairTable: TableShape;
  readonly #joinBits: Uint32Array;
  readonly #joinBitsShift: number;
  readonly #crossBits: Uint32Array;
  readonly #byteRanks: Uint32Array;
  readonly classTable: ClassTable;
  /** Found before normalizing. */
  readonly addedTokens: AddedTokenTable;
  /** Found after it. */
  readonly normalizedAddedTokens: AddedTokenTable;

  /** @throws {Error} when the buffer is no compiled tokenizer of this version */
  constructor(buffer: ArrayBuffer) {
    const sections = readSections(buffer);
    this.header = readHeader(new Uint8Array(buffer, ...sections.header));
    this.tokenOffsets = words(buffer, sections.tokenOffsets);
    this.tokenBytes = new Uint8Array(buffer, ...sections.tokenBytes);
    this.tokenFlags = new Uint8Array(buffer, ...sections.tokenFlags);
    this.#tokenSlots = words(buffer, sections.tokenSlots);
    this.#pairSlots = words(buffer, sections.pairSlots);
    this.#mergedIds = words(buffer, sections.mergedIds);
    this.#startIds = words(buffer, sections.startIds);
    this.#joinBits = words(buffer, sections.joinBits);
    this.#crossBits = words(buffer, sections.crossBits);
    this.#byteRanks = words(buffer, sections.byteRanks);
    const { addedTokens, normalizedAddedTokens } = this.header;
    const ids = words(buffer, sections.addedIds);
    const starts = words(buffer, sections.addedStarts);
    const { count } = addedTokens;
    this.addedTokens = { ...addedTokens, ids, starts };
    this.normalizedAddedTokens = {
      ...normalizedAddedTokens,
      ids: ids.subarray(count),
      starts: starts.subarray(count + 1),
    };
    const [classOffset, classBytes] = sections.classStarts;
    this.classTable = {
      starts: new Uint16Array(buffer, classOffset, classBytes >> 1),
      blocks: new Uint8Array(buffer, ...sections.classBlocks),
    };
    this.#tokenTable = this.header.tokenTable;
    this.#pairTable = this.header.pairTable;
    this.#joinBitsShift = this.header.joinBitsShift;
  }

  /**
   * The entry that these bytes are, or NO_ID. An entry that is not what the merges make of its bytes counts only when
   * `orNotMerged` is set.
   */
  idOfBytes(bytes: Uint8Array, start: number, end: number, orNotMerged: boolean): number {
    const slot = this.slotOfBytes(hashBytes(bytes, start, end), bytes, start, end);
    if (slot === EMPTY) return NO_ID;
    return (slot & SLOT_NOT_MERGED) === 0 || orNotMerged ? slot & ID_MASK : NO_ID;
  }

  /** The slot of the entry that these bytes are (see format.ts), by their `hashBytes`; EMPTY when there is none. */
  slotOfBytes(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const slots = this.#tokenSlots;
    const tag = (hash << SLOT_TAG_SHIFT) >>> SLOT_TAG_SHIFT;
    const length = end - start;
    let index = slotOf(hash, this.#tokenTable);
    for (;;) {
      const slot = slots[index] ?? EMPTY;
      if (slot === EMPTY) return EMPTY;
      if (slot >>> SLOT_TAG_SHIFT === tag && this.#isEntry(slot & ID_MASK, bytes, start, length)) {
        return slot;
      }
      if (++index === slots.length) index = 0;
    }
  }

  #isEntry(id: number, bytes: Uint8Array, start: number, length: number): boolean {
    const { tokenOffsets, tokenBytes } = this;
    const from = tokenOffsets[id] ?? 0;
    if ((tokenOffsets[id + 1] ?? 0) - from !== length) return false;
    for (let index = 0; index < length; index++) {
      if (tokenBytes[from + index] !== bytes[start + index]) return false;
    }
    return true;
  }

  /** The rank of the merge of two symbols, or NO_RANK. */
  rankOf(left: number, right: number): number {
    const slots = this.#pairSlots;
    const low = pairLow(left, right);
    const high = right >>> 12;
    let index = slotOf(hashPair(left, right), this.#pairTable) << 1;
    for (;;) {
      const slotLow = slots[index] ?? EMPTY;
      const slotHigh = slots[index + 1] ?? EMPTY;
      if (slotLow === low && (slotHigh & 0xff) === high) {
        return slotHigh === EMPTY ? NO_RANK : slotHigh >>> 8;
      }
      if (slotHigh === EMPTY) return NO_RANK;
      index += 2;
      if (index === slots.length) index = 0;
    }
  }

  /** `rankOf` for the symbols of two single bytes (in a vocabulary of characters, of two ASCII characters). */
  rankOfBytes(left: number, right: number): number {
    return (this.#byteRanks[(left << 8) | right] ?? EMPTY) & NO_RANK;
  }

  /** The id that the merge of a rank makes. */
  mergedId(rank: number): number {
    return this.#mergedIds[rank] ?? 0;
  }

  /** The id of one byte (of its byte-fallback token), or NO_ID. */
  startId(byte: number): number {
    return (this.#startIds[byte] ?? EMPTY) | 0;
  }

  /**
   * Whether an entry may cross the boundary between two neighbouring characters.
   * @param leftByte the last byte of `left`; @param rightByte the first byte of `right`
   */
  mayJoin(left: number, right: number, leftByte: number, rightByte: number): boolean {
    const bit = joinBit(left, right, this.#joinBitsShift);
    if (((this.#joinBits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0) return true;
    const cross = (leftByte << 8) | rightByte;
    return ((this.#crossBits[cross >>> 5] ?? 0) & (1 << (cross & 31))) !== 0;
  }
}

type SectionPlace = readonly [offset: number, byteLength: number];

function readSections(buffer: ArrayBuffer): Readonly<Record<SectionName, SectionPlace>> {
  const preamble = PREAMBLE_BYTES + 8 * SECTIONS.length;
  if (buffer.byteLength < preamble) throw new Error("Not a compiled tokenizer: too short");
  const view = new DataView(buffer);
  if (view.getUint32(0, true) !== MAGIC) throw new Error("Not a compiled tokenizer");
  const version = view.getUint32(4, true);
  if (version !== FORMAT_VERSION || view.getUint32(8, true) !== SECTIONS.length) {
    throw new Error(
      `Compiled tokenizer of version ${version}, but this program reads ${FORMAT_VERSION}`,
    );
  }
  const place = (name: SectionName): SectionPlace => {
    const entry = PREAMBLE_BYTES + 8 * SECTIONS.indexOf(name);
    const offset = view.getUint32(entry, true);
    const byteLength = view.getUint32(entry + 4, true);
    if (offset % 8 !== 0 || offset + byteLength > buffer.byteLength) {
      throw new Error("Compiled tokenizer is cut short");
    }
    return [offset, byteLength];
  };
  return {
    header: place("header"),
    tokenOffsets: place("tokenOffsets"),
    tokenBytes: place("tokenBytes"),
    tokenFlags: place("tokenFlags"),
    tokenSlots: place("tokenSlots"),
    pairSlots: place("pairSlots"),
    mergedIds: place("mergedIds"),
    startIds: place("startIds"),
    joinBits: place("joinBits"),
    crossBits: place("crossBits"),
    byteRanks: place("byteRanks"),
    addedIds: place("addedIds"),
    addedStarts: place("addedStarts"),
    classStarts: place("classStarts"),
    classBlocks: place("classBlocks"),
  };
}

function words(buffer: ArrayBuffer, [offset, byteLength]: SectionPlace): Uint32Array {
  return new Uint32Array(buffer, offset, byteLength >> 2);
}

/** The compiler wrote it, and the version was checked: its shape is known. */
function readHeader(bytes: Uint8Array): TokenizerHeader {
  const header: TokenizerHeader = JSON.parse(utf8.decode(bytes));
  return header;
}
