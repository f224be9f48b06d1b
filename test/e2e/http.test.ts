import { afterAll, beforeAll, describe, it } from "vitest";

import { API_KEY, startStack, type Stack } from "../support/stack.ts";
import { LLAMA } from "../support/test-models.ts";

/** The engine takes prompts shorter than this. */
const MAX_REQ_INPUT_LEN = 500;

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ models: [LLAMA], engine: { maxReqInputLen: MAX_REQ_INPUT_LEN } });
});
afterAll(() => stack.close());

const ROUTES = [
  "/v1/chat/completions",
  "/v1/completions",
  "/v1/embeddings",
  "/v1/models",
  "/tokenize",
];

describe("a browser", () => {
  it.for(ROUTES)("may ask before it sends, without a key: %s", async (path, { expect }) => {
    const response = await fetch(stack.url + path, {
      method: "OPTIONS",
      headers: {
        origin: "https://app.example.com",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type",
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-allow-headers")).toContain("authorization");
  });

  it("may read replies and the headers that matter", async ({ expect }) => {
    const response = await fetch(`${stack.url}/v1/models`, {
      headers: { authorization: `Bearer ${API_KEY}`, origin: "https://app.example.com" },
    });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-expose-headers")).toContain("x-request-id");
  });
});

describe("a prompt at the border of what the worker takes", () => {
  it("is refused by the edge, in its own words, before the engine sees it", async ({ expect }) => {
    const engine = stack.engine(LLAMA);
    const ask = async (count: number): Promise<Response> =>
      stack.post("/v1/completions", { model: LLAMA, prompt: " a".repeat(count), max_tokens: 1 });
    // One BOS token, and one for each " a"; the worker takes less than its max_req_input_len.
    engine.reset();
    const refused = await ask(MAX_REQ_INPUT_LEN - 1);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { code: "context_length_exceeded", param: "prompt" },
    });
    expect(engine.stats().requests).toBe(0);
    expect((await ask(MAX_REQ_INPUT_LEN - 2)).status).toBe(200);
  });
});
