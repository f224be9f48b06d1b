import { readFileSync } from "node:fs";
import { join } from "node:path";

import { Tokenizer } from "@huggingface/tokenizers";

import { isRecord } from "./model-files.ts";
import type { ModelFiles } from "./model-files.ts";

/** Text ↔ ids of the engine's model, by Hugging Face's own code, so that it shares no mistake with the edge's. */
export interface TextCodec {
  readonly vocabSize: number;
  /** Special tokens written in the text become their ids; none is added. */
  encode(text: string): number[];
  /** The text with special tokens written out; ids that are not in the vocabulary give nothing. */
  decode(ids: readonly number[]): string;
  idOf(token: string): number | undefined;
  withoutSpecialTokens(text: string): string;
}

const opened = new Map<string, TextCodec>();

/** Loads a tokenizer; kept for the life of the process (a handful of folders at most), since it takes a second. */
export function openTextCodec(files: ModelFiles): TextCodec {
  const known = opened.get(files.folder);
  if (known !== undefined) return known;
  const json: unknown = JSON.parse(readFileSync(join(files.folder, "tokenizer.json"), "utf8"));
  if (!isRecord(json)) throw new Error(`${files.folder}/tokenizer.json is not a JSON object`);
  const codec = createTextCodec(new Tokenizer(json, files.tokenizerConfig));
  opened.set(files.folder, codec);
  return codec;
}

function createTextCodec(tokenizer: Tokenizer): TextCodec {
  const special = [...tokenizer.get_added_tokens_decoder().values()]
    .filter((token) => token.special)
    .map((token) => token.content);
  let largest = 0;
  for (const id of tokenizer.get_vocab(true).values()) largest = Math.max(largest, id);
  return {
    vocabSize: largest + 1,
    encode: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids,
    decode: (ids) => {
      const known = ids.filter((id) => tokenizer.id_to_token(id) !== undefined);
      if (known.length === 0) return "";
      return tokenizer.decode(known, {
        skip_special_tokens: false,
        clean_up_tokenization_spaces: false,
      });
    },
    idOf: (token) => tokenizer.token_to_id(token),
    withoutSpecialTokens: (text) =>
      special.reduce((left, token) => left.replaceAll(token, ""), text),
  };
}
