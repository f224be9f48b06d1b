import { afterAll, beforeAll, describe, it } from "vitest";

import type { ScenarioInput } from "../../scripts/engine/scenario.ts";
import {
  readMessageStream,
  type FoldedMessage,
  type MessageTranscript,
} from "../support/message-stream.ts";
import { API_KEY, startStack, type Stack } from "../support/stack.ts";
import { LLAMA, QWEN } from "../support/test-models.ts";
import { waitUntil } from "../support/wait.ts";

const MESSAGES = "/v1/messages";
const COUNT = "/v1/messages/count_tokens";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    models: [QWEN, LLAMA],
    vars: {
      FIRST_TOKEN_TIMEOUT_MS: "1500",
      STALL_TIMEOUT_MS: "1500",
      HEADERS_HOLD_MS: "300",
      HEARTBEAT_INTERVAL_MS: "100",
    },
  });
});
afterAll(() => stack.close());

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });
const chat = { model: QWEN, max_tokens: 500, messages: [user("What is the weather in Paris?")] };
const tools = [
  {
    name: "get_weather",
    description: "The weather of a city",
    input_schema: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    },
  },
];
const CALL = (city: string) =>
  `<tool_call>\n{"name": "get_weather", "arguments": {"city": "${city}"}}\n</tool_call>`;

type Reply = NonNullable<NonNullable<ScenarioInput["rules"]>[number]["reply"]>;

function script(reply: Reply, model = QWEN): void {
  const engine = stack.engine(model);
  engine.reset();
  engine.setScenario({ rules: [{ reply }] });
}

async function send(body: object): Promise<FoldedMessage> {
  const response = await stack.post(MESSAGES, body);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`);
  return JSON.parse(text) as FoldedMessage;
}

async function stream(body: object): Promise<MessageTranscript> {
  const response = await stack.post(MESSAGES, { ...body, stream: true });
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return readMessageStream(response);
}

/** What must not differ between two replies to the same request. */
function comparable(message: FoldedMessage) {
  return {
    content: message.content.map((block) => ("id" in block ? { ...block, id: "" } : block)),
    stop_reason: message.stop_reason,
    stop_sequence: message.stop_sequence,
    output_tokens: message.usage.output_tokens,
  };
}

function promptOf(model: string): string {
  const request = stack.engine(model).stats().lastRequests.at(-1)?.request;
  return request?.tokenized?.originalText ?? "";
}

interface ReplyRow {
  readonly name: string;
  readonly reply: Reply;
  readonly body?: object;
  readonly content: readonly object[];
  readonly stop_reason: string;
  readonly stop_sequence?: string;
}

const replies: readonly ReplyRow[] = [
  {
    name: "text",
    reply: "<think>\n\n</think>\n\nGrüße aus 東京! 🌍",
    content: [{ type: "text", text: "\n\nGrüße aus 東京! 🌍" }],
    stop_reason: "end_turn",
  },
  {
    name: "a thought before the text",
    reply: "<think>\nParis, then.\n</think>\n\nSunny.",
    content: [
      { type: "thinking", thinking: "\nParis, then.\n" },
      { type: "text", text: "\n\nSunny." },
    ],
    stop_reason: "end_turn",
  },
  {
    name: "no thought when it is not to be shown",
    reply: "<think>\nParis, then.\n</think>\n\nSunny.",
    body: { thinking: { type: "adaptive", display: "omitted" } },
    content: [{ type: "text", text: "\n\nSunny." }],
    stop_reason: "end_turn",
  },
  {
    name: "calls, and no block for the white space around them",
    reply: `<think>\nLook.\n</think>\n\n${CALL("Paris")}\n${CALL("東京")}\n`,
    body: { tools },
    content: [
      { type: "thinking", thinking: "\nLook.\n" },
      { type: "tool_use", name: "get_weather", input: { city: "Paris" } },
      { type: "tool_use", name: "get_weather", input: { city: "東京" } },
    ],
    stop_reason: "tool_use",
  },
  {
    name: "text before a call",
    reply: `<think>\n\n</think>\n\nLet me look.\n${CALL("Paris")}`,
    body: { tools },
    content: [
      { type: "text", text: "\n\nLet me look.\n" },
      { type: "tool_use", name: "get_weather", input: { city: "Paris" } },
    ],
    stop_reason: "tool_use",
  },
  {
    name: "one call where parallel ones are not wanted",
    reply: `<think>\n\n</think>\n\n${CALL("Paris")}\n${CALL("Rome")}`,
    body: { tools, tool_choice: { type: "auto", disable_parallel_tool_use: true } },
    content: [{ type: "tool_use", input: { city: "Paris" } }],
    stop_reason: "tool_use",
  },
  {
    name: "the stop sequence that ended it",
    reply: "<think>\n\n</think>\n\none two three",
    body: { stop_sequences: ["never", " three"] },
    content: [{ type: "text", text: "\n\none two" }],
    stop_reason: "stop_sequence",
    stop_sequence: " three",
  },
  {
    name: "the text so far when the length ended it",
    reply: "one two three four five six seven",
    body: { max_tokens: 2 },
    content: [{ type: "text", text: "one two" }],
    stop_reason: "max_tokens",
  },
  { name: "nothing", reply: "", content: [], stop_reason: "end_turn" },
];

describe("a reply", () => {
  it.for(replies)("has $name", async (row, { expect }) => {
    const { reply, body, content, stop_reason, stop_sequence = null } = row;
    script(reply);
    const buffered = await send({ ...chat, ...body });
    expect(buffered).toMatchObject({
      id: expect.stringMatching(/^msg_[0-9a-f]{24}$/),
      type: "message",
      role: "assistant",
      model: QWEN,
      content,
      stop_reason,
      stop_sequence,
    });
    for (const block of buffered.content) {
      if (block.type === "tool_use") expect(block.id).toMatch(/^toolu_[0-9a-f]{24}$/);
      if (block.type === "thinking") expect(block.signature).toMatch(/^sgl-edge-1\.[0-9a-f]{16}$/);
    }
    script(reply);
    const streamed = await stream({ ...chat, ...body });
    expect(streamed.isWhole).toBe(true);
    expect(comparable(streamed.message)).toEqual(comparable(buffered));
  });

  it("keeps a call that the length cut off, without half of its input", async ({ expect }) => {
    const reply = {
      text: `<think>\n\n</think>\n\n${CALL("a city with a name that takes many tokens")}`,
      chunks: "token",
    } as const;
    const body = { ...chat, tools, max_tokens: 22 };
    script(reply);
    const buffered = await send(body);
    expect(buffered).toMatchObject({
      content: [{ type: "tool_use", name: "get_weather", input: {} }],
      stop_reason: "max_tokens",
    });
    script(reply);
    const streamed = await stream(body);
    expect(streamed.message).toMatchObject({
      content: [{ type: "tool_use", input: expect.stringMatching(/^\{"city": ?"a city/) }],
      stop_reason: "max_tokens",
    });
  });

  it("counts cached tokens apart from the input", async ({ expect }) => {
    const text = "Count every one of these words, please. ".repeat(40);
    const body = { ...chat, messages: [user(text)] };
    script("ok");
    const { usage: first } = await send(body);
    const { message } = await stream(body);
    expect(first.cache_creation_input_tokens).toBe(0);
    expect(message.usage.cache_read_input_tokens).toBeGreaterThan(100);
    expect(message.usage.input_tokens + message.usage.cache_read_input_tokens).toBe(
      first.input_tokens + first.cache_read_input_tokens,
    );
  });
});

describe("a stream", () => {
  it("has Anthropic's events in their order, and ends", async ({ expect }) => {
    script({ text: `<think>\nhm\n</think>\n\nSo.\n${CALL("Rome")}`, chunks: "all" });
    const response = await stack.post(MESSAGES, { ...chat, tools, stream: true });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
    const { names, raw, message } = await readMessageStream(response);
    const block = (deltas: number) => [
      "content_block_start",
      ...Array.from({ length: deltas }, () => "content_block_delta"),
      "content_block_stop",
    ];
    expect(names).toEqual([
      "message_start",
      ...block(2),
      ...block(1),
      ...block(1),
      "message_delta",
      "message_stop",
    ]);
    expect(raw).toMatch(
      /^event: message_start\n[^\n]+\n\nevent: ping\ndata: \{"type":"ping"\}\n\n/,
    );
    const start = JSON.parse(/data: (.+)/.exec(raw)?.[1] ?? "") as { message: FoldedMessage };
    expect(start.message).toMatchObject({
      content: [],
      stop_reason: null,
      usage: { ...message.usage, output_tokens: 0 },
    });
    expect(message.usage.input_tokens).toBeGreaterThan(0);
  });

  it("starts at once and pings while the engine is silent", async ({ expect }) => {
    script({ text: "ok", startDelayMs: 1_000 });
    const { input_tokens: counted } = await count(chat);
    const { message, pings, raw } = await stream(chat);
    expect(pings).toBeGreaterThan(3);
    expect(raw.startsWith("event: message_start\n")).toBe(true);
    const [start] = raw.split("\n\n", 1);
    expect(start).toContain(`"input_tokens":${counted},`);
    expect(message.content).toEqual([{ type: "text", text: "ok" }]);
    expect(raw).not.toMatch(/^:/m);
  });
});

it("stops the engine when the client leaves", async ({ expect }) => {
  script({ text: "word ".repeat(2_000), perTokenMs: 10 });
  const leave = new AbortController();
  const response = await stack.post(
    MESSAGES,
    { ...chat, max_tokens: 3_000, stream: true },
    { signal: leave.signal },
  );
  const first = await response.body?.getReader().read();
  expect(new TextDecoder().decode(first?.value)).toMatch(/^event: message_start\n/);
  leave.abort();
  const engine = stack.engine(QWEN);
  await waitUntil(() => engine.stats().aborts === 1, 2_000);
  expect(engine.stats().tokensGenerated).toBeLessThan(500);
});

async function count(body: object): Promise<{ readonly input_tokens: number }> {
  const response = await stack.post(COUNT, body);
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  return (await response.json()) as { input_tokens: number };
}

describe("a conversation", () => {
  it("goes on with what its own reply was", async ({ expect }) => {
    script(`<think>\nLook.\n</think>\n\nLet me look.\n${CALL("Paris")}`);
    const asked = await send({ ...chat, tools });
    script("<think>\nfine\n</think>\n\nSunny, 21 degrees.");
    const call = asked.content.at(-1);
    const result = {
      type: "tool_result",
      tool_use_id: call?.type === "tool_use" ? call.id : "",
      content: [{ type: "text", text: "sunny, 21" }],
    };
    const answer = await send({
      ...chat,
      tools,
      messages: [
        ...chat.messages,
        assistant(asked.content),
        user([{ type: "text", text: "And in Fahrenheit?" }, result]),
      ],
    });
    expect(answer.content.at(-1)).toEqual({ type: "text", text: "\n\nSunny, 21 degrees." });
    const prompt = promptOf(QWEN);
    const places = [
      '{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call><|im_end|>\n',
      "<|im_start|>user\n<tool_response>\nsunny, 21\n</tool_response><|im_end|>\n",
      "<|im_start|>user\nAnd in Fahrenheit?<|im_end|>\n",
    ].map((text) => prompt.indexOf(text));
    expect(places.every((place) => place > 0)).toBe(true);
    expect(places).toEqual([...places].sort((one, other) => one - other));
  });

  it("is continued where its last turn is the assistant's", async ({ expect }) => {
    script(" answer");
    const body = { ...chat, messages: [...chat.messages, assistant("Here is the")] };
    expect(await send(body)).toMatchObject({ content: [{ type: "text", text: " answer" }] });
    expect(promptOf(QWEN).endsWith("Here is the")).toBe(true);
  });

  const toggles = [
    { name: "off", thinking: { type: "disabled" }, isOff: true },
    { name: "on", thinking: { type: "enabled", budget_tokens: 1024 }, isOff: false },
    { name: "on as the model likes", thinking: { type: "adaptive" }, isOff: false },
    { name: "the model's own way", thinking: undefined, isOff: false },
  ];
  it.for(toggles)("thinks $name", async ({ thinking, isOff }, { expect }) => {
    script("ok");
    await send({ ...chat, max_tokens: 2_000, thinking });
    expect(promptOf(QWEN).endsWith("<think>\n\n</think>\n\n")).toBe(isOff);
  });

  it("is held to a schema", async ({ expect }) => {
    script('<think>\n\n</think>\n\n{"title": "x"}');
    const schema = { type: "object", properties: { title: { type: "string" } } };
    await send({ ...chat, output_config: { format: { type: "json_schema", schema } } });
    const request = stack.engine(QWEN).stats().lastRequests.at(-1)?.request;
    expect(request?.samplingParams?.constraint.case).toBe("jsonSchema");
  });
});

describe("count_tokens", () => {
  const rows = [
    { name: "a plain chat", body: {} },
    { name: "a system prompt and tools", body: { system: "Be brief.", tools } },
    {
      name: "tools that are not to be called",
      body: { tools, tool_choice: { type: "none" } },
    },
    { name: "a chat that does not think", body: { thinking: { type: "disabled" } } },
    { name: "a prefill", body: { messages: [...chat.messages, assistant("So")] } },
  ];
  it.for(rows)("is what a message of $name costs", async ({ body }, { expect }) => {
    script("ok");
    const { input_tokens } = await count({ ...chat, ...body, max_tokens: undefined });
    const { usage } = await send({ ...chat, ...body });
    expect(input_tokens).toBe(usage.input_tokens + usage.cache_read_input_tokens);
    const { lastRequests } = stack.engine(QWEN).stats();
    expect(lastRequests.at(-1)?.request.tokenized?.inputIds).toHaveLength(input_tokens);
  });
});

describe("an error before the stream", () => {
  type Fault = NonNullable<NonNullable<ScenarioInput["rules"]>[number]["fault"]>;
  const grpc = (code: string): Fault => ({ kind: "status", code });
  const faults = [
    { fault: grpc("INVALID_ARGUMENT"), status: 400, type: "invalid_request_error" },
    { fault: grpc("RESOURCE_EXHAUSTED"), status: 529, type: "overloaded_error" },
    { fault: grpc("INTERNAL"), status: 502, type: "api_error" },
    { fault: grpc("DEADLINE_EXCEEDED"), status: 504, type: "api_error" },
  ].flatMap((row) => [
    { ...row, stream: true, title: `${JSON.stringify(row.fault)}, streamed` },
    { ...row, stream: false, title: `${JSON.stringify(row.fault)}, buffered` },
  ]);
  it.for(faults)("$title: $status", async ({ fault, type, ...row }, { expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: "one two", fault }] });
    const response = await stack.post(MESSAGES, { ...chat, stream: row.stream });
    expect(response.status).toBe(row.status);
    const requestId = response.headers.get("request-id");
    expect(requestId).toMatch(/^req_/);
    expect(await response.json()).toEqual({
      type: "error",
      error: { type, message: expect.any(String) },
      request_id: requestId,
    });
    expect(response.headers.get("retry-after") !== null).toBe(row.status === 529);
  });

  const requests: readonly {
    readonly name: string;
    readonly path?: string;
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body: unknown;
    readonly status: number;
    readonly type: string;
    readonly says?: RegExp;
  }[] = [
    {
      name: "no max_tokens",
      body: { ...chat, max_tokens: undefined },
      status: 400,
      type: "invalid_request_error",
      says: /^'max_tokens'/,
    },
    { name: "broken JSON", body: "{", status: 400, type: "invalid_request_error" },
    {
      name: "an unknown model",
      body: { ...chat, model: "nobody/knows" },
      status: 404,
      type: "not_found_error",
      says: /nobody\/knows/,
    },
    {
      name: "a wrong key",
      headers: { authorization: "", "x-api-key": "wrong" },
      body: chat,
      status: 401,
      type: "authentication_error",
    },
    {
      name: "a wrong content type",
      headers: { "content-type": "text/plain" },
      body: chat,
      status: 415,
      type: "invalid_request_error",
    },
    {
      name: "a wrong method",
      method: "PUT",
      body: chat,
      status: 405,
      type: "invalid_request_error",
    },
    {
      name: "an unknown route",
      path: "/v1/messages/definitely-not-a-route",
      body: chat,
      status: 404,
      type: "not_found_error",
    },
    {
      name: "a wrong count",
      path: COUNT,
      body: { ...chat, messages: [] },
      status: 400,
      type: "invalid_request_error",
      says: /^'messages'/,
    },
    {
      name: "more than the context holds",
      body: { ...chat, max_tokens: 40_960 },
      status: 400,
      type: "invalid_request_error",
      says: /^input length and `max_tokens` exceed context limit: \d+ \+ 40960 > 40960, decrease input length or `max_tokens` and try again$/,
    },
    {
      name: "a prompt that is too long alone",
      body: { ...chat, messages: [user("word ".repeat(50_000))] },
      status: 400,
      type: "invalid_request_error",
      says: /^prompt is too long: \d+ tokens > \d+ maximum$/,
    },
    {
      name: "an image",
      body: {
        ...chat,
        messages: [
          user([{ type: "image", source: { type: "url", url: "https://example.com/a.png" } }]),
        ],
      },
      status: 400,
      type: "invalid_request_error",
      says: /^'messages\[0\]\.content\[0\]'/,
    },
  ];
  it.for(requests)("$name: $status", async (row, { expect }) => {
    const { path = MESSAGES, method = "POST", headers = {}, body, status, type, says } = row;
    const response = await stack.post(path, body, { method, headers });
    expect(response.status).toBe(status);
    const envelope = (await response.json()) as { error: { type: string; message: string } };
    expect(envelope).toMatchObject({ type: "error", error: { type } });
    if (says !== undefined) expect(envelope.error.message).toMatch(says);
    expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
  });

  it("tells the SDK that there are no threads", async ({ expect }) => {
    const response = await stack.post(MESSAGES, { ...chat, thread: { type: "create" } });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: {
        type: "invalid_request_error",
        details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
      },
    });
  });
});

describe("an error inside the stream", () => {
  const rows: readonly {
    readonly name: string;
    readonly reply: Reply;
    readonly body?: object;
    readonly content: readonly object[];
    readonly type: string;
  }[] = [
    {
      name: "after text",
      reply: {
        text: "one two three four",
        fault: { kind: "status", code: "INTERNAL", message: "CUDA", afterTokens: 3 },
      },
      content: [{ type: "text", text: "one two three" }],
      type: "api_error",
    },
    {
      name: "that says the request was wrong",
      reply: {
        text: "one two three four",
        fault: { kind: "status", code: "INVALID_ARGUMENT", message: "bad", afterTokens: 3 },
      },
      content: [{ type: "text", text: "one two three" }],
      type: "invalid_request_error",
    },
    {
      name: "after a cut connection",
      reply: { text: "one two three four", fault: { kind: "cut", afterTokens: 2 } },
      content: [{ type: "text" }],
      type: "api_error",
    },
    {
      name: "inside a thought",
      reply: {
        text: "<think>one two three four five</think>",
        fault: { kind: "status", code: "INTERNAL", afterTokens: 4 },
      },
      content: [{ type: "thinking" }],
      type: "api_error",
    },
    {
      name: "inside a call",
      reply: {
        text: CALL("a city with a name that takes many tokens"),
        fault: { kind: "status", code: "INTERNAL", afterTokens: 18 },
      },
      body: { tools },
      content: [{ type: "tool_use", name: "get_weather" }],
      type: "api_error",
    },
    {
      name: "before the first token of a stream that had to start",
      reply: { text: "one", fault: { kind: "silence" } },
      content: [],
      type: "api_error",
    },
  ];
  it.for(rows)("$name closes the block and ends it", async (row, { expect }) => {
    const { reply, body, content, type } = row;
    script(reply);
    const { message, error, isWhole, raw } = await stream({ ...chat, ...body });
    expect(error).toMatchObject({ type, message: expect.not.stringContaining("CUDA") });
    expect(message.content).toMatchObject(content);
    expect(message.stop_reason).toBeNull();
    expect(isWhole).toBe(false);
    expect(raw).toMatch(/event: error\ndata: [^\n]+"request_id":"req_[0-9a-f]+"\}\n\n$/);
  });
});

describe("what clients send besides", () => {
  it("is taken as they send it", async ({ expect }) => {
    script("<think>\n\n</think>\n\nok");
    const response = await stack.post(
      `${MESSAGES}?beta=true`,
      {
        model: QWEN,
        max_tokens: 2_000,
        stream: false,
        system: [
          { type: "text", text: "x-anthropic-billing-header: cc_version=1; cc_entrypoint=cli;" },
          { type: "text", text: "You are an agent.", cache_control: { type: "ephemeral" } },
          { type: "text", text: "Be brief." },
        ],
        messages: [
          user([{ type: "text", text: "go on", cache_control: { type: "ephemeral" } }]),
          { role: "system", content: "Mind the time." },
        ],
        tools: [{ ...tools[0], type: "custom", defer_loading: true, eager_input_streaming: true }],
        thinking: { type: "enabled", budget_tokens: 1_999, display: "updates" },
        context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
        output_config: { effort: "high" },
        metadata: { user_id: "{}" },
        service_tier: "auto",
        something_new: true,
      },
      {
        headers: {
          authorization: "",
          "x-api-key": API_KEY,
          "anthropic-version": "2023-06-01",
          "anthropic-beta": "claude-code-20250219,no-such-beta",
        },
      },
    );
    expect(response.status, await response.clone().text()).toBe(200);
    const prompt = promptOf(QWEN);
    expect(prompt).toContain("You are an agent.\n\nBe brief.");
    expect(prompt).toContain("<|im_start|>user\ngo on\nMind the time.<|im_end|>");
    expect(prompt).not.toContain("billing");
  });

  it("gets the same from another model family", async ({ expect }) => {
    script('{"name": "get_weather", "parameters": {"city": "Paris"}}', LLAMA);
    const { message } = await stream({ ...chat, model: LLAMA, tools });
    expect(message).toMatchObject({
      content: [{ type: "tool_use", name: "get_weather", input: { city: "Paris" } }],
      stop_reason: "tool_use",
    });
  });
});
