import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

import { describe, it } from "vitest";

import { compileTokenizer } from "../../../../scripts/models/tokenizer/compile-tokenizer.ts";
import { loadTokenizer } from "../../../../src/prompt/tokenizer/load-tokenizer.ts";
import { hashIds, unpack } from "./oracle.ts";

/** What scripts/oracle/tokenizer_small.py wrote. */
interface SmallModels {
  readonly texts: readonly string[];
  readonly models: Readonly<Record<string, SmallModel>>;
}

interface SmallModel {
  readonly tokenizer: object;
  readonly encoded: string;
  /** Ids of "Hello" with special tokens. */
  readonly special: readonly number[];
  readonly sequences: readonly (readonly number[])[];
  readonly decoded: readonly string[];
  readonly decodedSkippingSpecial: readonly string[];
}

function readSmallModels(): SmallModels {
  const file = new URL("../../../cases/tokenizer/small-models.json.gz", import.meta.url);
  const models: SmallModels = JSON.parse(gunzipSync(readFileSync(file)).toString("utf8"));
  return models;
}

/** Letters whose NFKC form Unicode 14 brought; the library's table is older, the runtime's is not. */
const NEWER_NORMALIZATION = /[\u{10780}-\u{107ba}]/u;

const { texts, models } = readSmallModels();

describe.for(Object.entries(models))("a small tokenizer: %s", ([, model]) => {
  const { bytes } = compileTokenizer(model.tokenizer, {});
  const tokenizer = loadTokenizer(Uint8Array.from(bytes).buffer);

  it("encodes as Hugging Face's library", ({ expect }) => {
    const expected = unpack(model.encoded);
    const wrong = texts.filter(
      (text, index) =>
        !NEWER_NORMALIZATION.test(text) &&
        hashIds(tokenizer.encode(text, { addSpecialTokens: false })) !== expected[index],
    );
    expect(wrong).toEqual([]);
    expect([...tokenizer.encode("Hello", { addSpecialTokens: true })]).toEqual(model.special);
  });

  it("decodes as Hugging Face's library", ({ expect }) => {
    const decode = (skipSpecialTokens: boolean): string[] =>
      model.sequences.map((ids) => tokenizer.decode(ids, { skipSpecialTokens }));
    expect(decode(false)).toEqual(model.decoded);
    expect(decode(true)).toEqual(model.decodedSkippingSpecial);
  });
});
