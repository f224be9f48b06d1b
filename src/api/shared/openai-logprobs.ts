import type { ScoredToken, TokenLogprob } from "../../core/generation-event.ts";

/** Log probabilities in the shape of chat completions. */
export function renderLogprobs(entries: readonly TokenLogprob[]) {
  return { content: entries.map(renderEntry), refusal: null };
}

function renderEntry(entry: TokenLogprob) {
  return { ...renderToken(entry), top_logprobs: entry.top.map(renderToken) };
}

function renderToken({ token, logprob, bytes }: ScoredToken) {
  return { token, logprob: logprob ?? 0, bytes };
}
