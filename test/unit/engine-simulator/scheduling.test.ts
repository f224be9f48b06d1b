import { Code } from "@connectrpc/connect";
import { describe, it } from "vitest";

import { open, outcomeOf, range, saying, untilTrue } from "./support.ts";

describe("prefix cache over the wire", () => {
  const rows = [
    { pageSize: 1, promptLength: 100, again: 99 },
    { pageSize: 16, promptLength: 100, again: 96 },
    // A prompt of whole pages: its last token is computed again, so its last page is not used.
    { pageSize: 16, promptLength: 96, again: 80 },
    { pageSize: 64, promptLength: 100, again: 64 },
    { pageSize: 64, promptLength: 50, again: 0 },
  ];

  it.for(rows)(
    "a prompt of $promptLength in pages of $pageSize has $again cached the second time",
    async ({ pageSize, promptLength, again }, { expect, onTestFinished }) => {
      const { client } = await open(onTestFinished, { pageSize, scenario: saying([1]) });
      const prompt = range(0, promptLength);
      const first = await outcomeOf(client, { prompt });
      const second = await outcomeOf(client, { prompt });
      expect(first.completes[0]?.cachedTokens).toBe(0);
      expect(second.completes[0]?.cachedTokens).toBe(again);
      expect(second.chunks[0]?.cachedTokens).toBe(again);
    },
  );

  it("holds the reply as well, without its last token", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, { scenario: saying([50, 51, 52]) });
    const { ids } = await outcomeOf(client, { prompt: [1, 2, 3] });
    const next = await outcomeOf(client, { prompt: [1, 2, 3, ...ids, 4, 5] });
    expect(next.completes[0]?.cachedTokens).toBe(3 + ids.length - 1);
  });

  it("forgets the least recently used when the pool is full", async ({
    expect,
    onTestFinished,
  }) => {
    const { client } = await open(onTestFinished, { maxTotalTokens: 250, scenario: saying([1]) });
    const cached = async (prompt: readonly number[]) =>
      (await outcomeOf(client, { prompt, sampling: { maxNewTokens: 4 } })).completes[0]
        ?.cachedTokens;
    await cached(range(0, 100));
    await cached(range(100, 200));
    expect(await cached(range(0, 100))).toBe(99);
    await cached(range(200, 300));
    expect(await cached(range(0, 100))).toBe(99);
    expect(await cached(range(100, 200))).toBe(0);
  });

  it("is emptied by FlushCache, which waits for running requests", async ({
    expect,
    onTestFinished,
  }) => {
    const { client, engine } = await open(onTestFinished, {
      tokenMs: 20,
      scenario: saying(range(1, 9)),
    });
    const call = outcomeOf(client);
    await untilTrue(() => engine.stats().running === 1);
    expect(await client.flushCache({ timeoutS: 0 })).toMatchObject({ success: false });
    expect(await client.flushCache({ timeoutS: 10 })).toMatchObject({ success: true });
    await call;
    expect((await outcomeOf(client)).completes[0]?.cachedTokens).toBe(0);
  });

  it("can be switched off", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, { prefixCache: false, scenario: saying([1]) });
    await outcomeOf(client);
    expect((await outcomeOf(client)).completes[0]?.cachedTokens).toBe(0);
  });
});

describe("KV events", () => {
  it("are UNIMPLEMENTED unless switched on", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished);
    const batches = client.subscribeKvEvents({})[Symbol.asyncIterator]();
    await expect(batches.next()).rejects.toMatchObject({ code: Code.Unimplemented });
  });

  it("tell stored, removed and cleared blocks in numbered batches", async ({
    expect,
    onTestFinished,
  }) => {
    const { client, engine } = await open(onTestFinished, {
      kvEvents: true,
      pageSize: 4,
      maxTotalTokens: 22,
      scenario: saying([1]),
    });
    const controller = new AbortController();
    const headers = Promise.withResolvers<void>();
    const batches = client.subscribeKvEvents(
      {},
      {
        signal: controller.signal,
        onHeader: () => headers.resolve(),
      },
    );
    const seen: { sequence: bigint; kinds: string[] }[] = [];
    const stored: number[][] = [];
    const parents: (bigint | undefined)[] = [];
    const hashes: bigint[] = [];
    const reading = (async () => {
      for await (const batch of batches) {
        seen.push({
          sequence: batch.sequenceNumber,
          kinds: batch.events.map(({ data }) => data.case ?? ""),
        });
        for (const { data } of batch.events) {
          if (data.case !== "stored") continue;
          stored.push(...data.value.blocks.map(({ tokenIds }) => tokenIds));
          hashes.push(...data.value.blocks.map(({ blockHash }) => blockHash));
          parents.push(data.value.parentBlockHash);
        }
      }
    })();
    await headers.promise;
    const sampling = { maxNewTokens: 2 };
    await outcomeOf(client, { prompt: range(0, 9), sampling });
    await outcomeOf(client, { prompt: range(20, 33), sampling });
    await client.flushCache({});
    await untilTrue(() => seen.some(({ kinds }) => kinds.includes("cleared")));
    controller.abort();
    await expect(reading).rejects.toMatchObject({ code: Code.Canceled });
    expect(stored.slice(0, 2)).toEqual([range(0, 4), range(4, 8)]);
    expect(parents.slice(0, 2)).toEqual([undefined, hashes[0]]);
    expect(seen.map(({ sequence }) => sequence)).toEqual(seen.map((_, place) => BigInt(place)));
    expect(seen.flatMap(({ kinds }) => kinds)).toContain("removed");
    expect(engine.stats().calls["SubscribeKvEvents"]).toBe(1);
  });
});

describe("queue and batch", () => {
  it("prefills one prompt after another, in order, at its rate", async ({
    expect,
    onTestFinished,
  }) => {
    const { client } = await open(onTestFinished, { prefillRate: 1000, scenario: saying([1]) });
    const startedMs = performance.now();
    const firstTokens = await Promise.all(
      [0, 1, 2].map(async (turn) => {
        const prompt = range(turn * 100, turn * 100 + 100);
        await outcomeOf(client, { prompt });
        return performance.now() - startedMs;
      }),
    );
    for (const [turn, tookMs] of firstTokens.entries()) {
      expect(tookMs).toBeGreaterThan((turn + 1) * 100 - 5);
      expect(tookMs).toBeLessThan((turn + 1) * 100 + 1000);
    }
    expect(firstTokens).toEqual(firstTokens.toSorted((left, right) => left - right));
  });

  it("charges nothing for cached tokens", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, { prefillRate: 1000, scenario: saying([1]) });
    await outcomeOf(client, { prompt: range(0, 400) });
    const startedMs = performance.now();
    await outcomeOf(client, { prompt: range(0, 400) });
    expect(performance.now() - startedMs).toBeLessThan(350);
  });

  it("takes its time for each token", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, { tokenMs: 20, scenario: saying(range(10, 19)) });
    const startedMs = performance.now();
    await outcomeOf(client);
    const tookMs = performance.now() - startedMs;
    // Ten tokens, the first of which comes out of the prefill.
    expect(tookMs).toBeGreaterThan(9 * 20 - 5);
    expect(tookMs).toBeLessThan(9 * 20 + 1000);
  });

  it("tells its load truly and refuses what the queue cannot hold", async ({
    expect,
    onTestFinished,
  }) => {
    const { client, engine } = await open(onTestFinished, {
      tokenMs: 20,
      maxRunningRequests: 2,
      maxQueuedRequests: 1,
      scenario: saying([1, 2]),
    });
    const controller = new AbortController();
    const { signal } = controller;
    const prompts = [range(0, 50), range(100, 150), [...range(0, 40), ...range(200, 230)]];
    const calls = [];
    for (const [turn, prompt] of prompts.entries()) {
      calls.push(outcomeOf(client, { prompt, sampling: { ignoreEos: true } }, { signal }));
      await untilTrue(() => engine.stats().running + engine.stats().waiting === turn + 1);
    }
    await untilTrue(() => engine.stats().tokensGenerated >= 4);
    const [load] = (await client.getLoads({})).loads;
    expect(load).toMatchObject({
      numRunningReqs: 2,
      numWaitingReqs: 1,
      numTotalReqs: 3,
      maxRunningRequests: 2,
      utilization: 1,
      numWaitingUncachedTokens: 30,
    });
    expect(load?.numUsedTokens).toBeGreaterThanOrEqual(104);
    const refused = await outcomeOf(client);
    expect(refused.error?.code).toBe(Code.Unavailable);
    expect(refused.error?.rawMessage).toBe("The request queue is full.");
    controller.abort();
    await Promise.all(calls);
    await untilTrue(() => engine.stats().running === 0);
    expect((await client.getLoads({})).aggregate).toMatchObject({ totalReqs: 0, avgTokenUsage: 0 });
    expect(engine.stats()).toMatchObject({ cancelledCalls: 3, failed: 1 });
  });

  it("waits for room in the KV pool", async ({ expect, onTestFinished }) => {
    const { client, engine } = await open(onTestFinished, {
      tokenMs: 5,
      maxTotalTokens: 100,
      scenario: saying(range(10, 20)),
    });
    const sampling = { maxNewTokens: 20 };
    const calls = [range(0, 60), range(100, 160)].map((prompt) =>
      outcomeOf(client, { prompt, sampling }),
    );
    await untilTrue(() => engine.stats().waiting === 1);
    const outcomes = await Promise.all(calls);
    expect(outcomes.map(({ completes }) => completes.length)).toEqual([1, 1]);
  });

  it("ends everything with UNAVAILABLE when it shuts down", async ({ expect, onTestFinished }) => {
    const { client, engine } = await open(onTestFinished, {
      tokenMs: 5,
      maxRunningRequests: 1,
      scenario: saying([1]),
    });
    const calls = [1, 2].map(() => outcomeOf(client, { sampling: { ignoreEos: true } }));
    await untilTrue(() => engine.stats().waiting === 1);
    await engine.close();
    for (const { error } of await Promise.all(calls)) {
      expect(error?.code).toBe(Code.Unavailable);
      expect(error?.rawMessage).toBe("Server shutting down");
    }
  });
});
