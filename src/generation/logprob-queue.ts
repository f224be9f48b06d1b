import type { ScoredToken, TokenLogprob } from "../core/generation-event.ts";
import type { EngineLogprob } from "../engine/engine-message.ts";
import type { Tokenizer } from "../prompt/tokenizer/tokenizer.ts";

/** What OpenAI writes for "impossible": JSON has no infinity. */
const LOWEST_LOGPROB = -9_999;

/**
 * Log probabilities that wait until their token's text is certain to be shown. Positions count code units of the choice's
 * visible text.
 */
export interface LogprobQueue {
  /**
   * A token whose text lies at `start` to `end`; `end` undefined while its last character is open (then it ends where the
   * next token with text does).
   */
  add(
    row: EngineLogprob,
    place: { readonly start: number; readonly end: number | undefined },
  ): void;
  /** The entries of all tokens that end at or before a position. */
  take(decided: number): readonly TokenLogprob[];
  /** The entries that are left of tokens that begin before a position; whatever begins behind it was trimmed. */
  takeRest(shown: number): readonly TokenLogprob[];
}

interface Waiting {
  readonly entry: TokenLogprob;
  readonly start: number;
  end: number | undefined;
}

/** `characterOffset`: code points of visible text before a position. */
export function createLogprobQueue(
  tokenizer: Tokenizer,
  characterOffset: (position: number) => number,
): LogprobQueue {
  let waiting: Waiting[] = [];
  return {
    add(row, { start, end }) {
      if (end !== undefined) for (const open of waiting) open.end ??= end;
      const entry = { ...toTokenLogprob(row, tokenizer), textOffset: characterOffset(start) };
      waiting.push({ entry, start, end });
    },
    take(decided) {
      let count = 0;
      while (count < waiting.length && (waiting[count]?.end ?? Infinity) <= decided) count += 1;
      if (count === 0) return [];
      const taken = waiting.slice(0, count);
      waiting = waiting.slice(count);
      return taken.map(({ entry }) => entry);
    },
    takeRest(shown) {
      const taken = waiting.filter(({ start, end }) => start < shown || (end ?? Infinity) <= shown);
      waiting = [];
      return taken.map(({ entry }) => entry);
    },
  };
}

export function toTokenLogprob(
  row: EngineLogprob,
  tokenizer: Tokenizer,
): Omit<TokenLogprob, "textOffset"> {
  return {
    ...toScoredToken(row, tokenizer),
    top: row.top.map((candidate) => toScoredToken(candidate, tokenizer)),
  };
}

function toScoredToken(
  { tokenId, logprob }: { readonly tokenId: number; readonly logprob: number | null },
  tokenizer: Tokenizer,
): ScoredToken {
  return {
    token: tokenizer.decode([tokenId], { skipSpecialTokens: false }),
    bytes: Array.from(tokenizer.tokenBytes(tokenId)),
    logprob: logprob === null ? null : Math.max(logprob, LOWEST_LOGPROB),
  };
}
