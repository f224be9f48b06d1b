import { describe, it } from "vitest";

import type { GenerationOptions } from "../../../src/core/chat-request.ts";
import { toEngineSampling } from "../../../src/generation/sampling.ts";

const options: GenerationOptions = {
  sampling: {},
  stop: { strings: ["x"], tokenIds: [7], minTokens: 1, ignoreEos: false, noStopTrim: false },
  n: 1,
  detokenize: { skipSpecialTokens: true, spacesBetweenSpecialTokens: true },
};
const context = { defaults: {}, maxNewTokens: 5, acceptsStopStrings: true };

describe("sampling parameters", () => {
  it("sends the engine's neutral values, not proto3's zeros", ({ expect }) => {
    expect(toEngineSampling(options, context)).toEqual({
      temperature: 1,
      topP: 1,
      topK: -1,
      minP: 0,
      frequencyPenalty: 0,
      presencePenalty: 0,
      repetitionPenalty: 1,
      logitBias: {},
      stop: ["x"],
      stopTokenIds: [7],
      minNewTokens: 1,
      ignoreEos: false,
      noStopTrim: false,
      skipSpecialTokens: true,
      spacesBetweenSpecialTokens: true,
      n: 1,
      maxNewTokens: 5,
    });
  });

  const rows = [
    {
      name: "the model's default",
      client: {},
      defaults: { temperature: 0.6, top_p: 0.95, top_k: 20 },
      expected: { temperature: 0.6, topP: 0.95, topK: 20 },
    },
    {
      name: "the client over the model",
      client: { temperature: 0, topK: 5 },
      defaults: { temperature: 0.6, top_k: 20 },
      expected: { temperature: 0, topK: 5 },
    },
    { name: "top_k 0 as no limit", client: { topK: 0 }, defaults: {}, expected: { topK: -1 } },
    {
      name: "a model card's top_k 0 as no limit",
      client: {},
      defaults: { top_k: 0 },
      expected: { topK: -1 },
    },
  ];
  it.for(rows)("takes $name", ({ client, defaults, expected }, { expect }) => {
    expect(
      toEngineSampling({ ...options, sampling: client }, { ...context, defaults }),
    ).toMatchObject(expected);
  });

  it("keeps stop strings from a worker that refuses them", ({ expect }) => {
    expect(toEngineSampling(options, { ...context, acceptsStopStrings: false }).stop).toEqual([]);
  });
});
