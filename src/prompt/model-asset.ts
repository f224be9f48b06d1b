import type { ChatTemplateSource } from "./template/chat-template.ts";

/**
 * A compiled model, as `npm run models` writes it and the Worker reads it from its static-assets binding:
 *
 * - `models/index.json`: a ModelIndex
 * - `models/<slug>.json`: a ModelManifest
 * - `tokenizers/<first 16 hex of sha256>.bin`: a compiled tokenizer (see tokenizer/format.ts), shared by models
 * - `tokenizers/<first 16 hex of sha256>.json`: tokenizer.json for `kind: "huggingface"`
 */
export interface ModelManifest {
  readonly v: 1;
  /** The name that clients use, e.g. `Qwen/Qwen3-8B`. */
  readonly id: string;
  readonly tokenizer: {
    /** "bpe": our own; "huggingface": @huggingface/tokenizers, when the operator asked for it. */
    readonly kind: "bpe" | "huggingface";
    /** Path in the assets. */
    readonly file: string;
    readonly byteLength: number;
  };
  /** null: the model has no chat template (base models, embedding models). */
  readonly chatTemplate: ChatTemplateSource | null;
  /** Tokens that the model may take, prompt and output together; null when no file told. */
  readonly contextLength: number | null;
  /** Ids that end a reply (generation_config's eos_token_id, else the tokenizer's eos_token). */
  readonly eosTokenIds: readonly number[];
  /** Sampling defaults of generation_config.json (temperature, top_p, top_k, min_p, repetition_penalty …). */
  readonly generationDefaults: Readonly<Record<string, number>>;
  readonly modelType: string | null;
  readonly architectures: readonly string[];
  /** Seconds since the epoch when the model was compiled. */
  readonly createdAt: number;
}

export interface ModelIndex {
  readonly v: 1;
  readonly models: readonly ModelIndexEntry[];
}

export interface ModelIndexEntry {
  readonly id: string;
  /** Path of the manifest in the assets. */
  readonly file: string;
  readonly createdAt: number;
  /** First 16 hex of the manifest file's sha256: tells a compiled-anew model from the one that was loaded. */
  readonly sha16?: string;
}
