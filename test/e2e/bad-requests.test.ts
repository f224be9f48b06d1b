import { afterAll, beforeAll, describe, it } from "vitest";

import { API_KEY, startStack, type Stack } from "../support/stack.ts";
import { QWEN } from "../support/test-models.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ models: [QWEN], vars: { MAX_BODY_BYTES: "200000" } });
});
afterAll(() => stack.close());

const CHAT = "/v1/chat/completions";
const messages = [{ role: "user", content: "hi" }];
const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

interface Row {
  readonly name: string;
  readonly path?: string;
  readonly init?: RequestInit;
  readonly body?: unknown;
  readonly status: number;
  readonly error: {
    readonly type: string;
    readonly code?: string | null;
    readonly param?: string | null;
  };
}

const invalid = "invalid_request_error";
const rows: readonly Row[] = [
  { name: "broken JSON", body: '{"model": "x"', status: 400, error: { type: invalid } },
  { name: "an empty body", body: "", status: 400, error: { type: invalid } },
  { name: "a body that is a number", body: "7", status: 400, error: { type: invalid } },
  {
    name: "a wrong type",
    body: { model: QWEN, messages, temperature: "hot" },
    status: 400,
    error: { type: invalid, param: "temperature" },
  },
  {
    name: "a wrong content part",
    body: {
      model: QWEN,
      messages: [{ role: "user", content: [{ type: "input_audio", input_audio: {} }] }],
    },
    status: 400,
    error: { type: invalid, param: "messages[0].content[0].type" },
  },
  {
    name: "an unknown model",
    body: { model: "nobody/nothing", messages },
    status: 404,
    error: { type: invalid, code: "model_not_found", param: "model" },
  },
  {
    name: "a model that is a path",
    body: { model: "../../etc/passwd", messages },
    status: 404,
    error: { type: invalid, code: "model_not_found" },
  },
  {
    name: "a huge body",
    body: { model: QWEN, messages: [{ role: "user", content: "x".repeat(250_000) }] },
    status: 413,
    error: { type: invalid },
  },
  {
    name: "deep nesting",
    body: `{"model": "${QWEN}", "messages": ${deep(5_000)}}`,
    status: 400,
    error: { type: invalid },
  },
  {
    name: "deep nesting in template variables",
    body: `{"model": "${QWEN}", "messages": ${JSON.stringify(messages)}, "chat_template_kwargs": {"a": ${deep(5_000)}}}`,
    status: 400,
    error: { type: invalid },
  },
  {
    name: "form data",
    init: { headers: { "content-type": "application/x-www-form-urlencoded" } },
    body: "a=b",
    status: 415,
    error: { type: invalid },
  },
  {
    name: "invalid UTF-8",
    init: { body: Buffer.from([0x7b, 0xff, 0x7d]) },
    status: 400,
    error: { type: invalid },
  },
  {
    name: "a wrong method",
    init: { method: "PUT" },
    body: {},
    status: 405,
    error: { type: invalid },
  },
  {
    name: "an unknown route",
    path: "/v1/definitely-not-a-route",
    body: {},
    status: 404,
    error: { type: invalid },
  },
  {
    name: "a prompt over the context",
    body: {
      model: QWEN,
      messages: [{ role: "user", content: "word ".repeat(39_900) }],
      max_tokens: 2_000,
    },
    status: 400,
    error: { type: invalid, code: "context_length_exceeded", param: "messages" },
  },
  {
    name: "max_tokens over the context",
    body: { model: QWEN, messages, max_tokens: 50_000 },
    status: 400,
    error: { type: invalid, code: "context_length_exceeded" },
  },
  {
    name: "a bias for a token that does not exist",
    body: { model: QWEN, messages, logit_bias: { "9999999": 1 } },
    status: 400,
    error: { type: invalid, param: "logit_bias.9999999" },
  },
  {
    name: "a tool that is no function",
    body: { model: QWEN, messages, tools: [{ type: "web_search" }] },
    status: 400,
    error: { type: invalid, param: "tools[0].type" },
  },
  {
    name: "neither prompt nor messages to tokenize",
    path: "/tokenize",
    body: { model: QWEN },
    status: 400,
    error: { type: invalid },
  },
  {
    name: "a token id that does not exist",
    path: "/detokenize",
    body: { model: QWEN, tokens: [1, 99_999_999] },
    status: 400,
    error: { type: invalid, param: "tokens[1]" },
  },
  {
    name: "no key",
    init: { headers: { authorization: "" } },
    body: {},
    status: 401,
    error: { type: "authentication_error", code: "invalid_api_key" },
  },
  {
    name: "a wrong key",
    init: { headers: { authorization: "Bearer sk-wrong" } },
    body: {},
    status: 401,
    error: { type: "authentication_error", code: "invalid_api_key" },
  },
];

describe("a bad request", () => {
  it.for(rows)(
    "$name: $status",
    async ({ path = CHAT, init = {}, body, status, error }, { expect }) => {
      const engine = stack.engine(QWEN);
      engine.reset();
      const response = await (init.body === undefined
        ? stack.post(path, body, init)
        : fetch(stack.url + path, {
            method: "POST",
            headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" },
            ...init,
          }));
      expect(response.status).toBe(status);
      expect(response.headers.get("x-request-id")).toBeTruthy();
      const reply = (await response.json()) as { error: { message: string } };
      expect(reply.error).toMatchObject(error);
      expect(reply.error.message.length).toBeGreaterThan(10);
      expect(Object.keys(reply.error).sort()).toEqual(["code", "message", "param", "type"]);
      expect(engine.stats().requests).toBe(0);
    },
  );

  it("never shows what the template's stack looks like", async ({ expect }) => {
    const response = await stack.post(CHAT, {
      model: QWEN,
      messages,
      chat_template_kwargs: { messages: 5 },
    });
    expect(response.status).toBe(400);
    expect(await response.text()).not.toMatch(/\bat \w+ \(|\.ts:\d/);
  });
});

describe("headers", () => {
  it("names the allowed methods", async ({ expect }) => {
    const response = await fetch(stack.url + CHAT, {
      method: "DELETE",
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  });

  const ids = [
    { given: "abc-1.2_3", taken: true },
    { given: "a".repeat(128), taken: true },
    { given: "a".repeat(129), taken: false },
    { given: "a b", taken: false },
    { given: 'x","level":"error', taken: false },
  ];
  it.for(ids)("takes x-request-id $given: $taken", async ({ given, taken }, { expect }) => {
    const response = await fetch(`${stack.url}/health`, { headers: { "x-request-id": given } });
    const id = response.headers.get("x-request-id");
    expect(id === given).toBe(taken);
    expect(id).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  });

  it("answers a preflight without a key", async ({ expect }) => {
    const response = await fetch(stack.url + CHAT, {
      method: "OPTIONS",
      headers: {
        origin: "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type, x-stainless-lang",
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-allow-headers")).toContain("x-stainless-lang");
  });

  it("lets a browser read errors too", async ({ expect }) => {
    const response = await fetch(stack.url + CHAT, {
      method: "POST",
      headers: { origin: "https://app.example" },
    });
    expect(response.status).toBe(401);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
  });

  it("takes the key as x-api-key", async ({ expect }) => {
    const response = await fetch(`${stack.url}/v1/models`, { headers: { "x-api-key": API_KEY } });
    expect(response.status).toBe(200);
  });

  it("does not serve the models' files", async ({ expect }) => {
    const response = await fetch(`${stack.url}/models/index.json`, {
      headers: { "x-api-key": API_KEY },
    });
    expect(response.status).toBe(404);
  });
});

describe("health", () => {
  it("needs no key", async ({ expect }) => {
    expect((await fetch(`${stack.url}/health`)).status).toBe(200);
    expect((await fetch(`${stack.url}/ready`)).status).toBe(200);
  });

  it("is not ready while no worker serves", async ({ expect }) => {
    const engine = stack.engine(QWEN);
    engine.setScenario({ health: "not-serving" });
    expect((await fetch(`${stack.url}/ready`)).status).toBe(503);
    engine.setScenario({});
    expect((await fetch(`${stack.url}/ready`)).status).toBe(200);
  });
});

describe("the log", () => {
  it("never holds keys or prompts", async ({ expect }) => {
    await stack.post(CHAT, {
      model: QWEN,
      messages: [{ role: "user", content: "a very secret prompt" }],
      max_tokens: 2,
    });
    await stack.post(CHAT, {
      model: QWEN,
      messages: [{ role: "user", content: "a very secret prompt" }],
      top_p: 7,
    });
    const text = stack.logs().join("\n");
    expect(text).toContain('"event":"generation"');
    expect(text).not.toContain("very secret");
    expect(text).not.toContain(API_KEY);
    expect(text).not.toContain("sk-wrong");
  });
});
