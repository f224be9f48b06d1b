import { readFileSync } from "node:fs";

import { Code } from "@connectrpc/connect";
import * as fc from "fast-check";
import { describe, it } from "vitest";

import { openModelFiles } from "../../../scripts/engine/model-files.ts";
import { scenarioSchema } from "../../../scripts/engine/scenario.ts";
import type { ScenarioInput } from "../../../scripts/engine/scenario.ts";
import { openTextCodec } from "../../../scripts/engine/text-codec.ts";
import {
  END,
  IM_END,
  open,
  outcomeOf,
  QWEN,
  range,
  saying,
  statusOf,
  untilTrue,
} from "./support.ts";

const codec = () => openTextCodec(openModelFiles(QWEN));
const chat = (question: string) =>
  codec().encode(`<|im_start|>user\n${question}<|im_end|>\n<|im_start|>assistant\n`);

describe("what is said", () => {
  it("is the reply of the first rule whose pattern the prompt fits, with captures", async ({
    expect,
    onTestFinished,
  }) => {
    const { client } = await open(onTestFinished, {
      tokenizer: QWEN,
      scenario: {
        rules: [
          { when: "never", reply: "no" },
          { when: "(?<a>\\d+) plus (\\d+)", reply: "$1+$<a>=$$, $2 $3 $<b>" },
          { reply: "else" },
        ],
      },
    });
    const said = async (question: string) => {
      const { ids } = await outcomeOf(client, { prompt: chat(question) });
      expect(ids.at(-1)).toBe(IM_END);
      return codec().decode(ids.slice(0, -1));
    };
    expect(await said("what is 3 plus 4?")).toBe("3+3=$, 4 $3 $<b>");
    expect(await said("hello")).toBe("else");
  });

  it("writes special tokens of the text as their ids", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, {
      tokenizer: QWEN,
      scenario: { rules: [{ reply: "<tool_call>\n{}\n</tool_call>" }] },
    });
    const { ids } = await outcomeOf(client, { prompt: chat("x") });
    expect(ids[0]).toBe(151_657);
    expect(ids.slice(-2)).toEqual([151_658, IM_END]);
  });

  it("goes through a rule's replies in turn and stops at `times`", async ({
    expect,
    onTestFinished,
  }) => {
    const { client } = await open(onTestFinished, {
      scenario: {
        rules: [{ times: 3, replies: [{ ids: [1] }, { ids: [2] }] }, { reply: { ids: [3] } }],
      },
    });
    const said = [];
    for (let turn = 0; turn < 5; turn += 1) said.push((await outcomeOf(client)).ids[0]);
    expect(said).toEqual([1, 2, 1, 3, 3]);
  });

  it("ends as the rule says", async ({ expect, onTestFinished }) => {
    const { client, engine } = await open(onTestFinished);
    const rows = [
      { finish: "length", ids: [1, 2], matched: { case: undefined } },
      { finish: "abort", ids: [1, 2], matched: { case: undefined } },
      { finish: "stop", ids: [1, 2, END], matched: { case: "matchedTokenId", value: END } },
    ] as const;
    for (const { finish, ids, matched } of rows) {
      engine.setScenario(saying([1, 2], { finish }));
      const outcome = await outcomeOf(client);
      expect(outcome.ids).toEqual(ids);
      expect(outcome.completes[0]).toMatchObject({ finishReason: finish, matchedStop: matched });
    }
    engine.setScenario(saying([1, 2], { eos: 77 }));
    expect((await outcomeOf(client)).completes[0]?.matchedStop).toEqual({
      case: "matchedTokenId",
      value: 77,
    });
    engine.setScenario(saying([1, 2], { eos: false }));
    const bare = await outcomeOf(client);
    expect(bare.ids).toEqual([1, 2]);
    expect(bare.completes[0]).toMatchObject({
      finishReason: "stop",
      matchedStop: { case: undefined },
    });
    engine.setScenario(saying([1], { eos: "<nothing>" }));
    expect((await outcomeOf(client)).error?.rawMessage).toContain('end token "<nothing>"');
    engine.setScenario(saying([], { eos: false }));
    const nothing = await outcomeOf(client);
    expect(nothing.chunks.map(({ tokenIds }) => tokenIds)).toEqual([[]]);
    expect(nothing.completes[0]?.completionTokens).toBe(0);
  });

  it("counts reasoning tokens when the request asks for it", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, {
      scenario: saying(range(1, 6), { reasoningTokens: 3 }),
    });
    const counted = await outcomeOf(client, { requireReasoning: true });
    expect(counted.chunks.map(({ reasoningTokens }) => reasoningTokens)).toEqual([
      1, 2, 3, 3, 3, 3,
    ]);
    expect(counted.completes[0]?.reasoningTokens).toBe(3);
    expect((await outcomeOf(client)).completes[0]?.reasoningTokens).toBe(0);
  });

  it("waits as the rule says", async ({ expect, onTestFinished }) => {
    const { client, engine } = await open(onTestFinished);
    const took = async (settings: object) => {
      engine.setScenario(saying([1, 2, 3], settings));
      const startedMs = performance.now();
      await outcomeOf(client);
      return performance.now() - startedMs;
    };
    await took({});
    expect(await took({ startDelayMs: 60 })).toBeGreaterThan(55);
    expect(await took({ prefillMs: 60 })).toBeGreaterThan(55);
    expect(await took({ perTokenMs: 20 })).toBeGreaterThan(55);
  });
});

describe("without a scenario", () => {
  it("quotes the last question", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, { tokenizer: QWEN });
    const { ids, completes } = await outcomeOf(client, {
      prompt: chat("Who is <|im_start|>there?"),
    });
    expect(codec().decode(ids.slice(0, -1))).toBe(
      `This is a simulated reply from sgl-edge's engine simulator. You asked: "Who is there?"`,
    );
    expect(completes[0]?.matchedStop).toEqual({ case: "matchedTokenId", value: IM_END });
  });

  it("answers a JSON schema with JSON", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, { tokenizer: QWEN });
    const schema = { type: "object", properties: { a: { enum: [7, 8] }, b: {} }, required: ["a"] };
    const constraint = { case: "jsonSchema" as const, value: JSON.stringify(schema) };
    const { ids } = await outcomeOf(client, { prompt: chat("x"), sampling: { constraint } });
    expect(JSON.parse(codec().decode(ids.slice(0, -1)))).toEqual({ a: 7 });
  });

  it("echoes ids when there is no tokenizer", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished);
    expect((await outcomeOf(client, { prompt: range(100, 200) })).ids).toEqual([
      ...range(184, 200),
      END,
    ]);
  });
});

describe("chunking", () => {
  it("never changes what is said", async ({ expect, onTestFinished }) => {
    const { client, engine } = await open(onTestFinished);
    const chunking = fc.oneof(
      fc.constant("token" as const),
      fc.constant("all" as const),
      fc.record({ every: fc.integer({ min: 1, max: 9 }) }),
      fc.record({ random: fc.record({ seed: fc.integer(), max: fc.integer({ min: 1, max: 9 }) }) }),
    );
    const ids = fc.array(fc.integer({ min: 10, max: 999 }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(chunking, ids, async (chunks, reply) => {
        engine.setScenario(saying(reply, { chunks }));
        const outcome = await outcomeOf(client);
        expect(outcome.ids).toEqual([...reply, END]);
        expect(outcome.completes[0]?.outputIds).toEqual(outcome.chunks.at(-1)?.tokenIds);
        expect(outcome.completes[0]?.completionTokens).toBe(reply.length + 1);
        if (chunks === "all") expect(outcome.chunks).toHaveLength(1);
      }),
      { numRuns: 60 },
    );
  });
});

describe("faults", () => {
  const cuts = [
    { what: "connection", afterTokens: 0 },
    { what: "connection", afterTokens: 2 },
    { what: "stream", afterTokens: 0 },
    { what: "stream", afterTokens: 2 },
  ] as const;

  it.for(cuts)(
    "cut $what after $afterTokens tokens",
    async ({ what, afterTokens }, { expect, onTestFinished }) => {
      const fault = { kind: "cut", what, afterTokens };
      const { client, engine } = await open(onTestFinished, {
        scenario: saying(range(1, 6), { fault }),
      });
      const { ids, completes, error } = await outcomeOf(client);
      expect(ids).toEqual(range(1, 1 + afterTokens));
      expect(completes).toEqual([]);
      expect([Code.Unavailable, Code.Internal, Code.Aborted, Code.Canceled]).toContain(error?.code);
      await untilTrue(() => engine.stats().running === 0);
      expect(engine.stats()).toMatchObject({ failed: 1, tokensGenerated: afterTokens });
      engine.setScenario(saying([1]));
      expect((await outcomeOf(client)).completes).toHaveLength(1);
    },
  );

  it.for([0, 3])("status after %i tokens", async (afterTokens, { expect, onTestFinished }) => {
    const fault = { kind: "status", code: "RESOURCE_EXHAUSTED", message: "no", afterTokens };
    const { client, engine } = await open(onTestFinished, {
      scenario: saying(range(1, 6), { fault }),
    });
    const { ids, error } = await outcomeOf(client);
    expect(ids).toEqual(range(1, 1 + afterTokens));
    expect(error?.code).toBe(Code.ResourceExhausted);
    expect(error?.rawMessage).toBe("no");
    expect(engine.stats()).toMatchObject({ failed: 1, running: 0 });
  });

  it("sends what a chunk has held before the fault", async ({ expect, onTestFinished }) => {
    const fault = { kind: "status", code: "INTERNAL", afterTokens: 3 };
    const { client } = await open(onTestFinished, {
      scenario: saying(range(1, 6), { fault, chunks: "all" }),
    });
    const { chunks } = await outcomeOf(client);
    expect(chunks.map(({ tokenIds }) => tokenIds)).toEqual([[1, 2, 3]]);
  });

  it("silence, until the call is cancelled", async ({ expect, onTestFinished }) => {
    const fault = { kind: "silence", afterTokens: 2 };
    const { client, engine } = await open(onTestFinished, {
      scenario: saying(range(1, 6), { fault }),
    });
    const controller = new AbortController();
    const call = outcomeOf(client, {}, { signal: controller.signal });
    await untilTrue(() => engine.stats().tokensGenerated === 2);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(engine.stats()).toMatchObject({ running: 1, tokensGenerated: 2 });
    controller.abort();
    expect((await call).ids).toEqual([1, 2]);
    await untilTrue(() => engine.stats().running === 0);
  });

  it("a good end without complete", async ({ expect, onTestFinished }) => {
    const { client, engine } = await open(onTestFinished, {
      scenario: saying([1, 2], { fault: { kind: "missing-complete" } }),
    });
    const { ids, completes, error } = await outcomeOf(client);
    expect({ ids, completes, error }).toEqual({
      ids: [1, 2, END],
      completes: [],
      error: undefined,
    });
    expect(engine.stats()).toMatchObject({ failed: 1, completed: 0 });
  });

  it("faults of whole calls, as often as they say", async ({ expect, onTestFinished }) => {
    const { client, health, engine } = await open(onTestFinished, {
      scenario: {
        rpcs: {
          GetLoads: { status: { code: "UNAVAILABLE", message: "busy" }, times: 1 },
          Check: { silence: true },
          GetModelInfo: { delayMs: 60 },
        },
        health: "not-serving",
      },
    });
    expect(await statusOf(client.getLoads({}))).toEqual({ code: "Unavailable", message: "busy" });
    expect(await statusOf(client.getLoads({}))).toMatchObject({ code: "OK" });
    expect((await statusOf(health.check({}, { timeoutMs: 50 }))).code).toBe("DeadlineExceeded");
    const startedMs = performance.now();
    await client.getModelInfo({});
    expect(performance.now() - startedMs).toBeGreaterThan(55);
    engine.setScenario({ health: "not-serving" });
    expect(await health.check({})).toMatchObject({ status: 2 });
    engine.setScenario({});
    expect(await health.check({})).toMatchObject({ status: 1 });
  });
});

describe("scenario files", () => {
  const wrong: readonly {
    readonly name: string;
    readonly scenario: unknown;
    readonly says: string;
  }[] = [
    { name: "an unknown key", scenario: { rulez: [] }, says: "rulez" },
    { name: "an unknown key of a rule", scenario: { rules: [{ wen: "x" }] }, says: "wen" },
    { name: "a broken pattern", scenario: { rules: [{ when: "(" }] }, says: "regular expression" },
    {
      name: "an unknown status",
      scenario: { rules: [{ fault: { kind: "status", code: "NO" } }] },
      says: "NO",
    },
    {
      name: "text and ids",
      scenario: { rules: [{ reply: { text: "a", ids: [1] } }] },
      says: "rules",
    },
    {
      name: "reply and replies",
      scenario: { rules: [{ reply: "a", replies: ["b"] }] },
      says: "not both",
    },
  ];

  it.for(wrong)("$name is an error", ({ scenario, says }, { expect }) => {
    const parsed = scenarioSchema.safeParse(scenario);
    expect(parsed.success).toBe(false);
    expect(JSON.stringify(parsed.error?.issues)).toContain(says);
  });

  it("are what the guide's example shows", ({ expect }) => {
    const guide = readFileSync("docs/engine-simulator.md", "utf8");
    const example = /## Scenario files[^]*?```json\n([^]*?)```/.exec(guide)?.[1] ?? "";
    expect(scenarioSchema.safeParse(JSON.parse(example)).error).toBeUndefined();
  });

  it("take every documented setting", ({ expect }) => {
    const scenario: ScenarioInput = {
      rules: [
        {
          name: "all",
          when: "x",
          flags: "i",
          times: 1,
          replies: ["a", { text: "b", chunks: { random: { seed: 1, max: 2 } }, eos: "<|im_end|>" }],
          chunks: { every: 2 },
          finish: "stop",
          reasoningTokens: 1,
          startDelayMs: 1,
          prefillMs: 1,
          perTokenMs: 1,
          fault: { kind: "status", code: "INTERNAL" },
        },
      ],
      rpcs: { Abort: { delayMs: 1, status: { code: "INTERNAL" }, times: 2 } },
      health: "serving",
    };
    expect(scenarioSchema.safeParse(scenario).success).toBe(true);
  });
});
