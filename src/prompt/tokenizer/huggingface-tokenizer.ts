import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";

import { createByteAlphabet } from "./byte-alphabet.ts";
import type { ByteAlphabet } from "./byte-alphabet.ts";
import { readDecoderSpec } from "./decoder-spec.ts";
import type { DecoderSpec } from "./decoder-spec.ts";
import { Decoder } from "./detokenizer.ts";
import type { TokenTable } from "./detokenizer.ts";
import { TOKEN_SPECIAL } from "./format.ts";
import { tokenTextBytes, tokenTextFlags } from "./token-text.ts";
import type { DecodeOptions, IncrementalDetokenizer, Tokenizer } from "./tokenizer.ts";

const utf8 = new TextEncoder();

/**
 * A tokenizer for the models that the compiler refuses, by @huggingface/tokenizers: several times the memory of a
 * compiled one, and many times slower. Decoding works on the tokens' bytes, as for compiled tokenizers.
 *
 * @param bytes JSON (UTF-8): `{ "tokenizer": <tokenizer.json>, "config": <tokenizer_config.json> }`
 * @throws {Error} when the JSON is damaged, the library cannot read the model, or its decoder is not known
 */
export function createHuggingFaceTokenizer(bytes: ArrayBuffer): Tokenizer {
  const file: unknown = JSON.parse(
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
  );
  const tokenizerJson = fieldOf(file, "tokenizer");
  const config = fieldOf(file, "config") ?? {};
  if (!isObject(tokenizerJson) || !isObject(config)) {
    throw new Error("not a tokenizer: no tokenizer.json in it");
  }
  const decoderJson = fieldOf(tokenizerJson, "decoder");
  const decoder = readDecoderSpec(decoderJson);
  if (decoder === undefined) {
    throw new Error(`unknown decoder: ${JSON.stringify(decoderJson ?? null).slice(0, 200)}`);
  }
  return new WrappedTokenizer(new HuggingFaceTokenizer(tokenizerJson, config), decoder);
}

class WrappedTokenizer implements Tokenizer {
  readonly vocabSize: number;
  readonly #library: HuggingFaceTokenizer;
  readonly #spec: DecoderSpec;
  readonly #alphabet: ByteAlphabet = createByteAlphabet();
  readonly #decoder: Decoder;

  constructor(library: HuggingFaceTokenizer, spec: DecoderSpec) {
    this.#library = library;
    this.#spec = spec;
    const table = buildTokenTable(library, spec, this.#alphabet);
    this.vocabSize = table.flags.length;
    this.#decoder = new Decoder(table, spec);
  }

  encode(text: string, options: { readonly addSpecialTokens: boolean }): Uint32Array {
    const { ids } = this.#library.encode(text.toWellFormed(), {
      add_special_tokens: options.addSpecialTokens,
    });
    return Uint32Array.from(ids);
  }

  decode(ids: Iterable<number>, options: DecodeOptions): string {
    return this.#decoder.decode(ids, options);
  }

  tokenBytes(id: number): Uint8Array {
    return this.#decoder.tokenBytes(id);
  }

  idOf(tokenText: string): number | undefined {
    for (const [id, token] of this.#library.get_added_tokens_decoder()) {
      if (token.content === tokenText) return id;
    }
    return this.#library.token_to_id(this.#vocabularyText(tokenText));
  }

  isSpecial(id: number): boolean {
    return this.#decoder.isSpecial(id);
  }

  createDetokenizer(options: DecodeOptions): IncrementalDetokenizer {
    return this.#decoder.createDetokenizer(options);
  }

  /** How the vocabulary writes a text. */
  #vocabularyText(text: string): string {
    switch (this.#spec.kind) {
      case "bytes":
        return this.#alphabet.toText(utf8.encode(text));
      case "byte-fallback":
      case "metaspace":
        return text.replaceAll(" ", "\u2581");
      case "word-piece":
        return text;
    }
  }
}

function buildTokenTable(
  library: HuggingFaceTokenizer,
  spec: DecoderSpec,
  alphabet: ByteAlphabet,
): TokenTable {
  const texts: (string | undefined)[] = [];
  for (const [text, id] of library.get_vocab(false)) texts[id] = text;
  const added = library.get_added_tokens_decoder();
  for (const [id, token] of added) texts[id] = token.content;
  const offsets = new Uint32Array(texts.length + 1);
  const flags = new Uint8Array(texts.length);
  let bytes = new Uint8Array(8 * texts.length);
  let end = 0;
  for (let id = 0; id < texts.length; id++) {
    const text = texts[id] ?? "";
    const piece = tokenTextBytes(text, spec, alphabet);
    if (end + piece.length > bytes.length) {
      const grown = new Uint8Array(2 * (end + piece.length));
      grown.set(bytes);
      bytes = grown;
    }
    bytes.set(piece, end);
    end += piece.length;
    offsets[id + 1] = end;
    flags[id] = tokenTextFlags(text, spec) | (added.get(id)?.special === true ? TOKEN_SPECIAL : 0);
  }
  return { bytes: bytes.slice(0, end), offsets, flags };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fieldOf(value: unknown, key: string): unknown {
  return isObject(value) ? new Map(Object.entries(value)).get(key) : undefined;
}
