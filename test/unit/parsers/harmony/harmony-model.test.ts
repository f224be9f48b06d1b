import { describe, it } from "vitest";

import { HARMONY_MARKERS, isHarmonyModel } from "../../../../src/parsers/harmony/harmony-model.ts";

describe("which models speak Harmony", () => {
  const all: readonly string[] = HARMONY_MARKERS;
  it.for<{
    readonly name: string;
    readonly modelName: string;
    readonly modelType?: string;
    readonly tokens?: readonly string[];
    readonly expected: boolean;
  }>([
    { name: "gpt-oss by its type", modelName: "house", modelType: "gpt_oss", expected: true },
    {
      name: "a name under another type",
      modelName: "openai/GPT-OSS-20b",
      modelType: "x",
      expected: true,
    },
    { name: "the markers alone", modelName: "house", expected: true },
    { name: "an empty type is unknown", modelName: "house", modelType: "", expected: true },
    {
      name: "not another type with the markers",
      modelName: "house",
      modelType: "llama",
      expected: false,
    },
    {
      name: "not a name without the markers",
      modelName: "gpt-oss-20b",
      tokens: [],
      expected: false,
    },
    {
      name: "not a type without one of the markers",
      modelName: "gpt-oss-20b",
      modelType: "gpt_oss",
      tokens: all.filter((token) => token !== "<|constrain|>"),
      expected: false,
    },
  ])("$name", ({ modelName, modelType, tokens = all, expected }, { expect }) => {
    const hasToken = (text: string): boolean => tokens.includes(text);
    expect(isHarmonyModel({ modelName, modelType, hasToken })).toBe(expected);
  });
});
