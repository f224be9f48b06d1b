import { createServer, type Server } from "node:http";
import { createServer as createTcpServer } from "node:net";

import { afterAll, beforeAll, describe, it } from "vitest";

import type { ScenarioInput } from "../../scripts/engine/scenario.ts";
import { startReplayGateway } from "../../scripts/stack/replay-gateway.ts";
import { joinContent, readSse } from "../support/sse.ts";
import { startStack, type Stack } from "../support/stack.ts";
import { LLAMA, QWEN } from "../support/test-models.ts";
import { waitUntil } from "../support/wait.ts";

const CHAT = "/v1/chat/completions";
const REPLY = "one two three four five six seven eight";
const chat = { model: QWEN, messages: [{ role: "user", content: "hi" }] };

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    models: [QWEN],
    vars: { FIRST_TOKEN_TIMEOUT_MS: "1000", STALL_TIMEOUT_MS: "1000", HEADERS_HOLD_MS: "5000" },
  });
});
afterAll(() => stack.close());

interface Row {
  readonly name: string;
  readonly fault: NonNullable<NonNullable<ScenarioInput["rules"]>[number]["fault"]>;
  readonly status: number;
  readonly code: string | null;
  readonly says?: string;
}

const before: readonly Row[] = [
  {
    name: "INVALID_ARGUMENT",
    fault: {
      kind: "status",
      code: "INVALID_ARGUMENT",
      message: "temperature is odd\nTraceback (most recent call last)",
    },
    status: 400,
    code: null,
    says: "temperature is odd",
  },
  {
    name: "FAILED_PRECONDITION",
    fault: { kind: "status", code: "FAILED_PRECONDITION" },
    status: 400,
    code: null,
  },
  {
    name: "UNAVAILABLE",
    fault: { kind: "status", code: "UNAVAILABLE", message: "queue full" },
    status: 503,
    code: "no_available_workers",
  },
  {
    name: "RESOURCE_EXHAUSTED",
    fault: { kind: "status", code: "RESOURCE_EXHAUSTED" },
    status: 503,
    code: "no_available_workers",
  },
  {
    name: "INTERNAL",
    fault: { kind: "status", code: "INTERNAL", message: "CUDA out of memory at /srv/sglang.py" },
    status: 502,
    code: "upstream_error",
  },
  {
    name: "UNAUTHENTICATED",
    fault: { kind: "status", code: "UNAUTHENTICATED" },
    status: 502,
    code: "upstream_error",
  },
  {
    name: "NOT_FOUND",
    fault: { kind: "status", code: "NOT_FOUND" },
    status: 502,
    code: "upstream_error",
  },
  {
    name: "DEADLINE_EXCEEDED",
    fault: { kind: "status", code: "DEADLINE_EXCEEDED" },
    status: 504,
    code: "upstream_timeout",
  },
  { name: "a cut connection", fault: { kind: "cut" }, status: 503, code: "no_available_workers" },
  { name: "silence", fault: { kind: "silence" }, status: 504, code: "upstream_timeout" },
];

describe("a fault before the first token is an HTTP error", () => {
  const rows = before.flatMap((row) => [
    { ...row, stream: true, title: `${row.name}, streamed` },
    { ...row, stream: false, title: `${row.name}, buffered` },
  ]);
  it.for(rows)("$title: $status", async ({ fault, status, code, says, stream }, { expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: REPLY, fault }] });
    const response = await stack.post(CHAT, { ...chat, stream });
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as {
      error: { message: string; code: string | null };
    };
    expect(error.code).toBe(code);
    if (says !== undefined) expect(error.message).toBe(says);
    expect(error.message).not.toMatch(/CUDA|srv|Traceback|queue full/);
    expect(response.headers.get("retry-after") !== null).toBe(status === 503);
  });
});

const during: readonly Row[] = [
  {
    name: "INTERNAL",
    fault: { kind: "status", code: "INTERNAL", message: "CUDA error", afterTokens: 3 },
    status: 502,
    code: "upstream_error",
  },
  {
    name: "UNAVAILABLE",
    fault: { kind: "status", code: "UNAVAILABLE", afterTokens: 3 },
    status: 502,
    code: "upstream_error",
  },
  {
    name: "INVALID_ARGUMENT",
    fault: { kind: "status", code: "INVALID_ARGUMENT", message: "bad", afterTokens: 3 },
    status: 400,
    code: null,
  },
  {
    name: "a cut connection",
    fault: { kind: "cut", afterTokens: 3 },
    status: 502,
    code: "upstream_error",
  },
  {
    name: "a cut stream",
    fault: { kind: "cut", what: "stream", afterTokens: 3 },
    status: 502,
    code: "upstream_error",
  },
  {
    name: "silence",
    fault: { kind: "silence", afterTokens: 3 },
    status: 504,
    code: "upstream_timeout",
  },
  {
    name: "an end without complete",
    fault: { kind: "missing-complete" },
    status: 502,
    code: "upstream_error",
  },
];

describe("a fault after the first token", () => {
  it.for(during)("$name ends the stream with an error", async ({ fault, code }, { expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: REPLY, fault }] });
    const response = await stack.post(CHAT, { ...chat, stream: true });
    expect(response.status).toBe(200);
    const transcript = await readSse(response);
    expect(transcript.json.at(-1)?.error).toMatchObject({
      code,
      message: expect.not.stringContaining("CUDA"),
    });
    expect(transcript.isDone).toBe(true);
    expect(REPLY.startsWith(joinContent(transcript))).toBe(true);
    expect(joinContent(transcript)).not.toBe("");
    const finishes = transcript.json
      .flatMap(({ choices = [] }) => choices)
      .filter(({ finish_reason: reason }) => reason !== null);
    expect(finishes).toEqual([]);
  });

  it.for(during)(
    "$name is an HTTP error of a buffered reply",
    async ({ fault, status, code }, { expect }) => {
      stack.engine(QWEN).setScenario({ rules: [{ reply: REPLY, fault }] });
      const response = await stack.post(CHAT, chat);
      expect(response.status).toBe(status);
      expect(await response.json()).toMatchObject({ error: { code } });
    },
  );

  it("loses no text when the engine aborts", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: REPLY, finish: "abort" }] });
    const transcript = await readSse(await stack.post(CHAT, { ...chat, stream: true }));
    expect(joinContent(transcript)).toBe(REPLY);
    expect(transcript.json.at(-1)?.error).toMatchObject({ code: "upstream_error" });
  });
});

describe("a worker without a tokenizer", () => {
  it("gets no stop strings and is aborted at the match", async ({ expect }) => {
    const bare = await startStack({
      models: [LLAMA],
      engine: { skipTokenizerInit: true, tokenMs: 5 },
    });
    try {
      const engine = bare.engine(LLAMA);
      engine.setScenario({ rules: [{ reply: `${REPLY} `.repeat(60) }] });
      const response = await bare.post(CHAT, { ...chat, model: LLAMA, stop: ["six"] });
      expect(await response.json()).toMatchObject({
        choices: [
          {
            message: { content: "one two three four five " },
            finish_reason: "stop",
            matched_stop: "six",
          },
        ],
        usage: { completion_tokens: 6 },
      });
      await waitUntil(() => engine.stats().aborts === 1, 2_000);
      const { lastRequests, tokensGenerated, lastAborts } = engine.stats();
      expect(lastRequests[0]?.request.samplingParams?.stop).toEqual([]);
      expect(tokensGenerated).toBeLessThan(100);
      expect(lastAborts).toEqual([lastRequests[0]?.request.requestId]);
    } finally {
      await bare.close();
    }
  });
});

describe("gateways", () => {
  it("are tried in turn when one is dead", async ({ expect }) => {
    const [backend] = stack.backends.values();
    backend?.engine.setScenario({ rules: [{ reply: REPLY }] });
    const port = await closedPort();
    const gateways = [
      { url: `http://127.0.0.1:${port}`, model: QWEN },
      { url: backend?.gateway.url, model: QWEN },
    ];
    const edge = await startStack({
      models: [],
      vars: { GATEWAYS: JSON.stringify(gateways), GATEWAY_TOKEN: "gateway-token-of-the-tests" },
    });
    try {
      for (let request = 0; request < 4; request++) {
        const response = await edge.post(CHAT, chat);
        expect(response.status).toBe(200);
      }
    } finally {
      await edge.close();
    }
  });

  const okTrailers = "\u0080\u0000\u0000\u0000\u0010grpc-status: 0\r\n";
  const grpcWeb = { "content-type": "application/grpc-web+proto" };
  const odd: readonly OddReply[] = [
    {
      name: "answers HTML",
      status: 200,
      headers: { "content-type": "text/html" },
      body: "<h1>Welcome</h1>",
      expected: 502,
    },
    {
      name: "answers a 502 in HTML",
      status: 502,
      headers: { "content-type": "text/html" },
      body: "<h1>Bad gateway</h1>",
      expected: 503,
    },
    { name: "answers 401", status: 401, headers: {}, body: "", expected: 502 },
    {
      name: "answers with a redirect",
      status: 302,
      headers: { location: "http://127.0.0.1:9/" },
      body: "",
      expected: 502,
    },
    { name: "answers nothing at all", status: 200, headers: grpcWeb, body: "", expected: 503 },
    {
      name: "answers rubbish in frames",
      status: 200,
      headers: grpcWeb,
      body: `\u0000\u0000\u0000\u0000\u0004rubb${okTrailers}`,
      expected: 502,
    },
    {
      name: "claims a frame of 2 GB",
      status: 200,
      headers: grpcWeb,
      body: "\u0000\u007f\u007f\u007f\u007f",
      expected: 502,
    },
    {
      name: "cuts a frame",
      status: 200,
      headers: grpcWeb,
      body: "\u0000\u0000\u0000\u0000\u0004ru",
      expected: 503,
    },
    {
      name: "answers in trailers only",
      status: 200,
      headers: { ...grpcWeb, "grpc-status": "14", "grpc-message": "no%20engine" },
      body: "",
      expected: 503,
    },
  ];
  const where = [
    { title: "to every call", onlyGenerate: false },
    { title: "to Generate", onlyGenerate: true },
  ];
  describe.for(where)("an odd one, $title", ({ onlyGenerate }) => {
    let current: OddReply | null = null;
    let server: Server;
    let edge: Stack;
    beforeAll(async () => {
      const good = await startReplayGateway({
        modelName: QWEN,
        tokenIds: [1, 2, 3],
        intervalMs: 1,
      });
      server = createServer((request, response) => {
        request.resume();
        if (onlyGenerate && request.url?.endsWith("/Generate") !== true) {
          good.answer(request, response);
          return;
        }
        response.writeHead(current?.status ?? 500, current?.headers ?? {});
        response.end(Buffer.from(current?.body ?? "", "latin1"));
      });
      server.once("close", () => void good.close());
      const url = await listen(server);
      edge = await startStack({
        models: [],
        vars: { FAILED_WORKER_RETRY_MS: "1", GATEWAYS: JSON.stringify([{ url, model: QWEN }]) },
      });
    });
    afterAll(async () => {
      await edge.close();
      server.closeAllConnections();
      server.close();
    });

    it.for(odd)("that $name: $expected", async (row, { expect }) => {
      current = row;
      const response = await edge.post(CHAT, { ...chat, stream: true });
      expect(response.status).toBe(row.expected);
      expect(await response.text()).not.toMatch(/<h1>|127\.0\.0\.1/);
    });
  });
});

interface OddReply {
  readonly name: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly expected: number;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}`;
}

/** A port on which nothing listens. */
async function closedPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

describe("a worker that hangs beside a healthy one", () => {
  let hanging: ReturnType<typeof createTcpServer>;
  let edge: Stack;

  beforeAll(async () => {
    // Takes connections and never answers.
    hanging = createTcpServer();
    await new Promise<void>((resolve) => hanging.listen(0, "127.0.0.1", resolve));
    const address = hanging.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    const healthy = [...stack.backends.values()].find(({ model }) => model === QWEN);
    const gateways = [`http://127.0.0.1:${address.port}`, healthy?.gateway.url];
    edge = await startStack({
      models: [],
      vars: {
        GATEWAYS: JSON.stringify(gateways),
        GATEWAY_TOKEN: "gateway-token-of-the-tests",
        FAILED_WORKER_RETRY_MS: "60000",
      },
    });
  });
  afterAll(async () => {
    await edge.close();
    hanging.close();
  });

  it("costs the first request its time, and no other", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: "ok" }] });
    const body = { model: QWEN, messages: [{ role: "user", content: "hi" }] };
    const first = await edge.post("/v1/chat/completions", body);
    expect(first.status).toBe(200);
    await first.text();
    const startedAt = Date.now();
    for (let turn = 0; turn < 3; turn++) {
      const response = await edge.post("/v1/chat/completions", body);
      expect(response.status).toBe(200);
      await response.text();
    }
    expect(Date.now() - startedAt).toBeLessThan(3_000);
  });
});
