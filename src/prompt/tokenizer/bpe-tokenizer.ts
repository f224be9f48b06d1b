import { addedTokenText } from "./added-tokens.ts";
import { Decoder } from "./detokenizer.ts";
import { Encoder } from "./encoder.ts";
import type { DecodeOptions, IncrementalDetokenizer, Tokenizer } from "./tokenizer.ts";
import { NO_ID } from "./vocabulary.ts";
import type { Vocabulary } from "./vocabulary.ts";

const utf8 = new TextEncoder();

/** A tokenizer over a compiled file. */
export class BpeTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly #vocabulary: Vocabulary;
  readonly #encoder: Encoder;
  readonly #decoder: Decoder;
  /** Made when first asked: most requests never look a token up by its text. */
  #addedIds: ReadonlyMap<string, number> | undefined;

  constructor(vocabulary: Vocabulary) {
    const { header } = vocabulary;
    this.vocabSize = header.vocabSize;
    this.#vocabulary = vocabulary;
    this.#encoder = new Encoder(vocabulary);
    this.#decoder = new Decoder(
      {
        bytes: vocabulary.tokenBytes,
        offsets: vocabulary.tokenOffsets,
        flags: vocabulary.tokenFlags,
      },
      header.decoder,
    );
  }

  encode(text: string, options: { readonly addSpecialTokens: boolean }): Uint32Array {
    return this.#encoder.encode(text, options.addSpecialTokens);
  }

  /** `encode` in steps of about `budget` bytes of text; other calls may run between two steps. */
  encodeSteps(
    text: string,
    options: { readonly addSpecialTokens: boolean; readonly budget: number },
  ): Generator<undefined, Uint32Array> {
    return this.#encoder.steps(text, options);
  }

  decode(ids: Iterable<number>, options: DecodeOptions): string {
    return this.#decoder.decode(ids, options);
  }

  tokenBytes(id: number): Uint8Array {
    return this.#decoder.tokenBytes(id);
  }

  idOf(tokenText: string): number | undefined {
    this.#addedIds ??= mapAddedTokens(this.#vocabulary);
    const added = this.#addedIds.get(tokenText);
    if (added !== undefined) return added;
    const bytes = utf8.encode(tokenText);
    const id = this.#vocabulary.idOfBytes(bytes, 0, bytes.length, true);
    return id === NO_ID ? undefined : id;
  }

  isSpecial(id: number): boolean {
    return this.#decoder.isSpecial(id);
  }

  createDetokenizer(options: DecodeOptions): IncrementalDetokenizer {
    return this.#decoder.createDetokenizer(options);
  }
}

function mapAddedTokens(vocabulary: Vocabulary): ReadonlyMap<string, number> {
  const ids = new Map<string, number>();
  for (const table of [vocabulary.addedTokens, vocabulary.normalizedAddedTokens]) {
    for (let token = 0; token < table.count; token++) {
      const text = table.contents[token] ?? addedTokenText(table, token);
      ids.set(text, table.ids[token] ?? NO_ID);
    }
  }
  return ids;
}
