import { createByteAlphabet } from "../../../src/prompt/tokenizer/byte-alphabet.ts";
import { MAX_IDS, MAX_RANKS } from "../../../src/prompt/tokenizer/format.ts";
import {
  fallbackByte,
  tokenTextBytes,
  tokenTextFlags,
} from "../../../src/prompt/tokenizer/token-text.ts";
import type { Pipeline } from "./pipeline.ts";
import type { JsonObject } from "./tokenizer-json.ts";
import { UnsupportedTokenizerError } from "./unsupported-tokenizer-error.ts";

const alphabet = createByteAlphabet();

export interface VocabularyEntry {
  readonly id: number;
  /** As in the file. */
  readonly text: string;
  /** What decoding gives for it, and what the text to encode holds. */
  readonly bytes: Uint8Array;
  /** Whether a text can be this entry. */
  readonly isText: boolean;
  /** TOKEN_* bits. */
  readonly flags: number;
}

export interface MergeRule {
  readonly left: number;
  readonly right: number;
  readonly merged: number;
  readonly rank: number;
}

/** The model part of a tokenizer.json: a BPE vocabulary and its merges. */
export interface BpeModel {
  readonly entries: readonly VocabularyEntry[];
  readonly idOfText: ReadonlyMap<string, number>;
  /** By rank; of a pair that is listed twice only the last, as in Hugging Face's library. */
  readonly merges: readonly MergeRule[];
  readonly rankCount: number;
  readonly ignoreMerges: boolean;
  readonly unknownId: number | null;
  readonly fuseUnknown: boolean;
  readonly byteFallback: boolean;
}

/** @throws {UnsupportedTokenizerError} */
export function readModel(model: JsonObject, pipeline: Pipeline): BpeModel {
  checkOptions(model, pipeline);
  const idOfText = readVocabulary(model);
  const byteFallback = model.boolean("byte_fallback") ?? false;
  if (byteFallback && pipeline.symbols === "bytes") {
    throw new UnsupportedTokenizerError("byte_fallback in a byte-level vocabulary");
  }
  const entries: VocabularyEntry[] = [];
  for (const [text, id] of idOfText) entries.push(readEntry(text, id, pipeline));
  if (byteFallback) checkByteTokens(entries);
  const merges = readMerges(model, idOfText);
  checkMergedEntries(entries, merges);
  const unknown = model.string("unk_token");
  return {
    entries,
    idOfText,
    merges: [...merges.values()].sort((a, b) => a.rank - b.rank),
    rankCount: model.array("merges").length,
    ignoreMerges: model.boolean("ignore_merges") ?? false,
    unknownId: unknown === undefined ? null : (idOfText.get(unknown) ?? null),
    fuseUnknown: model.boolean("fuse_unk") ?? false,
    byteFallback,
  };
}

function checkOptions(model: JsonObject, pipeline: Pipeline): void {
  // Files older than the field hold BPE models when they have merges.
  if (model.type !== "BPE" && !(model.type === "" && model.get("merges") !== undefined)) {
    throw new UnsupportedTokenizerError(`model type "${model.type}"`);
  }
  for (const key of ["continuing_subword_prefix", "end_of_word_suffix"]) {
    const text = model.string(key) ?? "";
    if (text !== "") throw new UnsupportedTokenizerError(`${key} "${text}"`);
  }
  const dropout = model.number("dropout") ?? 0;
  if (dropout !== 0) throw new UnsupportedTokenizerError(`dropout ${dropout}`);
  const unknown = model.string("unk_token");
  if (unknown !== undefined && model.object("vocab")?.get(unknown) === undefined) {
    throw new UnsupportedTokenizerError(`unk_token "${unknown}" outside the vocabulary`);
  }
  if (pipeline.symbols === "characters" && (model.boolean("ignore_merges") ?? false)) {
    throw new UnsupportedTokenizerError("ignore_merges in a vocabulary of characters");
  }
}

function readVocabulary(model: JsonObject): Map<string, number> {
  const vocabulary = model.object("vocab");
  const idOfText = new Map<string, number>();
  const ids = new Set<number>();
  for (const [text, id] of vocabulary?.entries() ?? []) {
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0 || id >= MAX_IDS - 1) {
      throw new UnsupportedTokenizerError(
        `vocabulary entry ${JSON.stringify(text)} has id ${String(id)}`,
      );
    }
    if (ids.has(id)) throw new UnsupportedTokenizerError(`two vocabulary entries with id ${id}`);
    ids.add(id);
    idOfText.set(text, id);
  }
  if (idOfText.size === 0) throw new UnsupportedTokenizerError("an empty vocabulary");
  return idOfText;
}

/** A vocabulary entry or an added token. */
export function readEntry(text: string, id: number, pipeline: Pipeline): VocabularyEntry {
  const bytes = tokenTextBytes(text, pipeline.decoder, alphabet);
  const flags = tokenTextFlags(text, pipeline.decoder);
  // In characters, a text to encode holds no space of its own by the time it is merged: each is a "▁".
  const isText =
    text !== "" &&
    (pipeline.symbols === "bytes"
      ? alphabet.toBytes(text) !== undefined
      : !text.includes(" ") && fallbackByte(text) === undefined);
  return { id, text, bytes, isText, flags };
}

function checkByteTokens(entries: readonly VocabularyEntry[]): void {
  const names = new Set(entries.map((entry) => entry.text));
  for (let byte = 0; byte < 256; byte++) {
    const name = byteTokenText(byte);
    if (!names.has(name)) throw new UnsupportedTokenizerError(`byte_fallback without ${name}`);
  }
}

/** As the library looks a byte up. */
export function byteTokenText(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;
}

function readMerges(
  model: JsonObject,
  idOfText: ReadonlyMap<string, number>,
): Map<number, MergeRule> {
  const rules = new Map<number, MergeRule>();
  const list = model.array("merges");
  if (list.length >= MAX_RANKS) throw new UnsupportedTokenizerError(`${list.length} merges`);
  for (const [rank, item] of list.entries()) {
    const [leftText, rightText] = readMerge(item, rank);
    const left = idOfText.get(leftText);
    const right = idOfText.get(rightText);
    const merged = idOfText.get(leftText + rightText);
    if (left === undefined || right === undefined || merged === undefined) {
      throw new UnsupportedTokenizerError(`merge ${rank} of texts outside the vocabulary`);
    }
    rules.set(left * MAX_IDS + right, { left, right, merged, rank });
  }
  return rules;
}

function readMerge(item: unknown, rank: number): [string, string] {
  const parts: unknown = typeof item === "string" ? item.split(" ") : item;
  if (Array.isArray(parts) && parts.length === 2) {
    const [left, right]: unknown[] = parts;
    if (typeof left === "string" && typeof right === "string") return [left, right];
  }
  throw new UnsupportedTokenizerError(`merge ${rank}: ${JSON.stringify(item)}`);
}

/** Merges work on texts: an entry that no text can be must be in none. */
function checkMergedEntries(
  entries: readonly VocabularyEntry[],
  merges: ReadonlyMap<number, MergeRule>,
): void {
  const unreachable = new Map<number, string>();
  for (const entry of entries) if (!entry.isText) unreachable.set(entry.id, entry.text);
  for (const { left, right, merged, rank } of merges.values()) {
    const text = unreachable.get(left) ?? unreachable.get(right) ?? unreachable.get(merged);
    if (text !== undefined) {
      throw new UnsupportedTokenizerError(`merge ${rank} of the entry ${JSON.stringify(text)}`);
    }
  }
}
