import { describe, it } from "vitest";

import { PING_COMMENT, toSseResponse, type SseReply } from "../../src/sse/to-response.ts";

type Step = string;

async function* stepsOf(pieces: readonly (string | number)[], log: string[] = []) {
  try {
    for (const piece of pieces) {
      if (typeof piece === "number") await new Promise((resolve) => setTimeout(resolve, piece));
      else yield piece;
    }
  } finally {
    log.push("steps ended");
  }
}

function reply(pieces: readonly (string | number)[], overrides: Partial<SseReply<Step>> = {}) {
  const steps = stepsOf(pieces);
  return toSseResponse({
    head: "H|",
    isHeadAlone: false,
    first: steps.next(),
    steps,
    render: (step) => step,
    tail: "T|",
    heartbeat: null,
    onCancel: () => undefined,
    headers: {},
    ...overrides,
  });
}

async function readChunks(response: Response): Promise<string[]> {
  const chunks: string[] = [];
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) chunks.push(decoder.decode(chunk));
  return chunks;
}

describe("an SSE reply", () => {
  it("writes each step once, the head with the first", async ({ expect }) => {
    expect(await readChunks(reply(["a|", "b|"]))).toEqual(["H|a|", "b|", "T|"]);
  });

  it("writes a lone head at once", async ({ expect }) => {
    expect(await readChunks(reply([20, "a|"], { isHeadAlone: true }))).toEqual(["H|", "a|", "T|"]);
  });

  it("writes nothing for a step that renders nothing", async ({ expect }) => {
    expect(await readChunks(reply(["a|", "", "", "b|"]))).toEqual(["H|a|", "b|", "T|"]);
  });

  it("still has head and tail when there is no step", async ({ expect }) => {
    expect(await readChunks(reply([]))).toEqual(["H|T|"]);
  });

  it("fills silence with heartbeats, and only silence", async ({ expect }) => {
    const heartbeat = { text: PING_COMMENT, intervalMs: 40 };
    const chunks = await readChunks(reply(["a|", 150, "b|", "c|"], { heartbeat }));
    expect(chunks.filter((chunk) => chunk !== PING_COMMENT)).toEqual(["H|a|", "b|", "c|", "T|"]);
    expect(chunks.indexOf(PING_COMMENT)).toBe(1);
    expect(chunks.filter((chunk) => chunk === PING_COMMENT).length).toBeGreaterThanOrEqual(2);
  });

  it("tells the engine before it ends the steps when the reader goes", async ({ expect }) => {
    const log: string[] = [];
    let wake = (): void => undefined;
    const steps = (async function* () {
      try {
        yield "a|";
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, 5_000);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      } finally {
        log.push("steps ended");
      }
    })();
    const response = reply([], {
      first: steps.next(),
      steps,
      onCancel: () => {
        log.push("cancelled");
        wake();
      },
    });
    const reader = response.body?.getReader();
    await reader?.read();
    const pending = reader?.read();
    await reader?.cancel();
    await pending;
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect(log).toEqual(["cancelled", "steps ended"]);
  });

  it("says that nothing may hold it back", ({ expect }) => {
    const { headers } = reply([]);
    expect(headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-cache, no-transform");
  });
});
