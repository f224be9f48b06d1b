import { createHash } from "node:crypto";

import { unzipSync } from "fflate";
import { describe, it } from "vitest";

import { open, QWEN, range, statusOf } from "./support.ts";

describe("information", () => {
  it("describes the model from its files", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, {
      tokenizer: QWEN,
      model: "org/model",
      servedModelName: "public",
      contextLength: 2000,
      maxTotalTokens: 50_000,
      weightVersion: "v7",
    });
    const info = await client.getModelInfo({});
    expect(info).toMatchObject({
      modelPath: "org/model",
      servedModelName: "public",
      isGeneration: true,
      weightVersion: "v7",
      // The KV pool, whatever the name says.
      maxContextLength: 50_000,
      maxReqInputLen: 1994,
      vocabSize: 151_665,
      eosTokenIds: [151_645],
      padTokenId: 151_643,
    });
    expect(info.tokenizerPath).toContain("tokenizer-qwen2_5");
  });

  it("tells its command line in server_args", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, {
      toolCallParser: "qwen",
      reasoningParser: "qwen3",
      disaggregationMode: "prefill",
      pageSize: 32,
      contextLength: 4096,
    });
    const info = await client.getServerInfo({});
    expect(info.serverArgs).toMatchObject({
      model_path: "simulated-model",
      tokenizer_path: null,
      tool_call_parser: "qwen",
      reasoning_parser: "qwen3",
      disaggregation_mode: "prefill",
      skip_tokenizer_init: false,
      page_size: 32,
      context_length: 4096,
    });
    expect(info.schedulerInfo).toMatchObject({ max_req_input_len: 4090 });
    expect(info).toMatchObject({
      serverType: "grpc",
      activeRequests: 0,
      maxTotalNumTokens: 262_144,
    });
  });

  it("has one rank", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished);
    expect(await client.getLoads({ include: ["core", "queues"] })).toMatchObject({
      dpRankCount: 1,
    });
    expect(await client.getLoads({ dpRank: 1 })).toMatchObject({ dpRankCount: 0, loads: [] });
    expect(await statusOf(client.getLoads({ include: ["coffee"] }))).toMatchObject({
      code: "InvalidArgument",
    });
  });
});

describe("health", () => {
  it("is NOT_SERVING until the engine is warm", async ({ expect, onTestFinished }) => {
    const { health } = await open(onTestFinished, { warmupMs: 150 });
    expect(await health.check({})).toMatchObject({ status: 2 });
    await new Promise((resolve) => setTimeout(resolve, 160));
    expect(await health.check({ service: "sglang.grpc.scheduler.SglangScheduler" })).toMatchObject({
      status: 1,
    });
    expect((await statusOf(health.check({ service: "other" }))).code).toBe("NotFound");
  });

  it("HealthCheck takes its time", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, { healthCheckMs: 80 });
    const startedMs = performance.now();
    expect(await client.healthCheck({})).toMatchObject({ healthy: true });
    expect(performance.now() - startedMs).toBeGreaterThan(75);
  });
});

describe("GetTokenizer", () => {
  it("sends a ZIP in 64 KiB pieces with its digest on the last", async ({
    expect,
    onTestFinished,
  }) => {
    const { client } = await open(onTestFinished, { tokenizer: QWEN });
    const pieces: Uint8Array[] = [];
    const digests: string[] = [];
    for await (const { data, sha256 } of client.getTokenizer({})) {
      pieces.push(data);
      digests.push(sha256);
    }
    const archive = Buffer.concat(pieces);
    expect(pieces.slice(0, -1).every(({ length }) => length === 65_536)).toBe(true);
    expect(digests.slice(0, -1).every((digest) => digest === "")).toBe(true);
    expect(digests.at(-1)).toBe(createHash("sha256").update(archive).digest("hex"));
    const files = unzipSync(archive);
    expect(Object.keys(files)).toEqual(["tokenizer.json", "tokenizer_config.json"]);
    expect(JSON.parse(Buffer.from(files["tokenizer_config.json"] ?? "").toString())).toHaveProperty(
      "chat_template",
    );
  });

  it("is FAILED_PRECONDITION without a tokenizer", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished);
    const first = client.getTokenizer({})[Symbol.asyncIterator]().next();
    expect((await statusOf(first)).code).toBe("FailedPrecondition");
  });
});

function dot(left: readonly number[] = [], right: readonly number[] = []): number {
  return left.reduce((sum, value, place) => sum + value * (right[place] ?? 0), 0);
}

describe("Embed", () => {
  it("gives a unit vector that depends on the ids alone", async ({ expect, onTestFinished }) => {
    const { client, engine } = await open(onTestFinished, { embedding: true, embeddingDim: 128 });
    const embed = async (inputIds: number[]) =>
      await client.embed({ requestId: "e", tokenized: { inputIds } });
    const [one, same, near, far] = await Promise.all(
      [range(0, 50), range(0, 50), range(1, 51), range(500, 550)].map(embed),
    );
    expect(one).toMatchObject({ embeddingDim: 128, promptTokens: 50 });
    expect(dot(one?.embedding, one?.embedding)).toBeCloseTo(1, 5);
    expect(same?.embedding).toEqual(one?.embedding);
    expect(dot(one?.embedding, near?.embedding)).toBeGreaterThan(0.9);
    expect(dot(one?.embedding, far?.embedding)).toBeLessThan(0.5);
    expect(engine.stats()).toMatchObject({ embeds: 4, running: 0, promptTokens: 200 });
    expect((await client.getModelInfo({})).isGeneration).toBe(false);
  });

  it("and Generate refuse each other's models", async ({ expect, onTestFinished }) => {
    const generation = await open(onTestFinished);
    const embedding = await open(onTestFinished, { embedding: true });
    const input = { requestId: "e", tokenized: { inputIds: [1] } };
    expect((await statusOf(generation.client.embed(input))).code).toBe("InvalidArgument");
    const first = embedding.client.generate(input)[Symbol.asyncIterator]().next();
    expect((await statusOf(first)).code).toBe("InvalidArgument");
  });
});
