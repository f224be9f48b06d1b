import type { ApiError } from "./api-error.ts";

/**
 * What a running generation tells, in order. A reply is the fold of its events; a stream is their rendering. Exactly
 * one of `generation-end` and `generation-error` comes last.
 */
export type GenerationEvent =
  /** Totals so far; comes before the events of the same step. */
  | { readonly type: "usage"; readonly usage: Usage }
  /** Log probabilities of the prompt's tokens, once, before all deltas; the first token has none. */
  | {
      readonly type: "prompt-logprobs";
      readonly index: number;
      readonly entries: readonly TokenLogprob[];
    }
  /** Log probabilities of the tokens that the next deltas of this choice show; with none left, before its end. */
  | {
      readonly type: "logprobs";
      readonly index: number;
      readonly entries: readonly TokenLogprob[];
    }
  | { readonly type: "text-delta"; readonly index: number; readonly text: string }
  | { readonly type: "reasoning-delta"; readonly index: number; readonly text: string }
  /** `call` counts the calls of a choice from 0; the events of one call are not mixed with another's. */
  | {
      readonly type: "tool-call-start";
      readonly index: number;
      readonly call: number;
      readonly id: string;
      readonly name: string;
    }
  | {
      readonly type: "tool-call-delta";
      readonly index: number;
      readonly call: number;
      /** More of the arguments' JSON text. */
      readonly arguments: string;
    }
  /** The call is complete: its arguments are valid JSON. Missing for a call that was cut off. */
  | { readonly type: "tool-call-end"; readonly index: number; readonly call: number }
  | {
      readonly type: "choice-end";
      readonly index: number;
      readonly finishReason: FinishReason;
      /** What ended the reply: a token id, a stop string, or null. */
      readonly matchedStop: number | string | null;
    }
  | { readonly type: "generation-end"; readonly usage: Usage }
  | { readonly type: "generation-error"; readonly error: ApiError; readonly usage: Usage };

/** "tool-calls": the model stopped after at least one call. */
export type FinishReason = "stop" | "length" | "tool-calls";

/** One token with its log probability and the most likely tokens at its place. */
export interface TokenLogprob extends ScoredToken {
  /** Most likely first; empty when none were asked for. */
  readonly top: readonly ScoredToken[];
  /** Characters (code points) of the choice's raw text before this token. */
  readonly textOffset: number;
}

export interface ScoredToken {
  /** The token alone, decoded; partial characters are U+FFFD. */
  readonly token: string;
  /** Its true bytes, partial UTF-8 included. */
  readonly bytes: readonly number[];
  /** null: the engine gave none (the first token of a prompt). */
  readonly logprob: number | null;
}

/** Token counts of one request. */
export interface Usage {
  /** Once, however many choices there are. */
  readonly promptTokens: number;
  /** All choices together. */
  readonly completionTokens: number;
  /** Part of the prompt that the engine found in its prefix cache. */
  readonly cachedTokens: number;
  /** Part of the completion that is reasoning, as the engine counts it. */
  readonly reasoningTokens: number;
}
