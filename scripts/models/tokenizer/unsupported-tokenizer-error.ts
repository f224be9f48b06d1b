/** A tokenizer.json that asks for something the compiled tokenizer cannot do exactly; the message names it. */
export class UnsupportedTokenizerError extends Error {
  override readonly name = "UnsupportedTokenizerError";

  /** @param what the part of the file and what it says, e.g. `model type "Unigram"` */
  constructor(what: string) {
    super(`Unsupported tokenizer: ${what}`);
  }
}
