import { describe, it } from "vitest";

import { loadModel, MODELS } from "./compiled-models.ts";
import {
  BLOCK,
  hashBytes,
  hashIds,
  listSequences,
  readFixture,
  readStrings,
  unpack,
} from "./oracle.ts";

const strings = readStrings();
const utf8 = new TextEncoder();

/** Positions where two lists differ. */
function differences(actual: readonly number[], expected: readonly number[]): number[] {
  const wrong = actual.flatMap((value, index) => (value === expected[index] ? [] : [index]));
  return actual.length === expected.length ? wrong : [...wrong, -1];
}

describe.for(MODELS)("%s equals Hugging Face's tokenizers", (name) => {
  const tokenizer = loadModel(name);
  const fixture = readFixture(name);

  it("on every text", ({ expect }) => {
    const hashes = strings.map((text) =>
      hashIds(tokenizer.encode(text, { addSpecialTokens: false })),
    );
    const wrong = differences(hashes, unpack(fixture.strings)).map((index) => strings[index]);
    expect(wrong).toEqual([]);
  });

  it("on texts with the special tokens around them", ({ expect }) => {
    // transformers puts this model's first token by its configuration; the library alone does not.
    const added = name === "deepseek_v3" ? [0] : [];
    const hashes = strings.slice(0, 50).map((text) => {
      const ids = tokenizer.encode(text, { addSpecialTokens: true });
      expect([...ids.subarray(0, added.length)]).toEqual(added);
      return hashIds(ids.slice(added.length));
    });
    expect(differences(hashes, unpack(fixture.withSpecialTokens))).toEqual([]);
  });

  it("on every entry of the vocabulary as a text", ({ expect }) => {
    expect(tokenizer.vocabSize).toBe(fixture.vocabSize);
    const hashes: number[] = [];
    for (let id = 0; id < tokenizer.vocabSize; id++) {
      const text = tokenizer.decode([id], { skipSpecialTokens: false });
      const ids = tokenizer.encode(text, { addSpecialTokens: false });
      if (id % BLOCK === 0) hashes.push(hashIds(ids));
      else hashes.push(hashIds(ids, hashes.pop()));
    }
    expect(differences(hashes, unpack(fixture.entries))).toEqual([]);
  });

  it.for([
    { skipSpecialTokens: false, expected: fixture.decoded },
    { skipSpecialTokens: true, expected: fixture.decodedSkippingSpecial },
  ])(
    "on decoded ids, skipSpecialTokens $skipSpecialTokens",
    ({ expected, ...options }, { expect }) => {
      const sequences = listSequences(fixture);
      const hashes = sequences.map((ids) => hashBytes(utf8.encode(tokenizer.decode(ids, options))));
      const wrong = differences(hashes, unpack(expected)).map((index) => sequences[index]);
      expect(wrong).toEqual([]);
    },
  );
});
