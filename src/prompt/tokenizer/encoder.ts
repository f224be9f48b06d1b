import { AddedTokenMatcher, TEXT_START } from "./added-tokens.ts";
import { characterLength, classifyBytes, codePointAt } from "./character-classes.ts";
import { EMPTY, hashBytes, ID_MASK, SLOT_NOT_MERGED } from "./format.ts";
import type { TokenizerHeader } from "./format.ts";
import { normalize } from "./normalize.ts";
import { MOST_CACHED_BYTES, MOST_CACHED_TOKENS, PieceCache } from "./piece-cache.ts";
import { createScanner, createSectionScanner } from "./scanners.ts";
import type { Scanner } from "./scanners.ts";
import { NO_ID } from "./vocabulary.ts";
import type { Vocabulary } from "./vocabulary.ts";
import { Workspace } from "./workspace.ts";

/** What one step of merging a long piece costs, in bytes of ordinary text. */
const MERGE_STEP_COST = 8;

/** Text to ids, for one vocabulary. */
export class Encoder {
  readonly #vocabulary: Vocabulary;
  readonly #header: TokenizerHeader;
  readonly #rawTokens: AddedTokenMatcher;
  readonly #normalizedTokens: AddedTokenMatcher;
  readonly #scan: Scanner;
  readonly #section: Scanner | undefined;
  readonly #usesClasses: boolean;
  /** Bytes of the longest part that may be an entry or in the cache. */
  readonly #longestKnown: number;
  readonly #startsFromBytes: boolean;
  /**
   * Whether pieces are cut where no entry joins two characters. Not where a character may be left out or be unknown:
   * then its neighbours may meet.
   */
  readonly #cutsPieces: boolean;
  readonly #asciiIds: Int32Array;
  readonly #cache = new PieceCache();
  readonly #workspace: Workspace;

  constructor(vocabulary: Vocabulary) {
    const { header } = vocabulary;
    this.#vocabulary = vocabulary;
    this.#header = header;
    this.#rawTokens = new AddedTokenMatcher(vocabulary.addedTokens, false);
    this.#normalizedTokens = new AddedTokenMatcher(
      vocabulary.normalizedAddedTokens,
      header.spacesAreLetters,
    );
    this.#scan = createScanner(header.scanner);
    this.#section = createSectionScanner(header.sections);
    const scansClasses = header.scanner.kind !== "whole" && header.scanner.kind !== "spaces";
    this.#usesClasses = scansClasses || this.#section !== undefined;
    this.#longestKnown = Math.max(header.longestEntry, MOST_CACHED_BYTES);
    this.#startsFromBytes = header.symbols === "bytes";
    this.#cutsPieces = true;
    for (let byte = 0; byte < 256; byte++) {
      if (vocabulary.startId(byte) === NO_ID) this.#cutsPieces = false;
    }
    this.#asciiIds = new Int32Array(128);
    for (let byte = 0; byte < 128; byte++) {
      this.#asciiIds[byte] = this.#startsFromBytes
        ? vocabulary.startId(byte)
        : vocabulary.idOfBytes(Uint8Array.of(byte), 0, 1, true);
    }
    this.#workspace = new Workspace(vocabulary);
  }

  encode(text: string, addSpecialTokens: boolean): Uint32Array {
    const steps = this.#run(text, {
      addSpecialTokens,
      budget: Infinity,
      workspace: this.#workspace,
    });
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  }

  /** The same in steps of about `budget` bytes of text; other encodes may run between two steps. */
  steps(
    text: string,
    options: { readonly addSpecialTokens: boolean; readonly budget: number },
  ): Generator<undefined, Uint32Array> {
    return this.#run(text, { ...options, workspace: new Workspace(this.#vocabulary) });
  }

  *#run(
    source: string,
    options: {
      readonly addSpecialTokens: boolean;
      readonly budget: number;
      readonly workspace: Workspace;
    },
  ): Generator<undefined, Uint32Array> {
    const { workspace, budget, addSpecialTokens } = options;
    const { prefixIds, suffixIds } = this.#header;
    const text = source.toWellFormed();
    let left = budget;
    if (addSpecialTokens) workspace.pushAll(prefixIds, 0, prefixIds.length);
    for (const stretch of this.#stretches(text, workspace)) {
      this.#load(stretch, workspace);
      for (;;) {
        left = this.#advance(workspace, left);
        if (left > 0) break;
        yield undefined;
        left = budget;
      }
    }
    if (addSpecialTokens) workspace.pushAll(suffixIds, 0, suffixIds.length);
    return workspace.take();
  }

  /** The normalized stretches between added tokens, whose ids are pushed in between. */
  *#stretches(text: string, workspace: Workspace): Generator<string> {
    let previous = TEXT_START;
    for (;;) {
      const match = this.#rawTokens.next(text, previous);
      const start = match?.start ?? text.length;
      if (start > previous.end) {
        const isWhole = previous.end === 0 && start === text.length;
        const raw = isWhole ? text : text.slice(previous.end, start);
        yield* this.#normalizedStretches(raw, previous.end === 0, workspace);
      }
      if (match === undefined) return;
      workspace.push(match.id);
      previous = match;
    }
  }

  *#normalizedStretches(raw: string, isFirst: boolean, workspace: Workspace): Generator<string> {
    const text = normalize(raw, this.#header.normalizer);
    let previous = TEXT_START;
    for (;;) {
      const match = this.#normalizedTokens.next(text, previous);
      const start = match?.start ?? text.length;
      if (start > previous.end) {
        yield this.#withSpace(text.slice(previous.end, start), isFirst && previous.end === 0);
      }
      if (match === undefined) return;
      workspace.push(match.id);
      previous = match;
    }
  }

  #withSpace(text: string, isFirst: boolean): string {
    const { prependSpace, foldsMetaspace } = this.#header;
    const folded = foldsMetaspace ? text.replaceAll("\u2581", " ") : text;
    const prepends = prependSpace === "always" || (prependSpace === "first" && isFirst);
    return prepends && !folded.startsWith(" ") ? ` ${folded}` : folded;
  }

  #load(stretch: string, workspace: Workspace): void {
    workspace.load(stretch);
    if (!this.#usesClasses) return;
    const { bytes, classes, end } = workspace;
    classifyBytes(this.#vocabulary.classTable, bytes, classes, end);
  }

  /** Works on the loaded stretch until it is done or the budget is used; returns what is left, 0 only if not done. */
  #advance(workspace: Workspace, budget: number): number {
    let left = budget;
    while (workspace.position < workspace.end) {
      if (left <= 0) return 0;
      const from = workspace.position;
      if (workspace.isMerging) left -= this.#continueMerge(workspace, left);
      else if (from < workspace.pieceEnd) this.#nextPart(workspace);
      else this.#nextPiece(workspace);
      left -= workspace.position - from;
    }
    return Math.max(left, 1);
  }

  /** Scans one piece; pushes it when it is an entry, else leaves it to `#nextPart`. */
  #nextPiece(workspace: Workspace): void {
    const { bytes, classes, position } = workspace;
    if (position >= workspace.sectionEnd) {
      workspace.sectionEnd =
        this.#section === undefined
          ? workspace.end
          : this.#section(bytes, classes, position, workspace.end);
    }
    const pieceEnd = this.#scan(bytes, classes, position, workspace.sectionEnd);
    workspace.pieceEnd = pieceEnd;
    if (pieceEnd - position > this.#longestKnown) return;
    const id = this.#vocabulary.idOfBytes(bytes, position, pieceEnd, this.#header.ignoreMerges);
    if (id === NO_ID) return;
    workspace.push(id);
    workspace.position = pieceEnd;
  }

  /** The next part of a piece that no entry joins to what follows: an entry of its own, or merged. */
  #nextPart(workspace: Workspace): void {
    const { bytes, position, merger } = workspace;
    const partEnd = this.#partEnd(bytes, position, workspace.pieceEnd);
    const length = partEnd - position;
    const hash = length <= this.#longestKnown ? hashBytes(bytes, position, partEnd) : 0;
    if (length <= this.#longestKnown && this.#pushKnown(workspace, hash, partEnd)) {
      workspace.position = partEnd;
      return;
    }
    merger.reserve(length);
    const count = this.#startsFromBytes
      ? this.#byteSymbols(workspace, partEnd)
      : this.#characterSymbols(workspace, partEnd);
    if (merger.isLong(count)) {
      merger.begin(count);
      workspace.isMerging = true;
      workspace.partEnd = partEnd;
      return;
    }
    workspace.position = partEnd;
    if (count === 0) return;
    const left = merger.merge(count);
    workspace.pushAll(merger.symbols, 0, left);
    if (length <= MOST_CACHED_BYTES && left <= MOST_CACHED_TOKENS) {
      this.#cache.add(hash, bytes.subarray(position, partEnd), merger.symbols, left);
    }
  }

  /** Pushes the tokens of a part that is an entry or was merged not long ago. */
  #pushKnown(workspace: Workspace, hash: number, end: number): boolean {
    const { bytes, position } = workspace;
    const slot = this.#vocabulary.slotOfBytes(hash, bytes, position, end);
    if (slot !== EMPTY && (slot & SLOT_NOT_MERGED) === 0) {
      workspace.push(slot & ID_MASK);
      return true;
    }
    if (end - position > MOST_CACHED_BYTES) return false;
    const cache = this.#cache;
    const place = cache.find(hash, bytes, position, end);
    if (place < 0) return false;
    workspace.pushAll(cache.tokens, cache.startAt(place), cache.countAt(place));
    return true;
  }

  #partEnd(bytes: Uint8Array, start: number, end: number): number {
    if (!this.#cutsPieces) return end;
    let left = codePointAt(bytes, start);
    let position = start + characterLength(bytes[start] ?? 0);
    while (position < end) {
      const lead = bytes[position] ?? 0;
      const right = codePointAt(bytes, position);
      const skipsTest = this.#startsFromBytes && left < 0x80 && right < 0x80;
      if (!skipsTest && !this.#vocabulary.mayJoin(left, right, bytes[position - 1] ?? 0, lead)) {
        return position;
      }
      left = right;
      position += characterLength(lead);
    }
    return end;
  }

  /** Merges a long part; returns what it cost. */
  #continueMerge(workspace: Workspace, budget: number): number {
    const { merger } = workspace;
    const steps = Math.max(1, Math.ceil(budget / MERGE_STEP_COST));
    if (!merger.advance(steps)) return steps * MERGE_STEP_COST;
    const count = merger.finish();
    workspace.pushAll(merger.symbols, 0, count);
    workspace.isMerging = false;
    workspace.position = workspace.partEnd;
    return 0;
  }

  #byteSymbols(workspace: Workspace, end: number): number {
    const { bytes, position } = workspace;
    const { symbols, ranks } = workspace.merger;
    const vocabulary = this.#vocabulary;
    if (!this.#cutsPieces) return this.#sparseByteSymbols(workspace, end);
    const last = end - 1;
    let count = 0;
    for (let index = position; index < last; index++) {
      const byte = bytes[index] ?? 0;
      symbols[count] = vocabulary.startId(byte);
      ranks[count++] = vocabulary.rankOfBytes(byte, bytes[index + 1] ?? 0);
    }
    symbols[count++] = vocabulary.startId(bytes[last] ?? 0);
    return count;
  }

  /** Where the vocabulary lacks some bytes. */
  #sparseByteSymbols(workspace: Workspace, end: number): number {
    const { bytes, position, merger } = workspace;
    const { symbols } = merger;
    let count = 0;
    for (let index = position; index < end; index++) {
      const id = this.#vocabulary.startId(bytes[index] ?? 0);
      if (id === NO_ID) count = this.#addUnknown(symbols, count);
      else symbols[count++] = id;
    }
    merger.rankPairs(count);
    return count;
  }

  #characterSymbols(workspace: Workspace, end: number): number {
    const { bytes, merger } = workspace;
    const { symbols } = merger;
    let count = 0;
    let next = 0;
    for (let index = workspace.position; index < end; index = next) {
      const lead = bytes[index] ?? 0;
      next = index + characterLength(lead);
      const id =
        lead < 0x80
          ? (this.#asciiIds[lead] ?? NO_ID)
          : this.#vocabulary.idOfBytes(bytes, index, next, true);
      if (id !== NO_ID) symbols[count++] = id;
      else if (this.#vocabulary.startId(lead) === NO_ID) count = this.#addUnknown(symbols, count);
      else count = this.#addFallback(symbols, count, bytes.subarray(index, next));
    }
    merger.rankPairs(count);
    return count;
  }

  #addFallback(symbols: Int32Array, count: number, character: Uint8Array): number {
    let end = count;
    for (const byte of character) symbols[end++] = this.#vocabulary.startId(byte);
    return end;
  }

  #addUnknown(symbols: Int32Array, count: number): number {
    const { unknownId, fuseUnknown } = this.#header;
    if (unknownId === null || (fuseUnknown && count > 0 && symbols[count - 1] === unknownId))
      return count;
    symbols[count] = unknownId;
    return count + 1;
  }
}
