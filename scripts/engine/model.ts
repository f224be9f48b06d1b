import { isRecord, modelNameOf, openModelFiles } from "./model-files.ts";
import type { ModelFiles } from "./model-files.ts";
import type { EngineOptions } from "./options.ts";
import { openTextCodec } from "./text-codec.ts";
import type { TextCodec } from "./text-codec.ts";

/** Everything that the engine says about its model. Text needs the vocabulary, which is loaded when first asked for. */
export interface EngineModel {
  readonly files: ModelFiles | undefined;
  readonly modelPath: string;
  readonly servedModelName: string;
  readonly contextLength: number;
  readonly maxReqInputLen: number;
  /** Longest prompt and reply together. */
  readonly maxReqLen: number;
  vocabSize(): number;
  readonly eosTokenIds: readonly number[];
  /** The one that ends a chat turn; undefined when nobody told. */
  readonly turnEndId: number | undefined;
  readonly bosTokenId: number;
  readonly padTokenId: number;
  readonly modelType: string;
  readonly architectures: readonly string[];
  /** undefined without a tokenizer. */
  codec(): TextCodec | undefined;
}

const DEFAULT_CONTEXT_LENGTH = 32_768;
const DEFAULT_VOCAB_SIZE = 32_000;

export function describeModel(options: EngineOptions): EngineModel {
  const files = options.tokenizer === undefined ? undefined : openModelFiles(options.tokenizer);
  const codec = () => (files === undefined ? undefined : openTextCodec(files));
  const modelPath = options.model ?? (files === undefined ? "simulated-model" : modelNameOf(files));
  const contextLength = options.contextLength ?? contextLengthOf(files);
  const maxReqLen = Math.min(contextLength, options.maxTotalTokens) - 1;
  const ends = endIdsOf(options, files, codec);
  return {
    files,
    modelPath,
    servedModelName: options.servedModelName ?? modelPath,
    contextLength,
    maxReqLen,
    maxReqInputLen: options.maxReqInputLen ?? maxReqLen - 5,
    vocabSize: () => options.vocabSize ?? codec()?.vocabSize ?? DEFAULT_VOCAB_SIZE,
    eosTokenIds: ends.all,
    turnEndId: ends.turnEnd,
    bosTokenId: tokenIdOf(files, codec, "bos_token") ?? 0,
    padTokenId: tokenIdOf(files, codec, "pad_token") ?? 0,
    modelType: stringOf(files?.config["model_type"]) ?? "",
    architectures: stringsOf(files?.config["architectures"]),
    codec,
  };
}

function contextLengthOf(files: ModelFiles | undefined): number {
  const textConfig = files?.config["text_config"];
  const told = [
    files?.config["max_position_embeddings"],
    isRecord(textConfig) ? textConfig["max_position_embeddings"] : undefined,
    files?.tokenizerConfig["model_max_length"],
  ];
  // Tokenizers without a limit of their own say 1e30.
  const length = told.find((value) => typeof value === "number" && value >= 16 && value < 1e9);
  return typeof length === "number" ? Math.floor(length) : DEFAULT_CONTEXT_LENGTH;
}

type CodecSource = () => TextCodec | undefined;

function endIdsOf(options: EngineOptions, files: ModelFiles | undefined, codec: CodecSource) {
  const named = tokenIdOf(files, codec, "eos_token");
  const fromFiles = [
    ...numbersOf(files?.generationConfig["eos_token_id"]),
    ...numbersOf(files?.config["eos_token_id"]),
    ...(named === undefined ? [] : [named]),
  ];
  const all = [...new Set(options.eosTokenIds ?? fromFiles)];
  // generation_config lists several; what an instruction model writes at the end of a turn is its tokenizer's.
  const turnEnd = named !== undefined && all.includes(named) ? named : all[0];
  return { all, turnEnd };
}

function tokenIdOf(files: ModelFiles | undefined, codec: CodecSource, key: string) {
  const written = files?.tokenizerConfig[key];
  const text = isRecord(written) ? stringOf(written["content"]) : stringOf(written);
  if (text === undefined) return undefined;
  return addedTokenId(files, text) ?? codec()?.idOf(text);
}

/** tokenizer_config.json lists the added tokens with their ids, which spares loading the vocabulary for them. */
function addedTokenId(files: ModelFiles | undefined, text: string): number | undefined {
  const added = files?.tokenizerConfig["added_tokens_decoder"];
  if (!isRecord(added)) return undefined;
  const entry = Object.entries(added).find(
    ([, token]) => isRecord(token) && token["content"] === text,
  );
  return entry === undefined ? undefined : Number(entry[0]);
}

function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : [];
}

function numbersOf(value: unknown): number[] {
  const values = Array.isArray(value) ? value : [value];
  return values.filter((entry) => typeof entry === "number");
}
