import type { JsonObject } from "./json.ts";
import { isObject, isTokenId } from "./json.ts";
import type { WorkerFacts } from "./model-files.ts";

/** The JSON files that facts are read from; an empty object where there is no file. */
export interface ModelConfigs {
  readonly config: JsonObject;
  readonly generationConfig: JsonObject;
  readonly tokenizerConfig: JsonObject;
  readonly specialTokensMap: JsonObject;
  readonly worker?: WorkerFacts;
}

/** Above this a `model_max_length` means "unlimited" (transformers writes 1e30). */
const SANE_MODEL_MAX_LENGTH = 1_000_000_000;

/** Where config.json may say how many tokens the model takes: SGLang's list, in its order of preference. */
const CONTEXT_LENGTH_KEYS = [
  "max_sequence_length",
  "seq_length",
  "max_seq_len",
  "model_max_length",
  "max_position_embeddings",
];

/** Multimodal models keep the language model's config under one of these. */
const TEXT_CONFIG_KEYS = ["text_config", "llm_config", "language_config", "thinker_config"];

/** Sampling parameters whose defaults SGLang takes from generation_config.json; it takes no others. */
const SAMPLING_KEYS = ["temperature", "top_p", "top_k", "min_p", "repetition_penalty"];

/** A worker takes prompts up to this many tokens less than its context length. */
const WORKER_PROMPT_MARGIN = 6;

/**
 * Tokens that the model takes: config.json as SGLang reads it, else what the worker takes, else tokenizer_config.json's
 * `model_max_length` unless that stands for "unlimited", else null.
 */
export function contextLengthOf(configs: ModelConfigs): number | null {
  const text = textConfigOf(configs.config);
  for (const key of CONTEXT_LENGTH_KEYS) {
    const value = text[key];
    if (isCount(value)) return Math.floor(ropeFactorOf(text) * value);
  }
  const maxPromptTokens = configs.worker?.maxPromptTokens ?? 0;
  if (maxPromptTokens > 0) return maxPromptTokens + WORKER_PROMPT_MARGIN;
  const modelMaxLength = configs.tokenizerConfig["model_max_length"];
  const sane = isCount(modelMaxLength) && modelMaxLength < SANE_MODEL_MAX_LENGTH;
  return sane ? Math.floor(modelMaxLength) : null;
}

function textConfigOf(config: JsonObject): JsonObject {
  for (const key of TEXT_CONFIG_KEYS) {
    const nested = config[key];
    if (isObject(nested)) return textConfigOf(nested);
  }
  return config;
}

/**
 * How far RoPE scaling stretches the context: SGLang's rule. A config with `original_max_position_embeddings`, and every
 * Llama 3 one, states the stretched length already.
 */
function ropeFactorOf(text: JsonObject): number {
  const scaling = text["rope_scaling"] ?? text["rope_parameters"];
  if (!isObject(scaling)) return 1;
  if (scaling["original_max_position_embeddings"] !== undefined) return 1;
  if (scaling["rope_type"] === "llama3") return 1;
  const factor = scaling["factor"];
  return typeof factor === "number" && Number.isFinite(factor) && factor > 0 ? factor : 1;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 1;
}

export interface EosTokens {
  readonly ids: readonly number[];
  readonly from: "generation_config.json" | "worker" | "config.json" | "tokenizer" | "nowhere";
}

/**
 * Ids that end a reply: the first of generation_config.json, the worker, config.json (also its text config) and the
 * tokenizer's `eos_token` that names any.
 */
export function eosTokensOf(
  configs: ModelConfigs,
  idOf: (tokenText: string) => number | undefined,
): EosTokens {
  const candidates: readonly EosTokens[] = [
    { from: "generation_config.json", ids: tokenIds(configs.generationConfig["eos_token_id"]) },
    { from: "worker", ids: tokenIds(configs.worker?.eosTokenIds) },
    { from: "config.json", ids: tokenIds(configs.config["eos_token_id"]) },
    { from: "config.json", ids: tokenIds(textConfigOf(configs.config)["eos_token_id"]) },
    { from: "tokenizer", ids: tokenizerEosIds(configs, idOf) },
  ];
  return candidates.find((candidate) => candidate.ids.length > 0) ?? { from: "nowhere", ids: [] };
}

function tokenizerEosIds(
  configs: ModelConfigs,
  idOf: (tokenText: string) => number | undefined,
): readonly number[] {
  const text = specialTokensOf(configs)["eos_token"];
  const id = text === undefined ? undefined : idOf(text);
  return id === undefined ? [] : [id];
}

function tokenIds(value: unknown): readonly number[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return [...new Set(values.filter(isTokenId))];
}

/**
 * The sampling defaults that a server applies to a request that does not say otherwise. `do_sample: false` changes
 * nothing, as in SGLang, which does not read it.
 */
export function samplingDefaultsOf(configs: ModelConfigs): Readonly<Record<string, number>> {
  const fromFile = pickNumbers(configs.generationConfig);
  if (Object.keys(fromFile).length > 0) return fromFile;
  return pickNumbers(configs.worker?.samplingDefaults ?? {});
}

function pickNumbers(source: JsonObject): Record<string, number> {
  const picked: Record<string, number> = {};
  for (const key of SAMPLING_KEYS) {
    const value = source[key];
    if (typeof value === "number" && Number.isFinite(value)) picked[key] = value;
  }
  return picked;
}

/**
 * Special tokens by their variable names, as transformers gives them to a template: every `…_token` of
 * tokenizer_config.json (a string or an AddedToken object), the named ones of `extra_special_tokens`, and, for old
 * models whose config lists no added tokens, special_tokens_map.json, which then wins.
 */
export function specialTokensOf(configs: ModelConfigs): Readonly<Record<string, string>> {
  const { tokenizerConfig, specialTokensMap } = configs;
  const tokens = new Map<string, string>();
  const add = (source: JsonObject, isName: (key: string) => boolean): void => {
    for (const [key, value] of Object.entries(source)) {
      const text = tokenText(value);
      if (text !== null && isName(key)) tokens.set(key, text);
    }
  };
  add(tokenizerConfig, isTokenName);
  const extra = tokenizerConfig["extra_special_tokens"];
  if (isObject(extra)) add(extra, () => true);
  if (!isObject(tokenizerConfig["added_tokens_decoder"])) add(specialTokensMap, isTokenName);
  return Object.fromEntries(tokens);
}

function isTokenName(key: string): boolean {
  return key.endsWith("_token");
}

function tokenText(value: unknown): string | null {
  const text = isObject(value) ? value["content"] : value;
  return typeof text === "string" ? text : null;
}

/** `model_type` and `architectures` of config.json, else what the worker said. */
export function modelKindOf(configs: ModelConfigs): {
  readonly modelType: string | null;
  readonly architectures: readonly string[];
} {
  const { config, worker } = configs;
  const modelType = config["model_type"];
  const architectures = config["architectures"];
  const names = Array.isArray(architectures) ? architectures.filter(isString) : [];
  return {
    modelType: typeof modelType === "string" ? modelType : (worker?.modelType ?? null),
    architectures: names.length > 0 ? names : (worker?.architectures ?? []),
  };
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
