import type { TokenLogprob } from "../core/generation-event.ts";
import type { EngineLogprob } from "../engine/engine-message.ts";
import type { Tokenizer } from "../prompt/tokenizer/tokenizer.ts";
import { toTokenLogprob } from "./logprob-queue.ts";

/**
 * Makes the entries of a prompt's tokens. Tokens that the tokenizer put before the client's text (a BOS token) have none:
 * the text does not show them.
 */
export function createPromptEntries(
  tokenizer: Tokenizer,
  addedIds: number,
): (rows: readonly EngineLogprob[]) => readonly TokenLogprob[] {
  return (rows) => {
    const detokenizer = tokenizer.createDetokenizer({ skipSpecialTokens: false });
    const entries: TokenLogprob[] = [];
    let textOffset = 0;
    for (const row of rows.slice(addedIds)) {
      entries.push({ ...toTokenLogprob(row, tokenizer), textOffset });
      textOffset += Array.from(detokenizer.push(row.tokenId)).length;
    }
    return entries;
  };
}
