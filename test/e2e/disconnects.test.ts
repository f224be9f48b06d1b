import { request as httpRequest } from "node:http";

import { afterAll, beforeAll, describe, it } from "vitest";

import type { ScenarioInput } from "../../scripts/engine/scenario.ts";
import { API_KEY, startStack, type Stack } from "../support/stack.ts";
import { QWEN } from "../support/test-models.ts";
import { pause, waitUntil } from "../support/wait.ts";

const CHAT = "/v1/chat/completions";
const TOKEN_MS = 10;
/** From the moment that the client is gone; its closing has to travel through the runtime first. */
const NOTICED_WITHIN_MS = 1_500;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    models: [QWEN],
    engine: { tokenMs: TOKEN_MS },
    vars: { HEADERS_HOLD_MS: "300", HEARTBEAT_INTERVAL_MS: "200" },
  });
});
afterAll(() => stack.close());

const chat = {
  model: QWEN,
  messages: [{ role: "user", content: "hi" }],
  ignore_eos: true,
  max_tokens: 3_000,
};
const LONG = "word ".repeat(3_000);

/**
 * How a client goes: it resets the connection, or closes its side. The second kind is only seen at the next write, so it
 * has no row where nothing is written.
 */
type Leave = "reset" | "close";
const silent = { kind: "silence" as const, afterTokens: 3 };
const stalled = "in a stream that has gone silent";
const prefilling = { reply: LONG, prefillMs: 20_000 };

interface Way {
  readonly name: string;
  readonly stream: boolean;
  readonly rule: NonNullable<ScenarioInput["rules"]>[number];
  readonly leave: Leave;
  /** Milliseconds after the engine got the request; null: after the first bytes of the reply. */
  readonly afterMs: number | null;
}

const ways: readonly Way[] = [
  {
    name: "in the middle of a stream",
    stream: true,
    rule: { reply: LONG },
    leave: "close",
    afterMs: null,
  },
  {
    name: "in the middle of a stream",
    stream: true,
    rule: { reply: LONG },
    leave: "reset",
    afterMs: null,
  },
  {
    name: "in a silent prefill, before the headers",
    stream: true,
    rule: prefilling,
    leave: "close",
    afterMs: 100,
  },
  {
    name: "in a silent prefill, before the headers",
    stream: true,
    rule: prefilling,
    leave: "reset",
    afterMs: 100,
  },
  {
    name: "in a silent prefill, after the headers",
    stream: true,
    rule: prefilling,
    leave: "close",
    afterMs: 800,
  },
  {
    name: "in a silent prefill, after the headers",
    stream: true,
    rule: prefilling,
    leave: "reset",
    afterMs: 800,
  },
  {
    name: stalled,
    stream: true,
    rule: { reply: LONG, fault: silent },
    leave: "close",
    afterMs: null,
  },
  {
    name: stalled,
    stream: true,
    rule: { reply: LONG, fault: silent },
    leave: "reset",
    afterMs: null,
  },
  {
    name: "while a buffered reply is made",
    stream: false,
    rule: { reply: LONG },
    leave: "reset",
    afterMs: 300,
  },
  {
    name: "in the silent prefill of a buffered reply",
    stream: false,
    rule: prefilling,
    leave: "reset",
    afterMs: 300,
  },
];

describe("a client that leaves", () => {
  it.for(ways)("$name ($leave) has its call cancelled and aborted", async (way, { expect }) => {
    const engine = stack.engine(QWEN);
    engine.setScenario({ rules: [way.rule] });
    engine.reset();
    const client = openClient({ ...chat, stream: way.stream });
    await waitUntil(() => engine.stats().requests === 1, 5_000);
    if (way.afterMs === null) await client.firstBytes;
    else await pause(way.afterMs);
    client.leave(way.leave);

    const isOver = (): boolean => {
      const { aborts, cancelledCalls, running } = engine.stats();
      return aborts === 1 && cancelledCalls === 1 && running === 0;
    };
    await waitUntil(isOver, NOTICED_WITHIN_MS);
    const { lastAborts, lastRequests, tokensGenerated } = engine.stats();
    expect(lastAborts).toEqual([lastRequests[0]?.request.requestId]);
    await pause(20 * TOKEN_MS);
    expect(engine.stats().tokensGenerated).toBe(tokensGenerated);
    await waitUntil(
      () => stack.logs().some((line) => line.includes('"status":"cancelled"')),
      2_000,
    );
  });

  it("costs nothing to the others", async ({ expect }) => {
    const engine = stack.engine(QWEN);
    engine.setScenario({ rules: [{ reply: "word ".repeat(50) }] });
    engine.reset();
    const controllers = Array.from({ length: 10 }, () => new AbortController());
    const isWhole = async ({ signal }: AbortController): Promise<boolean> => {
      try {
        const body = { ...chat, stream: true, max_tokens: 40 };
        const response = await stack.post(CHAT, body, { signal });
        return (await response.text()).includes("[DONE]");
      } catch {
        return false;
      }
    };
    const replies = controllers.map(isWhole);
    await waitUntil(() => engine.stats().running === 10, 5_000);
    const leaving = controllers.slice(0, 5);
    for (const controller of leaving) controller.abort();
    expect(await Promise.all(replies)).toEqual([
      ...leaving.map(() => false),
      ...leaving.map(() => true),
    ]);
    await waitUntil(() => engine.stats().running === 0, 2_000);
  });
});

/** A client on a bare socket's terms: how it goes decides what the server can see. */
function openClient(body: unknown) {
  const request = httpRequest(stack.url + CHAT, {
    method: "POST",
    headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" },
    agent: false,
  });
  const firstBytes = new Promise<void>((resolve) => {
    request.on("response", (response) => response.once("data", () => resolve()));
  });
  request.on("error", () => undefined);
  request.end(JSON.stringify(body));
  return {
    firstBytes,
    leave: (how: Leave) =>
      how === "reset" ? request.socket?.resetAndDestroy() : request.socket?.destroy(),
  };
}

describe("a long silence", () => {
  it("is filled with heartbeats of one line, after the headers", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: "done", prefillMs: 1_200 }] });
    const startedAt = Date.now();
    const response = await stack.post(CHAT, { ...chat, ignore_eos: false, stream: true });
    expect(Date.now() - startedAt).toBeLessThan(1_000);
    const text = await response.text();
    expect(text.match(/^: ping$/gm)?.length).toBeGreaterThanOrEqual(2);
    expect(text).not.toContain(": ping\n\n");
    expect(text.startsWith("data: {")).toBe(true);
    expect(text).toContain('"content":"done"');
    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
  });
});
