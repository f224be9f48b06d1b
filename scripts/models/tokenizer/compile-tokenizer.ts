import {
  EMPTY,
  FORMAT_VERSION,
  MAGIC,
  MAX_IDS,
  PREAMBLE_BYTES,
  SECTIONS,
  TOKEN_SPECIAL,
} from "../../../src/prompt/tokenizer/format.ts";
import type { SectionName, TokenizerHeader } from "../../../src/prompt/tokenizer/format.ts";
import { planAddedTokens, readAddedTokens, textOfAddedToken } from "./added-token-list.ts";
import type { AddedToken } from "./added-token-list.ts";
import { buildClassTable } from "./class-table.ts";
import { findMergedEntries } from "./merged-entries.ts";
import { byteTokenText, readEntry, readModel } from "./model.ts";
import type { BpeModel, VocabularyEntry } from "./model.ts";
import { readPipeline } from "./pipeline.ts";
import type { Pipeline } from "./pipeline.ts";
import { readSpecialTokenFrame } from "./post-processor.ts";
import { buildJoinFilters, buildPairSlots, buildTokenSlots, markNotMerged } from "./tables.ts";
import { JsonObject } from "./tokenizer-json.ts";
import { UnsupportedTokenizerError } from "./unsupported-tokenizer-error.ts";

export { UnsupportedTokenizerError };

const utf8 = new TextEncoder();

/** What a compiled tokenizer holds, for people. */
export interface TokenizerSummary {
  readonly vocabSize: number;
  readonly symbols: "bytes" | "characters";
  readonly scanner: string;
  readonly decoder: string;
  readonly merges: number;
  readonly addedTokens: number;
  /** Entries that the merges do not make of their own text. */
  readonly notMerged: number;
  readonly prefixIds: readonly number[];
  readonly suffixIds: readonly number[];
}

/**
 * Compiles a model's tokenizer.json and tokenizer_config.json (`{}` or null when there is none) to the binary of
 * src/prompt/tokenizer/format.ts.
 *
 * @throws {UnsupportedTokenizerError} when the model asks for what the runtime cannot do exactly; the message says what
 */
export function compileTokenizer(
  tokenizerJson: unknown,
  tokenizerConfig: unknown,
): { readonly bytes: Uint8Array; readonly summary: TokenizerSummary } {
  const file = new JsonObject(tokenizerJson, "tokenizer.json");
  const config = new JsonObject(tokenizerConfig ?? {}, "tokenizer_config.json");
  const modelPart = file.object("model");
  if (modelPart === undefined) throw new UnsupportedTokenizerError("no model");
  if (modelPart.type !== "BPE" && modelPart.get("merges") === undefined) {
    throw new UnsupportedTokenizerError(`model type "${modelPart.type}"`);
  }
  const pipeline = readPipeline(file);
  const model = readModel(modelPart, pipeline);
  const added = readAddedTokens(file, config, model.idOfText);
  const frame = readSpecialTokenFrame(file, config, added);
  return build(model, { pipeline, added, frame });
}

interface Surroundings {
  readonly pipeline: Pipeline;
  readonly added: readonly AddedToken[];
  readonly frame: Pick<TokenizerHeader, "prefixIds" | "suffixIds">;
}

function build(
  model: BpeModel,
  surroundings: Surroundings,
): { readonly bytes: Uint8Array; readonly summary: TokenizerSummary } {
  const { pipeline, added, frame } = surroundings;
  const texts = listTexts(model.entries);
  const tokens = buildTokenSlots(texts);
  const pairs = buildPairSlots(model.merges);
  const joins = buildJoinFilters(texts);
  const layout = layOutTokens(model, surroundings);
  const classTable = buildClassTable();
  const planned = planAddedTokens(added, pipeline.normalizer);
  const header: TokenizerHeader = {
    vocabSize: layout.tokenFlags.length,
    symbols: pipeline.symbols,
    ignoreMerges: model.ignoreMerges,
    unknownId: model.unknownId,
    fuseUnknown: model.fuseUnknown,
    normalizer: pipeline.normalizer,
    spacesAreLetters: pipeline.spacesAreLetters,
    prependSpace: pipeline.prependSpace,
    foldsMetaspace: pipeline.foldsMetaspace,
    sections: pipeline.sections,
    scanner: pipeline.scanner,
    addedTokens: planned.raw,
    normalizedAddedTokens: planned.normalized,
    prefixIds: frame.prefixIds,
    suffixIds: frame.suffixIds,
    decoder: pipeline.decoder,
    tokenTable: tokens.shape,
    pairTable: pairs.shape,
    joinBitsShift: joins.joinBitsShift,
    longestEntry: texts.reduce((longest, entry) => Math.max(longest, entry.bytes.length), 0),
  };
  const mergedIds = new Uint32Array(model.rankCount);
  for (const rule of model.merges) mergedIds[rule.rank] = rule.merged;
  const sections: Record<SectionName, Uint8Array | Uint16Array | Uint32Array> = {
    header: utf8.encode(JSON.stringify(header)),
    ...layout,
    tokenSlots: tokens.slots,
    pairSlots: pairs.slots,
    mergedIds,
    startIds: buildStartIds(model, pipeline),
    joinBits: joins.joinBits,
    crossBits: joins.crossBits,
    byteRanks: buildByteRanks(model, pipeline),
    addedIds: planned.ids,
    addedStarts: planned.starts,
    classStarts: classTable.starts,
    classBlocks: classTable.blocks,
  };
  const merged = findMergedEntries(writeSections(sections), texts);
  const notMerged = markNotMerged(tokens.slots, (id) => merged.has(id));
  return {
    bytes: writeSections(sections),
    summary: {
      vocabSize: header.vocabSize,
      symbols: header.symbols,
      scanner: header.scanner.kind,
      decoder: header.decoder.kind,
      merges: model.merges.length,
      addedTokens: added.length,
      notMerged,
      prefixIds: header.prefixIds,
      suffixIds: header.suffixIds,
    },
  };
}

/** The entries that a text can be. Of two with the same bytes ("▁a" and " a") the file's reader kept only one. */
function listTexts(entries: readonly VocabularyEntry[]): VocabularyEntry[] {
  return entries.filter((entry) => entry.isText);
}

function layOutTokens(
  model: BpeModel,
  { pipeline, added }: Surroundings,
): { tokenOffsets: Uint32Array; tokenBytes: Uint8Array; tokenFlags: Uint8Array } {
  const bytesOfId: (Uint8Array | undefined)[] = [];
  const flags: number[] = [];
  const set = (entry: VocabularyEntry): void => {
    bytesOfId[entry.id] = entry.bytes;
    flags[entry.id] = entry.flags;
  };
  for (const entry of model.entries) set(entry);
  for (const token of added) {
    if (token.id >= MAX_IDS - 1)
      throw new UnsupportedTokenizerError(`added token with id ${token.id}`);
    if (!model.idOfText.has(token.content)) {
      set(readEntry(textOfAddedToken(token, pipeline.normalizer), token.id, pipeline));
    }
    if (token.isSpecial) flags[token.id] = (flags[token.id] ?? 0) | TOKEN_SPECIAL;
  }
  const vocabSize = bytesOfId.length;
  const tokenOffsets = new Uint32Array(vocabSize + 1);
  for (let id = 0; id < vocabSize; id++) {
    tokenOffsets[id + 1] = (tokenOffsets[id] ?? 0) + (bytesOfId[id]?.length ?? 0);
  }
  const tokenBytes = new Uint8Array(tokenOffsets[vocabSize] ?? 0);
  const tokenFlags = new Uint8Array(vocabSize);
  for (let id = 0; id < vocabSize; id++) {
    tokenBytes.set(bytesOfId[id] ?? [], tokenOffsets[id]);
    tokenFlags[id] = flags[id] ?? 0;
  }
  return { tokenOffsets, tokenBytes, tokenFlags };
}

function buildStartIds(model: BpeModel, pipeline: Pipeline): Uint32Array {
  const startIds = new Uint32Array(256).fill(EMPTY);
  if (pipeline.symbols === "bytes") {
    for (const entry of model.entries) {
      if (entry.isText && entry.bytes.length === 1) startIds[entry.bytes[0] ?? 0] = entry.id;
    }
  } else if (model.byteFallback) {
    for (let byte = 0; byte < 256; byte++) {
      startIds[byte] = model.idOfText.get(byteTokenText(byte)) ?? EMPTY;
    }
  }
  return startIds;
}

/** Ranks of pairs of symbols that are single bytes, or ASCII characters. */
function buildByteRanks(model: BpeModel, pipeline: Pipeline): Uint32Array {
  const byteOfId = new Map<number, number>();
  for (const { id, bytes, isText } of model.entries) {
    const [byte = 0] = bytes;
    const isSymbol = pipeline.symbols === "bytes" || byte < 0x80;
    if (isText && bytes.length === 1 && isSymbol) byteOfId.set(id, byte);
  }
  const ranks = new Uint32Array(0x10000).fill(EMPTY);
  for (const { left, right, rank } of model.merges) {
    const leftByte = byteOfId.get(left);
    const rightByte = byteOfId.get(right);
    if (leftByte !== undefined && rightByte !== undefined)
      ranks[(leftByte << 8) | rightByte] = rank;
  }
  return ranks;
}

function writeSections(
  sections: Readonly<Record<SectionName, Uint8Array | Uint16Array | Uint32Array>>,
): Uint8Array {
  const aligned = (length: number): number => Math.ceil(length / 8) * 8;
  const preamble = aligned(PREAMBLE_BYTES + 8 * SECTIONS.length);
  const total = SECTIONS.reduce((sum, name) => sum + aligned(sections[name].byteLength), preamble);
  const bytes = new Uint8Array(total);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, FORMAT_VERSION, true);
  view.setUint32(8, SECTIONS.length, true);
  let offset = preamble;
  for (const [index, name] of SECTIONS.entries()) {
    const section = sections[name];
    view.setUint32(PREAMBLE_BYTES + 8 * index, offset, true);
    view.setUint32(PREAMBLE_BYTES + 8 * index + 4, section.byteLength, true);
    bytes.set(new Uint8Array(section.buffer, section.byteOffset, section.byteLength), offset);
    offset += aligned(section.byteLength);
  }
  return bytes;
}
