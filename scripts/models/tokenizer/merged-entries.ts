import { characterLength } from "../../../src/prompt/tokenizer/character-classes.ts";
import { Merger } from "../../../src/prompt/tokenizer/merges.ts";
import { NO_ID, Vocabulary } from "../../../src/prompt/tokenizer/vocabulary.ts";
import type { VocabularyEntry } from "./model.ts";

/**
 * The ids of the entries that the merges make of their own text, found with the runtime's own merging over a compiled
 * file: only those may stand for a piece, or a part of one, without merging it.
 */
export function findMergedEntries(
  compiled: Uint8Array,
  entries: readonly VocabularyEntry[],
): ReadonlySet<number> {
  const vocabulary = new Vocabulary(Uint8Array.from(compiled).buffer);
  const merger = new Merger(vocabulary);
  const merged = new Set<number>();
  for (const { id, bytes } of entries) {
    merger.reserve(bytes.length);
    const count = writeSymbols(vocabulary, bytes, merger.symbols);
    if (count !== undefined) merger.rankPairs(count);
    if (count !== undefined && mergeAll(merger, count) === 1 && merger.symbols[0] === id)
      merged.add(id);
  }
  return merged;
}

/** Undefined when a character has no symbol of its own. */
function writeSymbols(
  vocabulary: Vocabulary,
  bytes: Uint8Array,
  symbols: Int32Array,
): number | undefined {
  const byBytes = vocabulary.header.symbols === "bytes";
  let count = 0;
  let position = 0;
  while (position < bytes.length) {
    const lead = bytes[position] ?? 0;
    const next = byBytes ? position + 1 : position + characterLength(lead);
    const id = byBytes
      ? vocabulary.startId(lead)
      : vocabulary.idOfBytes(bytes, position, next, true);
    if (id === NO_ID) return undefined;
    symbols[count++] = id;
    position = next;
  }
  return count;
}

function mergeAll(merger: Merger, count: number): number {
  if (!merger.isLong(count)) return merger.merge(count);
  merger.begin(count);
  while (!merger.advance(Infinity)) continue;
  return merger.finish();
}
