import { characterLength, codePointAt } from "../../../src/prompt/tokenizer/character-classes.ts";
import {
  EMPTY,
  hashBytes,
  hashPair,
  joinBit,
  pairLow,
  shapeTable,
  SLOT_NOT_MERGED,
  SLOT_TAG_SHIFT,
  slotOf,
} from "../../../src/prompt/tokenizer/format.ts";
import type { TableShape } from "../../../src/prompt/tokenizer/format.ts";
import type { MergeRule } from "./model.ts";

/** The hash over token bytes; each entry is one that a text can be. */
export function buildTokenSlots(
  entries: readonly { readonly id: number; readonly bytes: Uint8Array }[],
): { readonly slots: Uint32Array; readonly shape: TableShape } {
  const shape = shapeTable(entries.length);
  const slots = new Uint32Array(shape.capacity).fill(EMPTY);
  for (const { id, bytes } of entries) {
    const hash = hashBytes(bytes, 0, bytes.length);
    let index = slotOf(hash, shape);
    while (slots[index] !== EMPTY) index = (index + 1) % shape.capacity;
    slots[index] = (hash << SLOT_TAG_SHIFT) | id;
  }
  return { slots, shape };
}

/** Marks the slots of entries that the merges do not make. */
export function markNotMerged(slots: Uint32Array, isMerged: (id: number) => boolean): number {
  let marked = 0;
  for (const [index, slot] of slots.entries()) {
    if (slot === EMPTY || isMerged(slot & (SLOT_NOT_MERGED - 1))) continue;
    slots[index] = slot | SLOT_NOT_MERGED;
    marked++;
  }
  return marked;
}

export function buildPairSlots(merges: readonly MergeRule[]): {
  readonly slots: Uint32Array;
  readonly shape: TableShape;
} {
  const shape = shapeTable(merges.length);
  const slots = new Uint32Array(shape.capacity * 2).fill(EMPTY);
  for (const { left, right, rank } of merges) {
    let index = slotOf(hashPair(left, right), shape);
    while (slots[index * 2 + 1] !== EMPTY) index = (index + 1) % shape.capacity;
    slots[index * 2] = pairLow(left, right);
    slots[index * 2 + 1] = (right >>> 12) | (rank << 8);
  }
  return { slots, shape };
}

export interface JoinFilters {
  readonly joinBits: Uint32Array;
  readonly joinBitsShift: number;
  readonly crossBits: Uint32Array;
  readonly pairCount: number;
  readonly crossCount: number;
}

/** What may lie inside an entry: pairs of characters, and byte pairs where one of them is not whole. */
export function buildJoinFilters(entries: readonly { readonly bytes: Uint8Array }[]): JoinFilters {
  const pairs = new Set<number>();
  const crosses = new Set<number>();
  for (const { bytes } of entries) collectBoundaries(bytes, pairs, crosses);
  // Some sixteen bits a pair: one false alarm in sixteen boundaries.
  const bits = Math.min(22, Math.max(10, Math.ceil(Math.log2(pairs.size * 16 + 1))));
  const joinBitsShift = 32 - bits;
  const joinBits = new Uint32Array(2 ** (bits - 5));
  for (const pair of pairs) {
    const bit = joinBit(Math.floor(pair / 0x200000), pair % 0x200000, joinBitsShift);
    setBit(joinBits, bit);
  }
  const crossBits = new Uint32Array(0x10000 >> 5);
  for (const cross of crosses) setBit(crossBits, cross);
  return { joinBits, joinBitsShift, crossBits, pairCount: pairs.size, crossCount: crosses.size };
}

function setBit(words: Uint32Array, bit: number): void {
  words[bit >>> 5] = (words[bit >>> 5] ?? 0) | (1 << (bit & 31));
}

function collectBoundaries(bytes: Uint8Array, pairs: Set<number>, crosses: Set<number>): void {
  let leftStart = 0;
  let position = 1;
  while (position < bytes.length) {
    if (isContinuation(bytes[position])) {
      position++;
      continue;
    }
    const leftIsWhole = isWhole(bytes, leftStart, position);
    const length = characterLength(bytes[position] ?? 0);
    const rightIsWhole = isWhole(bytes, position, Math.min(bytes.length, position + length));
    if (leftIsWhole && rightIsWhole) {
      pairs.add(codePointAt(bytes, leftStart) * 0x200000 + codePointAt(bytes, position));
    } else {
      crosses.add(((bytes[position - 1] ?? 0) << 8) | (bytes[position] ?? 0));
    }
    leftStart = position;
    position++;
  }
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Whether these bytes are one whole character: a lead byte and as many continuation bytes as it asks for. */
function isWhole(bytes: Uint8Array, start: number, end: number): boolean {
  const lead = bytes[start] ?? 0;
  if (isContinuation(lead) || end - start !== characterLength(lead)) return false;
  for (let index = start + 1; index < end; index++) if (!isContinuation(bytes[index])) return false;
  return true;
}
