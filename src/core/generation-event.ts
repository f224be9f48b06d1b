import type { ApiError } from "./api-error.ts";

/**
 * What a running generation tells, in order. A reply is the fold of its events; a stream is their rendering. Exactly
 * one of `generation-end` and `generation-error` comes last.
 */
export type GenerationEvent =
  /** Totals so far; comes before the events of the same step. */
  | { readonly type: "usage"; readonly usage: Usage }
  | { readonly type: "text-delta"; readonly index: number; readonly text: string }
  | {
      readonly type: "choice-end";
      readonly index: number;
      readonly finishReason: FinishReason;
      /** What ended the reply: a token id, a stop string, or null. */
      readonly matchedStop: number | string | null;
    }
  | { readonly type: "generation-end"; readonly usage: Usage }
  | { readonly type: "generation-error"; readonly error: ApiError; readonly usage: Usage };

export type FinishReason = "stop" | "length";

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
