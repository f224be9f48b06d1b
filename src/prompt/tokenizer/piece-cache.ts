/** Pieces that the cache holds; a power of two. */
const ENTRIES = 4096;
/** The longest piece that is kept, in bytes, and the most tokens of one. */
export const MOST_CACHED_BYTES = 32;
export const MOST_CACHED_TOKENS = 12;

/**
 * The tokens of pieces that had to be merged, so that a word that comes again is not merged again. A piece has one place,
 * by its hash; a newer one takes it over. About 350 KB.
 */
export class PieceCache {
  readonly #hashes = new Int32Array(ENTRIES);
  /** 0: the place is free. */
  readonly #lengths = new Uint8Array(ENTRIES);
  readonly #bytes = new Uint8Array(ENTRIES * MOST_CACHED_BYTES);
  readonly #counts = new Uint8Array(ENTRIES);
  /** Each place's tokens. */
  readonly tokens = new Int32Array(ENTRIES * MOST_CACHED_TOKENS);

  /** The place of a piece, or -1. */
  find(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const place = placeOf(hash);
    if (this.#hashes[place] !== hash || this.#lengths[place] !== end - start) return -1;
    const from = place * MOST_CACHED_BYTES - start;
    for (let index = start; index < end; index++) {
      if (this.#bytes[from + index] !== bytes[index]) return -1;
    }
    return place;
  }

  countAt(place: number): number {
    return this.#counts[place] ?? 0;
  }

  /** Where a place's tokens begin in `tokens`. */
  startAt(place: number): number {
    return place * MOST_CACHED_TOKENS;
  }

  /** Keeps a piece of at most MOST_CACHED_BYTES bytes that became at most MOST_CACHED_TOKENS tokens. */
  add(hash: number, piece: Uint8Array, tokens: Int32Array, count: number): void {
    const place = placeOf(hash);
    this.#hashes[place] = hash;
    this.#lengths[place] = piece.length;
    this.#counts[place] = count;
    this.#bytes.set(piece, place * MOST_CACHED_BYTES);
    const from = place * MOST_CACHED_TOKENS;
    for (let index = 0; index < count; index++) this.tokens[from + index] = tokens[index] ?? 0;
  }
}

function placeOf(hash: number): number {
  return (hash >>> 8) & (ENTRIES - 1);
}
