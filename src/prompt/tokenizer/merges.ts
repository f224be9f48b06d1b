import { NO_RANK } from "./vocabulary.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Pieces of up to this many symbols are merged by scanning, longer ones by a heap. */
const MOST_SCANNED = 96;
/** Symbols that the arrays for long pieces keep room for between pieces. */
const KEPT_SYMBOLS = 16_384;
/** A heap entry is `rank * POSITIONS + position`, exact in a double: ranks are below 2^24, positions below 2^29. */
const POSITIONS = 2 ** 29;

/**
 * Byte-pair merging of one piece: of all neighbouring symbols the pair of the lowest rank merges first, of equal ranks
 * the leftmost. The caller writes the piece's symbols and the ranks of its pairs, and takes the tokens from `symbols`.
 */
export class Merger {
  readonly #vocabulary: Vocabulary;
  readonly #long: LongPiece;
  symbols = new Int32Array(256);
  /** `ranks[i]` is the rank of the pair of `symbols[i]` and the next, or NO_RANK. */
  ranks = new Int32Array(256);

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
    this.#long = new LongPiece(vocabulary);
  }

  /** Makes room for a piece of so many symbols; what was in the arrays is lost. */
  reserve(count: number): void {
    if (count > this.symbols.length) this.#allocate(Math.max(count, 2 * this.symbols.length));
  }

  /** Looks up the ranks of all pairs. */
  rankPairs(count: number): void {
    const { symbols, ranks } = this;
    for (let index = 0; index + 1 < count; index++) {
      ranks[index] = this.#vocabulary.rankOf(symbols[index] ?? 0, symbols[index + 1] ?? 0);
    }
  }

  /** Whether a piece of this many symbols is merged in steps (`begin`, `advance`) rather than at once (`merge`). */
  isLong(count: number): boolean {
    return count > MOST_SCANNED;
  }

  /** Merges `count` symbols, at most MOST_SCANNED; returns how many are left. */
  merge(count: number): number {
    const vocabulary = this.#vocabulary;
    const { symbols, ranks } = this;
    let pairs = count - 1;
    while (pairs > 0) {
      const at = lowestIndex(ranks, pairs);
      const rank = ranks[at] ?? NO_RANK;
      if (rank === NO_RANK) break;
      const merged = vocabulary.mergedId(rank);
      symbols[at] = merged;
      if (at > 0) ranks[at - 1] = vocabulary.rankOf(symbols[at - 1] ?? 0, merged);
      pairs--;
      if (at === pairs) continue;
      removeNext(symbols, ranks, at, pairs);
      ranks[at] = vocabulary.rankOf(merged, symbols[at + 1] ?? 0);
    }
    return pairs + 1;
  }

  /** Starts on a long piece. */
  begin(count: number): void {
    this.#long.begin(this.symbols, this.ranks, count);
  }

  /** Goes on with it for some steps; whether it is done, so that `finish` may be called. */
  advance(steps: number): boolean {
    return this.#long.advance(steps);
  }

  /** Writes the long piece's tokens to `symbols`; returns how many. */
  finish(): number {
    const count = this.#long.finish(this.symbols);
    if (this.symbols.length > KEPT_SYMBOLS) {
      const kept = this.symbols.subarray(0, count);
      this.#allocate(Math.max(count, KEPT_SYMBOLS));
      this.symbols.set(kept);
    }
    return count;
  }

  #allocate(length: number): void {
    this.symbols = new Int32Array(length);
    this.ranks = new Int32Array(length);
  }
}

/** The first of the lowest ranks. */
function lowestIndex(ranks: Int32Array, pairs: number): number {
  let lowest = ranks[0] ?? NO_RANK;
  let at = 0;
  for (let index = 1; index < pairs; index++) {
    const rank = ranks[index] ?? NO_RANK;
    if (rank < lowest) {
      lowest = rank;
      at = index;
    }
  }
  return at;
}

/** Takes out the symbol after `at` and the rank at `at`; `pairs` is the number of pairs left. */
function removeNext(symbols: Int32Array, ranks: Int32Array, at: number, pairs: number): void {
  for (let index = at; index < pairs; index++) {
    ranks[index] = ranks[index + 1] ?? NO_RANK;
    symbols[index + 1] = symbols[index + 2] ?? 0;
  }
}

/** A linked list of symbols and a binary heap of pairs: O(n log n). */
class LongPiece {
  readonly #vocabulary: Vocabulary;
  #symbols = new Int32Array(0);
  #next = new Int32Array(0);
  #previous = new Int32Array(0);
  /** The rank of each symbol with the one after it; tells heap entries that are out of date. */
  #ranks = new Int32Array(0);
  #heap = new Float64Array(0);
  #heapSize = 0;

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary;
  }

  begin(symbols: Int32Array, pairRanks: Int32Array, count: number): void {
    this.#reserve(count);
    const ranks = this.#ranks;
    this.#symbols.set(symbols.subarray(0, count));
    this.#heapSize = 0;
    for (let index = 0; index < count; index++) {
      this.#next[index] = index + 1;
      this.#previous[index] = index - 1;
      const rank = index + 1 === count ? NO_RANK : (pairRanks[index] ?? NO_RANK);
      ranks[index] = rank;
      if (rank !== NO_RANK) this.#heap[this.#heapSize++] = rank * POSITIONS + index;
    }
    this.#next[count - 1] = -1;
    for (let index = (this.#heapSize >> 1) - 1; index >= 0; index--) {
      this.#siftDown(index, this.#heap[index] ?? 0);
    }
  }

  advance(steps: number): boolean {
    const ranks = this.#ranks;
    for (let step = 0; step < steps; step++) {
      if (this.#heapSize === 0) return true;
      const entry = this.#pop();
      const rank = Math.floor(entry / POSITIONS);
      const position = entry - rank * POSITIONS;
      if (ranks[position] === rank) this.#mergeAt(position, rank);
    }
    return this.#heapSize === 0;
  }

  finish(target: Int32Array): number {
    let count = 0;
    for (let index = 0; index >= 0; index = this.#next[index] ?? -1) {
      target[count++] = this.#symbols[index] ?? 0;
    }
    if (this.#symbols.length > KEPT_SYMBOLS) this.#allocate(KEPT_SYMBOLS);
    return count;
  }

  #mergeAt(position: number, rank: number): void {
    const next = this.#next;
    const ranks = this.#ranks;
    const symbols = this.#symbols;
    const gone = next[position] ?? 0;
    const after = next[gone] ?? -1;
    const merged = this.#vocabulary.mergedId(rank);
    symbols[position] = merged;
    next[position] = after;
    ranks[gone] = NO_RANK;
    ranks[position] = NO_RANK;
    if (after >= 0) {
      this.#previous[after] = position;
      this.#setRank(position, this.#vocabulary.rankOf(merged, symbols[after] ?? 0));
    }
    const before = this.#previous[position] ?? -1;
    if (before >= 0) this.#setRank(before, this.#vocabulary.rankOf(symbols[before] ?? 0, merged));
  }

  #setRank(position: number, rank: number): void {
    this.#ranks[position] = rank;
    if (rank !== NO_RANK) this.#push(rank * POSITIONS + position);
  }

  #push(entry: number): void {
    const heap = this.#heap;
    let index = this.#heapSize++;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] ?? 0;
      if (above <= entry) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  #pop(): number {
    const top = this.#heap[0] ?? 0;
    const last = this.#heap[--this.#heapSize] ?? 0;
    if (this.#heapSize > 0) this.#siftDown(0, last);
    return top;
  }

  #siftDown(start: number, entry: number): void {
    const heap = this.#heap;
    const size = this.#heapSize;
    let index = start;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= size) break;
      if (child + 1 < size && (heap[child + 1] ?? 0) < (heap[child] ?? 0)) child++;
      const below = heap[child] ?? 0;
      if (below >= entry) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = entry;
  }

  #reserve(count: number): void {
    if (this.#symbols.length < count) this.#allocate(Math.max(count, KEPT_SYMBOLS));
  }

  /** A piece of n symbols has at most n - 1 pairs at first and gains at most one entry more for each of its merges. */
  #allocate(count: number): void {
    this.#symbols = new Int32Array(count);
    this.#next = new Int32Array(count);
    this.#previous = new Int32Array(count);
    this.#ranks = new Int32Array(count);
    this.#heap = new Float64Array(2 * count);
  }
}
