import type { OutputConstraint } from "../core/chat-request.ts";

/** What an engine says while it generates, one gRPC message each. */
export type EngineMessage = EngineChunk | EngineComplete;

/** Token ids since the last chunk of the same choice; counts are totals so far. */
export interface EngineChunk extends EngineCounts {
  readonly type: "chunk";
  readonly index: number;
  readonly tokenIds: readonly number[];
  /** One for each id, when they were asked for. */
  readonly logprobs?: readonly EngineLogprob[];
  /** Of the prompt's tokens, once, when they were asked for. */
  readonly promptLogprobs?: readonly EngineLogprob[];
}

/** A token's log probability; null where the engine has none (the first token of a prompt). */
export interface EngineLogprob {
  readonly tokenId: number;
  readonly logprob: number | null;
  readonly top: readonly { readonly tokenId: number; readonly logprob: number }[];
}

/** The end of one choice. Its ids repeat the last chunk's and are left out, and so are their log probabilities. */
export interface EngineComplete extends EngineCounts {
  /** As in a chunk: a reply of no tokens has only this message. */
  readonly promptLogprobs?: readonly EngineLogprob[];
  readonly type: "complete";
  readonly index: number;
  readonly finishReason: "stop" | "length" | "abort";
  /** A stop token's id, a stop string, or null. */
  readonly matchedStop: number | string | null;
}

export interface EngineCounts {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
}

/** One request to generate, complete: no field is left to the engine's defaults. */
export interface EngineGenerateRequest {
  /** Unique over the fleet. */
  readonly requestId: string;
  readonly inputIds: Uint32Array;
  /** The prompt's text, for the engine's own log and metrics. */
  readonly promptText: string;
  readonly sampling: EngineSampling;
  /** Absent: none. `prompt`: the prompt's tokens as well. */
  readonly logprobs?: { readonly top: number; readonly prompt: boolean };
  /** The reply starts with thoughts: the engine counts them, and constrains only what comes after. */
  readonly requireReasoning: boolean;
}

export interface EngineEmbedRequest {
  readonly requestId: string;
  readonly inputIds: Uint32Array;
}

export interface EngineEmbedding {
  readonly vector: readonly number[];
  readonly promptTokens: number;
}

export interface EngineSampling {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
  readonly minP: number;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  readonly repetitionPenalty: number;
  /** Absent: the engine goes on to the end of the context. */
  readonly maxNewTokens?: number;
  readonly stop: readonly string[];
  readonly stopTokenIds: readonly number[];
  readonly minNewTokens: number;
  readonly ignoreEos: boolean;
  readonly noStopTrim: boolean;
  readonly skipSpecialTokens: boolean;
  readonly spacesBetweenSpecialTokens: boolean;
  readonly n: number;
  readonly streamInterval?: number;
  readonly logitBias: Readonly<Record<string, number>>;
  readonly customParams?: Readonly<Record<string, unknown>>;
  readonly loraId?: string;
  readonly constraint?: OutputConstraint;
}

/** What a worker says about itself; read once and refreshed. */
export interface WorkerFacts {
  readonly servedModelName: string;
  readonly modelPath: string;
  /** false: an embedding model. */
  readonly isGeneration: boolean;
  readonly supportsVision: boolean;
  /** Largest prompt that the worker takes, in tokens; null when it does not say. */
  readonly maxPromptTokens: number | null;
  /** The `--context-length` that the worker was started with; null when it uses the model's own. */
  readonly contextLength: number | null;
  readonly eosTokenIds: readonly number[];
  /** Sampling defaults by wire name (temperature, top_p …), the operator's preferred ones over the model's. */
  readonly samplingDefaults: Readonly<Record<string, number>>;
  /** The worker runs with `--skip-tokenizer-init`: it refuses stop strings. */
  readonly skipTokenizerInit: boolean;
  /** The parsers that the operator started the worker with; null when it does not say. */
  readonly toolCallParser: string | null;
  readonly reasoningParser: string | null;
}
