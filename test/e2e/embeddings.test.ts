import OpenAI from "openai";
import { afterAll, beforeAll, describe, it } from "vitest";

import { API_KEY, startStack, type Stack } from "../support/stack.ts";
import { LLAMA, QWEN } from "../support/test-models.ts";

let stack: Stack;
let chats: Stack;
let openai: OpenAI;

beforeAll(async () => {
  stack = await startStack({ models: [QWEN], engine: { embedding: true, embeddingDim: 16 } });
  chats = await startStack({ models: [LLAMA] });
  openai = new OpenAI({ apiKey: API_KEY, baseURL: `${stack.url}/v1`, maxRetries: 0 });
});
afterAll(() => Promise.all([stack.close(), chats.close()]));

interface Reply {
  readonly data: readonly { readonly index: number; readonly embedding: number[] | string }[];
  readonly usage: { readonly prompt_tokens: number };
}

async function ask(input: unknown, more: Readonly<Record<string, unknown>> = {}): Promise<Reply> {
  const response = await stack.post("/v1/embeddings", { model: QWEN, input, ...more });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Reply;
}

describe("embeddings", () => {
  it("come through the openai SDK", async ({ expect }) => {
    const reply = await openai.embeddings.create({ model: QWEN, input: ["hello", "東京"] });
    expect(reply.data.map(({ index }) => index)).toEqual([0, 1]);
    for (const { embedding } of reply.data) expect(embedding).toHaveLength(16);
    expect(reply.data[0]?.embedding).not.toEqual(reply.data[1]?.embedding);
    expect(reply.usage.prompt_tokens).toBeGreaterThan(1);
  });

  it("are the same as floats and in base64", async ({ expect }) => {
    const floats = await ask("hello");
    const packed = await ask("hello", { encoding_format: "base64" });
    const bytes = Buffer.from(String(packed.data[0]?.embedding), "base64");
    const values = Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
    expect(values).toEqual(floats.data[0]?.embedding);
  });

  it("take token ids, one list or several", async ({ expect }) => {
    const text = await ask("hello");
    const tokens = (await (
      await stack.post("/tokenize", { model: QWEN, prompt: "hello" })
    ).json()) as { tokens: number[] };
    expect((await ask(tokens.tokens)).data[0]?.embedding).toEqual(text.data[0]?.embedding);
    const many = await ask([tokens.tokens, tokens.tokens]);
    expect(many.data).toHaveLength(2);
  });

  it("take many inputs in order", async ({ expect }) => {
    const inputs = Array.from({ length: 23 }, (_, index) => `text ${index}`);
    const { data } = await ask(inputs);
    const last = await ask("text 22");
    expect(data).toHaveLength(23);
    expect(data[22]?.embedding).toEqual(last.data[0]?.embedding);
  });

  it.for([
    { name: "no input", body: { model: QWEN }, param: "input" },
    { name: "an empty input", body: { model: QWEN, input: "" }, param: "input" },
    { name: "an empty list", body: { model: QWEN, input: [] }, param: "input" },
    { name: "dimensions", body: { model: QWEN, input: "x", dimensions: 8 }, param: "dimensions" },
    {
      name: "another encoding",
      body: { model: QWEN, input: "x", encoding_format: "int8" },
      param: "encoding_format",
    },
    { name: "an unknown id", body: { model: QWEN, input: [999_999] }, param: "input[0]" },
  ])("refuse $name", async ({ body, param }, { expect }) => {
    const response = await stack.post("/v1/embeddings", body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param } });
  });
});

describe("a model of the other kind", () => {
  it("that writes makes no embeddings", async ({ expect }) => {
    const response = await chats.post("/v1/embeddings", { model: LLAMA, input: "x" });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: "model" } });
  });

  it.for([
    { path: "/v1/chat/completions", body: { messages: [{ role: "user", content: "x" }] } },
    { path: "/v1/completions", body: { prompt: "x" } },
  ])("that makes embeddings does not answer $path", async ({ path, body }, { expect }) => {
    const response = await stack.post(path, { model: QWEN, ...body });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: "model" } });
  });
});
