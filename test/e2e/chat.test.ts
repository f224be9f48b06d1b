import OpenAI from "openai";
import { afterAll, beforeAll, describe, it } from "vitest";

import { joinContent, readSse } from "../support/sse.ts";
import { API_KEY, startStack, type Stack } from "../support/stack.ts";
import { LLAMA, QWEN } from "../support/test-models.ts";

const REPLY = "Grüße aus 東京! 🌍👨‍👩‍👧 삼겹살 ďábelské\n\n```ts\nconst x = 1;\n```";

let stack: Stack;
let openai: OpenAI;

beforeAll(async () => {
  stack = await startStack();
  openai = new OpenAI({ apiKey: API_KEY, baseURL: `${stack.url}/v1`, maxRetries: 0 });
});
afterAll(() => stack.close());

const models = [{ model: QWEN }, { model: LLAMA }];
const user = (content: string) => ({ role: "user" as const, content });

describe("the openai SDK", () => {
  it.for(models)("completes a buffered chat on $model", async ({ model }, { expect }) => {
    stack.engine(model).setScenario({ rules: [{ reply: REPLY }] });
    const completion = await openai.chat.completions.create({ model, messages: [user("hello")] });
    const { tokensGenerated } = stack.engine(model).stats();
    expect(completion).toMatchObject({
      object: "chat.completion",
      model,
      choices: [
        { index: 0, message: { role: "assistant", content: REPLY }, finish_reason: "stop" },
      ],
    });
    expect(completion.usage?.completion_tokens).toBeGreaterThan(10);
    expect(completion.usage?.completion_tokens).toBeLessThanOrEqual(tokensGenerated);
  });

  it.for(models)("completes a streamed chat on $model", async ({ model }, { expect }) => {
    stack.engine(model).setScenario({ rules: [{ reply: REPLY }] });
    const stream = await openai.chat.completions.create({
      model,
      messages: [user("hello")],
      stream: true,
      stream_options: { include_usage: true },
    });
    let content = "";
    const finishReasons: string[] = [];
    let usage;
    for await (const chunk of stream) {
      content += chunk.choices[0]?.delta.content ?? "";
      const reason = chunk.choices[0]?.finish_reason;
      if (reason != null) finishReasons.push(reason);
      usage = chunk.usage ?? usage;
    }
    expect(content).toBe(REPLY);
    expect(finishReasons).toEqual(["stop"]);
    expect(usage?.completion_tokens).toBeGreaterThan(10);
  });

  it.for(models)(
    "accumulates a stream of $model with its helper",
    async ({ model }, { expect }) => {
      stack.engine(model).setScenario({ rules: [{ reply: REPLY }] });
      const runner = openai.chat.completions.stream({ model, messages: [user("hello")] });
      const final = await runner.finalChatCompletion();
      expect(final.choices[0]?.message.content).toBe(REPLY);
    },
  );

  it("lists and shows models", async ({ expect }) => {
    const list = await openai.models.list();
    expect(list.data.map(({ id }) => id).sort()).toEqual([QWEN, LLAMA].sort());
    expect(await openai.models.retrieve(QWEN)).toMatchObject({ id: QWEN, object: "model" });
  });
});

describe("what the engine is sent", () => {
  it("has the model's own defaults where the client says nothing", async ({ expect }) => {
    const engine = stack.engine(QWEN);
    engine.reset();
    await stack.post("/v1/chat/completions", {
      model: QWEN,
      messages: [user("hi")],
      max_tokens: 4,
    });
    const [seen] = engine.stats().lastRequests;
    expect(seen?.request.samplingParams).toMatchObject({
      topK: 20,
      repetitionPenalty: 1,
      n: 1,
      maxNewTokens: 4,
      skipSpecialTokens: true,
      spacesBetweenSpecialTokens: true,
    });
    expect(seen?.request.samplingParams?.temperature).toBeCloseTo(0.6);
    expect(seen?.request).toMatchObject({ logprobStartLen: -1, stream: true });
  });

  it("is exactly what /tokenize says", async ({ expect }) => {
    const engine = stack.engine(LLAMA);
    engine.reset();
    const body = {
      model: LLAMA,
      messages: [{ role: "system", content: "Be brief." }, user("héllo 🌍")],
    };
    const tokenized = await (await stack.post("/tokenize", body)).json();
    await stack.post("/v1/chat/completions", { ...body, max_tokens: 2 });
    const [seen] = engine.stats().lastRequests;
    expect(tokenized).toMatchObject({ tokens: seen?.request.tokenized?.inputIds });
  });

  it("fills the context when no limit was given", async ({ expect }) => {
    const engine = stack.engine(QWEN);
    engine.setScenario({ rules: [{ reply: "ok" }] });
    engine.reset();
    const response = await stack.post("/v1/chat/completions", {
      model: QWEN,
      messages: [user("hi")],
    });
    const { usage } = (await response.json()) as { usage: { prompt_tokens: number } };
    const [seen] = engine.stats().lastRequests;
    expect(seen?.request.samplingParams?.maxNewTokens).toBe(40_960 - usage.prompt_tokens);
  });
});

describe("a stream", () => {
  it("starts with the role and ends with [DONE]", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: "one two three" }] });
    const response = await stack.post("/v1/chat/completions", {
      model: QWEN,
      stream: true,
      messages: [user("hi")],
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
    expect(response.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{24}$/);
    const transcript = await readSse(response);
    // Qwen3 thinks: every delta of such a model has the key.
    expect(transcript.json[0]?.choices?.[0]?.delta).toEqual({
      role: "assistant",
      content: "",
      reasoning_content: null,
    });
    expect(joinContent(transcript)).toBe("one two three");
    expect(transcript.isDone).toBe(true);
    const finishes = transcript.json
      .flatMap(({ choices = [] }) => choices)
      .filter((choice) => choice.finish_reason !== null);
    expect(finishes).toMatchObject([{ finish_reason: "stop", matched_stop: 151_645, delta: {} }]);
    expect(transcript.raw).not.toContain("usage");
    expect(new Set(transcript.json.map(({ id }) => id)).size).toBe(1);
  });

  it("tells the usage at the end, and null before, when asked", async ({ expect }) => {
    const response = await stack.post("/v1/chat/completions", {
      model: QWEN,
      stream: true,
      stream_options: { include_usage: true },
      messages: [user("hi")],
    });
    const { json } = await readSse(response);
    expect(json.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(json.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  });

  it("counts up in every chunk with continuous_usage_stats", async ({ expect }) => {
    const response = await stack.post("/v1/chat/completions", {
      model: QWEN,
      stream: true,
      stream_options: { continuous_usage_stats: true },
      messages: [user("hi")],
    });
    const { json } = await readSse(response);
    const counts = json.slice(1).map(({ usage }) => usage?.completion_tokens ?? -1);
    expect(counts.length).toBeGreaterThan(2);
    expect(counts).toEqual([...counts].sort((one, other) => one - other));
    expect(counts[0]).toBeGreaterThan(0);
  });

  it("carries the role even when the model ends at once", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: "" }] });
    const response = await stack.post("/v1/chat/completions", {
      model: QWEN,
      stream: true,
      messages: [user("hi")],
    });
    const { json, isDone } = await readSse(response);
    expect(json.map(({ choices }) => choices?.[0]?.finish_reason)).toEqual([null, "stop"]);
    expect(isDone).toBe(true);
  });

  it("gives a token when it comes, not later", async ({ expect }) => {
    stack
      .engine(QWEN)
      .setScenario({ rules: [{ reply: "a b c d e f g h i j k l m n o p", perTokenMs: 40 }] });
    const response = await stack.post("/v1/chat/completions", {
      model: QWEN,
      stream: true,
      messages: [user("hi")],
    });
    const reader = response.body?.getReader();
    let writes = 0;
    while ((await reader?.read())?.done === false) writes += 1;
    expect(writes).toBeGreaterThan(12);
  });
});

const chunkings = [
  { name: "per token", chunks: "token" as const },
  { name: "three at once", chunks: { every: 3 } },
  { name: "all at once", chunks: "all" as const },
  { name: "at random", chunks: { random: { seed: 7, max: 5 } } },
];

const stopRows = [
  { name: "no stop", body: {}, content: REPLY, finish: "stop" },
  {
    name: "a stop inside words",
    body: { stop: ["東京! "] },
    content: "Grüße aus ",
    finish: "stop",
    matched: "東京! ",
  },
  {
    name: "a stop that is kept",
    body: { stop: "ts", no_stop_trim: true },
    content: REPLY.slice(0, REPLY.indexOf("ts") + 2),
    finish: "stop",
    matched: "ts",
  },
  { name: "a length", body: { max_tokens: 3 }, content: null, finish: "length", matched: null },
] as const;

describe("however the engine cuts its output", () => {
  const rows = stopRows.flatMap((row) =>
    chunkings.map((chunking) => ({ row, chunking, title: `${row.name}, ${chunking.name}` })),
  );
  it.for(rows)("$title: streamed equals buffered", async ({ row, chunking }, { expect }) => {
    stack.engine(LLAMA).setScenario({ rules: [{ reply: REPLY, chunks: chunking.chunks }] });
    const body = { model: LLAMA, messages: [user("hi")], ...row.body };
    const buffered = (await (await stack.post("/v1/chat/completions", body)).json()) as {
      choices: { message: { content: string }; finish_reason: string; matched_stop: unknown }[];
      usage: object;
    };
    const streamed = await readSse(
      await stack.post("/v1/chat/completions", {
        ...body,
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    const [choice] = buffered.choices;
    expect(joinContent(streamed)).toBe(choice?.message.content);
    expect(choice?.finish_reason).toBe(row.finish);
    if (row.content !== null) expect(choice?.message.content).toBe(row.content);
    if ("matched" in row) expect(choice?.matched_stop).toBe(row.matched);
    const end = streamed.json
      .flatMap(({ choices = [] }) => choices)
      .find(({ finish_reason: reason }) => reason !== null);
    expect(end).toMatchObject({ finish_reason: row.finish, matched_stop: choice?.matched_stop });
    // The second request finds its prompt in the engine's cache; all other counts agree.
    const withoutCache = (usage: object) => ({ ...usage, prompt_tokens_details: undefined });
    expect(withoutCache(streamed.json.at(-1)?.usage ?? {})).toEqual(withoutCache(buffered.usage));
  });
});

describe("usage", () => {
  it("tells what the engine found in its cache", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: "ok" }] });
    const body = {
      model: QWEN,
      messages: [user("a prompt that nobody has sent before ".repeat(40))],
    };
    const cached = async () => {
      const { usage } = (await (await stack.post("/v1/chat/completions", body)).json()) as {
        usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
      };
      return { prompt: usage.prompt_tokens, cached: usage.prompt_tokens_details.cached_tokens };
    };
    const first = await cached();
    expect(first.cached).toBeLessThan(20);
    expect((await cached()).cached).toBeGreaterThan(first.prompt - 20);
  });
});

describe("special tokens", () => {
  const rows = [
    { name: "are left out", body: {}, content: "before after" },
    {
      name: "are shown when asked for",
      body: { skip_special_tokens: false },
      content: "before<|object_ref_start|> after",
    },
    {
      name: "can be stopped at although they are not shown",
      body: { stop: "<|object_ref_start|>" },
      content: "before",
    },
  ];
  it.for(rows)("$name", async ({ body, content }, { expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: "before<|object_ref_start|> after" }] });
    const response = await stack.post("/v1/chat/completions", {
      model: QWEN,
      messages: [user("hi")],
      ...body,
    });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content } }] });
  });
});

describe("continue_final_message", () => {
  it("goes on with the assistant's turn", async ({ expect }) => {
    const engine = stack.engine(QWEN);
    engine.reset();
    const response = await stack.post("/v1/chat/completions", {
      model: QWEN,
      messages: [user("Count."), { role: "assistant", content: "one, two," }],
      continue_final_message: true,
      max_tokens: 2,
    });
    expect(response.status).toBe(200);
    const [seen] = engine.stats().lastRequests;
    expect(seen?.request.tokenized?.originalText).toMatch(/one, two,$/);
  });
});

describe("tokenize and detokenize", () => {
  it("give a text back", async ({ expect }) => {
    const text = "Grüße, 東京 🌍!";
    const tokenized = (await (
      await stack.post("/tokenize", { model: LLAMA, prompt: text })
    ).json()) as {
      tokens: number[];
      count: number;
      max_model_len: number;
    };
    expect(tokenized).toMatchObject({ count: tokenized.tokens.length, max_model_len: 131_072 });
    expect(tokenized.tokens[0]).toBe(128_000);
    const back = await stack.post("/v1/detokenize", { model: LLAMA, tokens: tokenized.tokens });
    expect(await back.json()).toEqual({ text });
  });

  it("take several texts", async ({ expect }) => {
    const tokenized = await stack.post("/v1/tokenize", {
      model: QWEN,
      prompt: ["a", "b c"],
      add_special_tokens: false,
    });
    const { tokens, count } = (await tokenized.json()) as { tokens: number[][]; count: number[] };
    expect(count).toEqual([1, 2]);
    const back = await stack.post("/detokenize", { model: QWEN, tokens });
    expect(await back.json()).toEqual({ text: ["a", "b c"] });
  });
});
