import type { Code } from "@connectrpc/connect";

import type { CacheNode } from "./prefix-cache.ts";
import type { Chunking, Fault } from "./scenario.ts";

export interface Finish {
  readonly reason: "stop" | "length" | "abort";
  /** The token or the stop string that ended it. */
  readonly matched?: number | string;
}

/** What one running sequence tells its call. */
export type SequenceOutput =
  | {
      readonly type: "tokens";
      readonly index: number;
      /** What is new since the last output. */
      readonly ids: readonly number[];
      /** How many tokens came before `ids`. */
      readonly position: number;
      readonly cachedTokens: number;
      readonly reasoningTokens: number;
      readonly finish?: Finish;
      /** The scenario has the call end well, but without `complete`. */
      readonly withoutComplete: boolean;
    }
  | { readonly type: "error"; readonly code: Code; readonly message: string }
  | { readonly type: "cut"; readonly what: "stream" | "connection" };

/** What the model is going to say and how. */
export interface Speech {
  readonly ids: readonly number[];
  /** How the reply ends when its ids run out; undefined: its last id is an end token that the engine knows. */
  readonly forcedFinish: Finish | undefined;
  /** undefined: by the stream interval. */
  readonly chunks: Chunking | undefined;
  readonly reasoningTokens: number;
  readonly startDelayMs: number;
  /** Replaces the time that the prompt's uncached tokens would take. */
  readonly prefillMs: number | undefined;
  readonly perTokenMs: number;
  readonly fault: Fault | undefined;
}

/** When generation ends. */
export interface StopRules {
  readonly maxNewTokens: number;
  readonly minNewTokens: number;
  readonly stopTokenIds: ReadonlySet<number>;
  readonly stopStrings: readonly string[];
  readonly ignoreEos: boolean;
  readonly streamInterval: number;
  decode(ids: readonly number[]): string;
}

/** One request to the scheduler; a call with n > 1 makes n + 1 of them. */
export interface SequenceRequest {
  readonly id: string;
  readonly index: number;
  readonly prompt: Uint32Array;
  /** Name of the cache's tree, for LoRA adapters. */
  readonly cacheSpace: string;
  /** How much of the prompt may come from the cache. */
  readonly cacheLimit: number;
  readonly speech: Speech;
  readonly stop: StopRules;
  emit(output: SequenceOutput): void;
}

/** A sequence inside the scheduler. */
export interface Sequence {
  readonly request: SequenceRequest;
  readonly abort: AbortController;
  /** What the call hears when it is aborted: nothing, or a last output. */
  abortMode: "silent" | "complete";
  /** A scripted fault struck: nothing more is said. */
  broken: boolean;
  readonly output: number[];
  emitted: number;
  cachedTokens: number;
  /** Tokens in the KV pool that are not the cache's. */
  privateTokens: number;
  cacheNode: CacheNode | undefined;
}

export function newSequence(request: SequenceRequest): Sequence {
  return {
    request,
    abort: new AbortController(),
    abortMode: "silent",
    broken: false,
    output: [],
    emitted: 0,
    cachedTokens: 0,
    privateTokens: 0,
    cacheNode: undefined,
  };
}
