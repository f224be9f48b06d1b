import { seededRandom } from "./random.ts";
import type { Chunking } from "./scenario.ts";
import type { Finish, Speech, StopRules } from "./sequence.ts";

interface SpokenToken {
  readonly id: number;
  /** The reply ends here, whatever the request wants. */
  readonly isLast: boolean;
}

/**
 * The tokens of a reply, one after another. When the reply is over and the request wants more (min_new_tokens,
 * ignore_eos), it is said again, so this never ends by itself unless the reply has a forced finish.
 */
export function* speak(speech: Speech, stop: StopRules): Generator<SpokenToken, void, undefined> {
  const ends = speech.forcedFinish !== undefined;
  let said = 0;
  for (;;) {
    const before = said;
    for (const [place, id] of speech.ids.entries()) {
      // A sampler never picks an end token before min_new_tokens.
      if (said < stop.minNewTokens && stop.stopTokenIds.has(id)) continue;
      said += 1;
      yield { id, isLast: ends && place === speech.ids.length - 1 };
    }
    if (ends) return;
    if (said === before) {
      said += 1;
      yield { id: 0, isLast: false };
    }
  }
}

/** Whether the reply is over after `output`, checked in SGLang's order: length, then token, then text. */
export function finishOf(output: readonly number[], stop: StopRules): Finish | undefined {
  if (output.length >= stop.maxNewTokens) return { reason: "length" };
  const last = output.at(-1);
  if (!stop.ignoreEos && last !== undefined && stop.stopTokenIds.has(last)) {
    return { reason: "stop", matched: last };
  }
  const matched = matchedStopString(output, stop);
  return matched === undefined ? undefined : { reason: "stop", matched };
}

/** A match that ends with the newest token lies within this many tokens, as each gives at most 4 bytes less. */
function matchedStopString(output: readonly number[], stop: StopRules): string | undefined {
  if (stop.stopStrings.length === 0) return undefined;
  const longest = Math.max(...stop.stopStrings.map((text) => Buffer.byteLength(text)));
  const tail = stop.decode(output.slice(-longest - 4));
  return stop.stopStrings.find((text) => tail.includes(text));
}

/** Says after each token whether a chunk ends there. */
export function createChunker(chunks: Chunking | undefined, streamInterval: number): () => boolean {
  if (chunks === "all") return () => false;
  if (chunks === undefined) {
    let said = 0;
    // The first token comes at once, then every interval-th.
    return () => said++ % streamInterval === 0;
  }
  const nextSize = chunkSizes(chunks);
  let left = nextSize();
  return () => {
    left -= 1;
    if (left > 0) return false;
    left = nextSize();
    return true;
  };
}

function chunkSizes(chunks: Exclude<Chunking, "all">): () => number {
  if (chunks === "token") return () => 1;
  if ("every" in chunks) return () => chunks.every;
  const random = seededRandom(chunks.random.seed);
  return () => 1 + Math.floor(random() * chunks.random.max);
}
