import { BpeTokenizer } from "./bpe-tokenizer.ts";
import type { Tokenizer } from "./tokenizer.ts";

/** Bytes of text between two pauses: one or two milliseconds of work. */
const STEP_BYTES = 32 * 1024;

/**
 * The same ids as `tokenizer.encode`, with a pause for other work after every one or two milliseconds of it, so that
 * running streams keep flowing while a huge prompt is encoded. The work is measured by the amount of text: clocks stand
 * still inside a Worker. A tokenizer that is not compiled encodes at once.
 */
export async function encodeYielding(
  tokenizer: Tokenizer,
  text: string,
  options: { readonly addSpecialTokens: boolean },
): Promise<Uint32Array> {
  if (!(tokenizer instanceof BpeTokenizer) || text.length <= STEP_BYTES) {
    return tokenizer.encode(text, options);
  }
  const steps = tokenizer.encodeSteps(text, { ...options, budget: STEP_BYTES });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await pause();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
