import OpenAI from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import type { ResponseInput } from "openai/resources/responses/responses";
import { afterAll, beforeAll, describe, it } from "vitest";
import * as z from "zod";

import { API_KEY, startStack, type Stack } from "../support/stack.ts";
import { GPT_OSS, QWEN } from "../support/test-models.ts";
import { foldEvents, parseEvents } from "../unit/api/responses/fold-events.ts";

const PATH = "/v1/responses";
const REPLY = "<think>\nhm\n</think>\n\nGrüße aus 東京! 🌍";
const CALL =
  '<think>\nhm\n</think>\n\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>';

let stack: Stack;
let openai: OpenAI;

beforeAll(async () => {
  stack = await startStack({
    models: [QWEN, GPT_OSS],
    vars: { FIRST_TOKEN_TIMEOUT_MS: "1000", STALL_TIMEOUT_MS: "1000", HEADERS_HOLD_MS: "5000" },
  });
  openai = new OpenAI({ apiKey: API_KEY, baseURL: `${stack.url}/v1`, maxRetries: 0 });
});
afterAll(() => stack.close());

const weather = zodResponsesFunction({
  name: "get_weather",
  parameters: z.object({ city: z.string() }),
});

/** The prompt of the last request, as the engine was sent it. */
function lastPrompt(model: string): string {
  const request = stack.engine(model).stats().lastRequests.at(-1)?.request;
  return request?.tokenized?.originalText ?? "";
}

async function readEvents(body: object) {
  const response = await stack.post(PATH, { model: QWEN, input: "hi", stream: true, ...body });
  const raw = await response.text();
  const events = parseEvents(raw);
  const final = events.at(-1)?.response;
  if (final === undefined) throw new Error(`no end: ${raw}`);
  return { response, raw, events, final };
}

describe("the openai SDK", () => {
  it("creates a response", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: REPLY }] });
    const response = await openai.responses.create({
      model: QWEN,
      instructions: "Be brief.",
      input: "hello",
      metadata: { a: "b" },
    });
    expect(response.output_text).toBe("\n\nGrüße aus 東京! 🌍");
    expect(response).toMatchObject({
      object: "response",
      status: "completed",
      model: QWEN,
      instructions: "Be brief.",
      metadata: { a: "b" },
      output: [{ type: "reasoning" }, { type: "message" }],
      usage: { output_tokens_details: { reasoning_tokens: expect.any(Number) as number } },
    });
    expect(lastPrompt(QWEN)).toContain("<|im_start|>system\nBe brief.<|im_end|>");
  });

  it("follows a stream to the same response", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: { text: REPLY, chunks: "token" } }] });
    const stream = openai.responses.stream({ model: QWEN, input: "hello" });
    let text = "";
    stream.on("response.output_text.delta", ({ delta }) => (text += delta));
    const response = await stream.finalResponse();
    expect(text).toBe("\n\nGrüße aus 東京! 🌍");
    expect(response.output_text).toBe(text);
    expect(response.status).toBe("completed");
  });

  it("runs a tool loop with the output as the next input", async ({ expect }) => {
    stack.engine(QWEN).setScenario({
      rules: [{ when: "sunny, 21", reply: "<think>\n\n</think>\n\nIt is sunny." }, { reply: CALL }],
    });
    const input: ResponseInput = [{ role: "user", content: "What is the weather in Paris?" }];
    const first = await openai.responses.parse({ model: QWEN, input, tools: [weather] });
    const call = first.output.find((item) => item.type === "function_call");
    expect(call).toMatchObject({
      name: "get_weather",
      parsed_arguments: { city: "Paris" },
      status: "completed",
    });
    input.push(...(first.output as ResponseInput), {
      type: "function_call_output",
      call_id: call?.call_id ?? "",
      output: "sunny, 21 degrees",
    });
    const second = await openai.responses.create({ model: QWEN, input, tools: [weather] });
    expect(second.output_text).toBe("\n\nIt is sunny.");
    // The thoughts that led to the call are part of the turn again.
    expect(lastPrompt(QWEN)).toContain("<think>\nhm\n</think>\n\n<tool_call>\n");
    expect(lastPrompt(QWEN)).toContain("<tool_response>\nsunny, 21 degrees\n</tool_response>");
  });

  it("parses structured output, constrained by its schema", async ({ expect }) => {
    stack
      .engine(QWEN)
      .setScenario({ rules: [{ reply: '<think>\n\n</think>\n\n{"city": "東京", "days": 3}' }] });
    const response = await openai.responses.parse({
      model: QWEN,
      input: "Where?",
      text: { format: zodTextFormat(z.object({ city: z.string(), days: z.number() }), "city") },
    });
    expect(response.output_parsed).toEqual({ city: "東京", days: 3 });
    const request = stack.engine(QWEN).stats().lastRequests.at(-1)?.request;
    expect(request?.samplingParams?.constraint.case).toBe("jsonSchema");
  });

  it("reads log probabilities that it asked for", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: "<think>\nhm\n</think>\n\nYes." }] });
    const response = await openai.responses.create({
      model: QWEN,
      input: "hello",
      include: ["message.output_text.logprobs"],
      top_logprobs: 2,
    });
    const message = response.output.find((item) => item.type === "message");
    const part = message?.content[0];
    const tokens = part?.type === "output_text" ? (part.logprobs ?? []) : [];
    expect(tokens.map(({ token }) => token).join("")).toBe("\n\nYes.");
    expect(tokens.every((entry) => entry.top_logprobs.length === 2)).toBe(true);
  });
});

describe("an agent that speaks as Codex does", () => {
  const tools = [
    {
      type: "function",
      name: "exec_command",
      description: "Runs a command",
      strict: false,
      parameters: { type: "object", properties: { cmd: { type: "string" } } },
    },
    {
      type: "custom",
      name: "apply_patch",
      description: "Edits files",
      format: { type: "grammar", syntax: "lark", definition: 'start: "x"' },
    },
    {
      type: "namespace",
      name: "agents",
      description: "Sub-agents",
      tools: [{ type: "function", name: "wait", parameters: { type: "object", properties: {} } }],
    },
    { type: "tool_search", execution: "client" },
    { type: "web_search", external_web_access: true },
  ];
  const text = (value: string) => [{ type: "input_text", text: value }];
  const body = {
    input: [
      { type: "message", id: "msg_1", role: "developer", content: text("You are an agent.") },
      { type: "message", id: "msg_2", role: "developer", content: text("Ask first.") },
      { type: "message", id: "msg_3", role: "user", content: text("Patch it.") },
    ],
    tools,
    tool_choice: "auto",
    parallel_tool_calls: true,
    reasoning: { effort: "medium", summary: "auto" },
    store: false,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "key",
    client_metadata: { session_id: "1" },
  };
  const callOf = (name: string, args: object) =>
    `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`;

  it("gets its own tools called, and is told what was left out", async ({ expect }) => {
    const reply = [
      "<think>\nhm\n</think>\n\nOn it.\n",
      callOf("apply_patch", { input: "*** Begin\n+é 🌍\n*** End" }),
      callOf("agents__wait", {}),
      callOf("exec_command", { cmd: "ls" }),
    ].join("\n");
    stack.engine(QWEN).setScenario({ rules: [{ reply: { text: reply, chunks: "token" } }] });
    const { response, events, final } = await readEvents(body);
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("x-sgl-edge-ignored")).toBe("tools[3], tools[4], include[0]");
    expect(final.output).toMatchObject([
      { type: "reasoning" },
      { type: "message" },
      { type: "custom_tool_call", name: "apply_patch", input: "*** Begin\n+é 🌍\n*** End" },
      { type: "function_call", name: "wait", namespace: "agents" },
      { type: "function_call", name: "exec_command", arguments: '{"cmd":"ls"}' },
    ]);
    expect(foldEvents(events)).toEqual(final.output);
    expect(lastPrompt(QWEN)).toContain(
      "<|im_start|>system\nYou are an agent.\n\nAsk first.\n\n# Tools",
    );
  });

  it("goes on with its history", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: "done" }] });
    const { final } = await readEvents({
      ...body,
      input: [
        ...body.input,
        { type: "reasoning", id: "rs_1", summary: [], content: null, encrypted_content: "gAAAA" },
        {
          type: "custom_tool_call",
          id: "ctc_1",
          status: "completed",
          call_id: "call_1",
          name: "apply_patch",
          input: "x",
        },
        {
          type: "function_call",
          call_id: "call_2",
          name: "wait",
          namespace: "agents",
          arguments: "{}",
        },
        { type: "function_call_output", call_id: "call_2", output: "waited" },
        { type: "custom_tool_call_output", call_id: "call_1", output: text("patched") },
      ],
    });
    expect(final.status).toBe("completed");
    const prompt = lastPrompt(QWEN);
    const places = ['"input": "x"', "agents__wait", "patched", "waited"].map((part) =>
      prompt.lastIndexOf(part),
    );
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual(places.toSorted((one, other) => one - other));
  });

  it("works with Harmony's calls", async ({ expect }) => {
    stack.engine(GPT_OSS).setScenario({
      rules: [
        {
          reply:
            "<|channel|>analysis<|message|>hm<|end|><|start|>assistant" +
            '<|channel|>commentary to=functions.apply_patch <|constrain|>json<|message|>{"input":"x"}<|call|>',
        },
      ],
    });
    const { events, final } = await readEvents({ ...body, model: GPT_OSS });
    expect(final.output).toMatchObject([
      { type: "reasoning", content: [{ text: "hm" }] },
      { type: "custom_tool_call", name: "apply_patch", input: "x" },
    ]);
    expect(foldEvents(events)).toEqual(final.output);
  });

  it("is sent back from a WebSocket to POST", async ({ expect }) => {
    const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
    expect(await statusOfUpgrade(upgrade)).toBe(426);
    const plain = await fetch(stack.url + PATH, {
      headers: { authorization: `Bearer ${API_KEY}` },
    });
    expect(plain.status).toBe(405);
    expect(plain.headers.get("allow")).toBe("POST, OPTIONS");
  });
});

/** `fetch` sends no upgrades. */
async function statusOfUpgrade(headers: Readonly<Record<string, string>>): Promise<number> {
  const { request } = await import("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(stack.url + PATH, {
    headers: {
      ...headers,
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
      authorization: `Bearer ${API_KEY}`,
    },
  });
  sent.on("response", (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  sent.on("upgrade", (_response, socket) => {
    socket.destroy();
    resolve(101);
  });
  sent.on("error", reject);
  sent.end();
  return promise;
}

describe("a response that was cut", () => {
  it("is incomplete at its limit", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: REPLY }] });
    const response = await openai.responses.create({
      model: QWEN,
      input: "hello",
      max_output_tokens: 7,
    });
    expect(response).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      completed_at: null,
      max_output_tokens: 7,
    });
    expect(response.output.at(-1)).toMatchObject({ status: "incomplete" });
    expect(response.usage?.output_tokens).toBe(7);
  });

  const faults = [
    {
      name: "INTERNAL",
      fault: { kind: "status", code: "INTERNAL", message: "CUDA", afterTokens: 9 },
    },
    { name: "a cut connection", fault: { kind: "cut", afterTokens: 9 } },
    { name: "silence", fault: { kind: "silence", afterTokens: 9 } },
    { name: "no last message", fault: { kind: "missing-complete" } },
  ] as const;

  it.for(faults)("has failed when the engine does: $name", async ({ fault }, { expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: REPLY, fault }] });
    const { response, raw, events, final } = await readEvents({});
    expect(response.status).toBe(200);
    expect(events.at(-1)?.type).toBe("response.failed");
    expect(final).toMatchObject({
      status: "failed",
      error: { code: "server_error", message: expect.not.stringContaining("CUDA") as string },
    });
    expect(final.output.at(-1)).toMatchObject({ type: "message", status: "incomplete" });
    expect(foldEvents(events)).toEqual(final.output);
    expect(raw).not.toContain("[DONE]");
  });

  it.for([true, false])(
    "is an HTTP error before its first token (stream %s)",
    async (stream, { expect }) => {
      stack
        .engine(QWEN)
        .setScenario({ rules: [{ reply: REPLY, fault: { kind: "status", code: "UNAVAILABLE" } }] });
      const response = await stack.post(PATH, { model: QWEN, input: "hi", stream });
      expect(response.status).toBe(503);
      expect(response.headers.get("retry-after")).not.toBeNull();
      expect(await response.json()).toMatchObject({ error: { code: "no_available_workers" } });
    },
  );
});

describe("truncation", () => {
  it("leaves the oldest turns out of a prompt that is too long", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: "ok" }] });
    const input = [
      { role: "developer", content: "Be brief." },
      { role: "user", content: "first question" },
      { role: "assistant", content: "word ".repeat(30_000) },
      { role: "user", content: "second question" },
      { role: "assistant", content: "word ".repeat(20_000) },
      { role: "user", content: "last question" },
    ];
    const body = { model: QWEN, input, max_output_tokens: 100 };
    expect((await stack.post(PATH, body)).status).toBe(400);
    const response = await stack.post(PATH, { ...body, truncation: "auto" });
    expect(await response.json()).toMatchObject({ status: "completed", truncation: "auto" });
    const prompt = lastPrompt(QWEN);
    expect(prompt).toContain("Be brief.");
    expect(prompt).toContain("second question");
    expect(prompt).toContain("last question");
    expect(prompt).not.toContain("first question");
  });
});

describe("an error of the inside", () => {
  const long = "word ".repeat(60_000);
  const rows = [
    {
      name: "an image",
      body: {
        input: [
          { role: "developer", content: "x" },
          { role: "user", content: "y" },
          {
            role: "user",
            content: [
              { type: "input_text", text: "z" },
              { type: "input_image", image_url: "data:image/png;base64,AAAA" },
            ],
          },
        ],
      },
      param: "input[2].content[1]",
    },
    {
      name: "a schema",
      body: { text: { format: { type: "json_schema", name: "x", schema: { type: "strin" } } } },
      param: "text.format.schema",
    },
    {
      name: "a tool's schema",
      body: {
        tools: [
          {
            type: "namespace",
            name: "a",
            description: "",
            tools: [
              {
                type: "function",
                name: "f",
                strict: true,
                parameters: { properties: { a: { type: "strin" } } },
              },
            ],
          },
        ],
        tool_choice: "required",
      },
      param: "tools[0].tools[0].parameters",
    },
    { name: "an input that is too long", body: { input: long }, param: "input" },
  ];

  it.for(rows)("names the field of this surface: $name", async ({ body, param }, { expect }) => {
    const response = await stack.post(PATH, { model: QWEN, input: "hi", ...body });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { param: string; message: string } };
    expect(error.param.startsWith(param)).toBe(true);
    expect(error.message).not.toMatch(/messages|response_format/);
  });
});
