import { BpeTokenizer } from "./bpe-tokenizer.ts";
import type { Tokenizer } from "./tokenizer.ts";
import { Vocabulary } from "./vocabulary.ts";

/**
 * A tokenizer over a compiled file (see format.ts), which it uses in place: the buffer must not change or be
 * transferred afterwards.
 *
 * @throws {Error} when the buffer is no compiled tokenizer of this version
 */
export function loadTokenizer(buffer: ArrayBuffer): Tokenizer {
  return new BpeTokenizer(new Vocabulary(buffer));
}
