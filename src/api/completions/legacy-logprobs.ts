import type { TokenLogprob } from "../../core/generation-event.ts";

/** Log probabilities in the shape of completions. */
export interface LegacyLogprobs {
  readonly tokens: readonly string[];
  /** null for the first token of an echoed prompt. */
  readonly token_logprobs: readonly (number | null)[];
  readonly top_logprobs: readonly (Readonly<Record<string, number>> | null)[];
  /** Characters before each token, counted from the start of the choice's text. */
  readonly text_offset: readonly number[];
}

/** `offset`: characters of the choice's text that stand before what the entries count from. */
export function renderLegacyLogprobs(
  entries: readonly TokenLogprob[],
  offset: number,
): LegacyLogprobs {
  return {
    tokens: entries.map(({ token }) => token),
    token_logprobs: entries.map(({ logprob }) => logprob),
    top_logprobs: entries.map(({ logprob, top }) =>
      logprob === null
        ? null
        : Object.fromEntries(top.map((candidate) => [candidate.token, candidate.logprob ?? 0])),
    ),
    text_offset: entries.map(({ textOffset }) => offset + textOffset),
  };
}
