import { Code } from "@connectrpc/connect";
import { describe, it } from "vitest";

import { rawCall } from "./raw-call.ts";
import { END, IM_END, open, outcomeOf, QWEN, range, saying, untilTrue } from "./support.ts";
import type { RequestInit } from "./support.ts";

interface RefusedCase {
  readonly name: string;
  readonly request: RequestInit;
  readonly says: string;
}

const refused: readonly RefusedCase[] = [
  {
    name: "no sampling field",
    request: { sampling: { topP: 0 } },
    says: "top_p must be in (0, 1]",
  },
  { name: "top_p over 1", request: { sampling: { topP: 1.5 } }, says: "top_p" },
  { name: "top_k 0", request: { sampling: { topK: 0 } }, says: "top_k must be -1" },
  { name: "repetition_penalty 0", request: { sampling: { repetitionPenalty: 0 } }, says: "(0, 2]" },
  {
    name: "repetition_penalty 2.5",
    request: { sampling: { repetitionPenalty: 2.5 } },
    says: "(0, 2]",
  },
  { name: "min_p over 1", request: { sampling: { minP: 1.25 } }, says: "min_p" },
  {
    name: "frequency_penalty 3",
    request: { sampling: { frequencyPenalty: 3 } },
    says: "frequency_penalty",
  },
  {
    name: "presence_penalty -3",
    request: { sampling: { presencePenalty: -3 } },
    says: "presence_penalty",
  },
  { name: "negative temperature", request: { sampling: { temperature: -1 } }, says: "temperature" },
  { name: "n 0", request: { sampling: { n: 0 } }, says: "n must be at least 1" },
  {
    name: "min_new_tokens over max_new_tokens",
    request: { sampling: { minNewTokens: 5, maxNewTokens: 4 } },
    says: "min_new_tokens must be in [0, max_new_tokens(4)]",
  },
  {
    name: "a logit bias outside the vocabulary",
    request: { sampling: { logitBias: { "1000": 1 } } },
    says: "logit_bias",
  },
  { name: "an empty prompt", request: { prompt: [] }, says: "input_ids" },
  { name: "an id outside the vocabulary", request: { prompt: [1000] }, says: "vocab size" },
  {
    name: "a prompt of max_req_input_len",
    request: { prompt: range(0, 94) },
    says: "Input length (94 tokens) exceeds the maximum allowed length (94 tokens)",
  },
];

describe("refused requests", () => {
  it.for(refused)(
    "$name is INVALID_ARGUMENT",
    async ({ request, says }, { expect, onTestFinished }) => {
      const { client, engine } = await open(onTestFinished, { contextLength: 100 });
      const { error, responses } = await outcomeOf(client, request);
      expect(error?.code).toBe(Code.InvalidArgument);
      expect(error?.rawMessage).toContain(says);
      expect(responses).toEqual([]);
      expect(engine.stats()).toMatchObject({
        requests: 1,
        failed: 1,
        completed: 0,
        tokensGenerated: 0,
      });
    },
  );

  const withoutTokenizer: readonly RefusedCase[] = [
    { name: "stop", request: { sampling: { stop: ["x"] } }, says: "stop=" },
    {
      name: "min_new_tokens",
      request: { sampling: { minNewTokens: 1 } },
      says: "min_new_tokens=1",
    },
    {
      name: "a constraint",
      request: { sampling: { constraint: { case: "regex", value: "a" } } },
      says: "Grammar-based generation",
    },
  ];

  it.for(withoutTokenizer)(
    "$name is INVALID_ARGUMENT under --skip-tokenizer-init",
    async ({ request, says }, { expect, onTestFinished }) => {
      const options = { tokenizer: QWEN, skipTokenizerInit: true };
      const { client } = await open(onTestFinished, options);
      const { error } = await outcomeOf(client, request);
      expect(error?.code).toBe(Code.InvalidArgument);
      expect(error?.rawMessage).toContain(says);
    },
  );

  it("takes temperature 0 with top_k 0, which is greedy", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, { scenario: saying([1]) });
    const { completes } = await outcomeOf(client, { sampling: { temperature: 0, topK: 0 } });
    expect(completes).toHaveLength(1);
  });

  it("takes the longest prompt", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, { contextLength: 100, scenario: saying([1]) });
    const { completes } = await outcomeOf(client, { prompt: range(0, 93) });
    expect(completes[0]?.promptTokens).toBe(93);
  });
});

describe("streaming", () => {
  it("repeats the last delta in complete", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, {
      scenario: saying([11, 12, 13, 14], { chunks: { every: 2 } }),
    });
    const { chunks, completes, responses } = await outcomeOf(client, { requestId: "abc" });
    expect(chunks.map(({ tokenIds }) => tokenIds)).toEqual([[11, 12], [13, 14], [END]]);
    expect(chunks.map(({ completionTokens }) => completionTokens)).toEqual([2, 4, 5]);
    expect(chunks.map(({ promptTokens }) => promptTokens)).toEqual([3, 3, 3]);
    expect(completes).toHaveLength(1);
    expect(completes[0]).toMatchObject({
      outputIds: [END],
      finishReason: "stop",
      completionTokens: 5,
      matchedStop: { case: "matchedTokenId", value: END },
    });
    expect(responses.map(({ requestId }) => requestId)).toEqual(["abc", "abc", "abc", "abc"]);
  });

  it("gives everything at once with stream=false", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, { scenario: saying([11, 12]) });
    const { responses, completes } = await outcomeOf(client, {
      stream: false,
      returnLogprob: true,
    });
    expect(responses).toHaveLength(1);
    expect(completes[0]).toMatchObject({ outputIds: [11, 12, END], completionTokens: 3 });
    expect(completes[0]?.outputLogprobs?.tokenIds).toEqual([11, 12, END]);
  });

  it("sends the first token at once and then every stream_interval-th", async ({
    expect,
    onTestFinished,
  }) => {
    const { client } = await open(onTestFinished, { scenario: saying(range(10, 18)) });
    const { chunks } = await outcomeOf(client, { sampling: { streamInterval: 3 } });
    expect(chunks.map(({ tokenIds }) => tokenIds)).toEqual([
      [10],
      [11, 12, 13],
      [14, 15, 16],
      [17, END],
    ]);
  });
});

interface FinishCase {
  readonly name: string;
  readonly reply: readonly number[];
  readonly sampling: NonNullable<RequestInit["sampling"]>;
  readonly ids: readonly number[];
  readonly reason: string;
  readonly matched?: number;
}

const finishes: readonly FinishCase[] = [
  {
    name: "the end token",
    reply: [1, 2],
    sampling: {},
    ids: [1, 2, END],
    reason: "stop",
    matched: END,
  },
  {
    name: "max_new_tokens",
    reply: [1, 2, 3],
    sampling: { maxNewTokens: 2 },
    ids: [1, 2],
    reason: "length",
  },
  {
    name: "max_new_tokens 0",
    reply: [1, 2, 3],
    sampling: { maxNewTokens: 0 },
    ids: [],
    reason: "length",
  },
  // SGLang looks at the length before it looks at the token.
  {
    name: "both at one token",
    reply: [1],
    sampling: { maxNewTokens: 2 },
    ids: [1, END],
    reason: "length",
  },
  {
    name: "a stop token id",
    reply: [1, 7, 2],
    sampling: { stopTokenIds: [7] },
    ids: [1, 7],
    reason: "stop",
    matched: 7,
  },
  {
    name: "max_new_tokens under ignore_eos, which ignores stop token ids as well",
    reply: [1, 7],
    sampling: { ignoreEos: true, stopTokenIds: [7], maxNewTokens: 5 },
    ids: [1, 7, END, 1, 7],
    reason: "length",
  },
  {
    name: "the end token, not before min_new_tokens",
    reply: [1, 2],
    sampling: { minNewTokens: 4 },
    ids: [1, 2, 1, 2, END],
    reason: "stop",
    matched: END,
  },
];

describe("finish", () => {
  it.for(finishes)(
    "by $name",
    async ({ reply, sampling, ids, reason, matched }, { expect, onTestFinished }) => {
      const { client } = await open(onTestFinished, { scenario: saying(reply) });
      const outcome = await outcomeOf(client, { sampling });
      expect(outcome.ids).toEqual(ids);
      expect(outcome.completes[0]).toMatchObject({
        finishReason: reason,
        completionTokens: ids.length,
        matchedStop:
          matched === undefined ? { case: undefined } : { case: "matchedTokenId", value: matched },
      });
    },
  );

  it("by the context's end when max_new_tokens is absent", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, { contextLength: 100, scenario: saying([1]) });
    const { ids, completes } = await outcomeOf(client, {
      prompt: range(0, 90),
      sampling: { ignoreEos: true },
    });
    expect(ids).toHaveLength(8);
    expect(completes[0]?.finishReason).toBe("length");
  });

  it("by a stop string, whose text stays in the tokens", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, {
      tokenizer: QWEN,
      scenario: { rules: [{ reply: "one two STOP three" }] },
    });
    const { ids, completes } = await outcomeOf(client, { sampling: { stop: ["never", "STO"] } });
    expect(completes[0]).toMatchObject({
      finishReason: "stop",
      matchedStop: { case: "matchedStopStr", value: "STO" },
    });
    expect(ids).not.toContain(IM_END);
    const whole = await outcomeOf(client);
    expect(whole.ids.slice(0, ids.length)).toEqual(ids);
    expect(whole.ids.length).toBeGreaterThan(ids.length);
  });
});

describe("logprobs", () => {
  it("belong to the chunk's ids and are the same for every chunking", async ({
    expect,
    onTestFinished,
  }) => {
    const { client, engine } = await open(onTestFinished);
    const seen = [];
    for (const chunks of ["token", { every: 3 }, "all"] as const) {
      engine.setScenario(saying(range(20, 30), { chunks }));
      const outcome = await outcomeOf(client, { returnLogprob: true, topLogprobsNum: 4 });
      for (const chunk of outcome.chunks) {
        expect(chunk.outputLogprobs?.tokenIds).toEqual(chunk.tokenIds);
        expect(chunk.inputLogprobs).toBeUndefined();
      }
      seen.push(outcome.chunks.flatMap(({ outputLogprobs }) => outputLogprobs?.topLogprobs ?? []));
      const values = outcome.chunks.flatMap(
        ({ outputLogprobs }) => outputLogprobs?.tokenLogprobs ?? [],
      );
      expect(new Set(values).size).toBe(values.length);
      for (const [place, top] of (seen.at(-1) ?? []).entries()) {
        expect(top.values).toEqual(top.values.toSorted((left, right) => right - left));
        const rank = top.tokenIds.indexOf(outcome.ids[place] ?? -1);
        expect(rank).toBeGreaterThanOrEqual(0);
        expect(top.values[rank]).toBe(values[place]);
        expect(new Set(top.tokenIds).size).toBe(4);
      }
    }
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
  });

  const starts = [
    { start: 0, cachedAgain: 0, values: [undefined, "number", "number", "number"] },
    { start: 2, cachedAgain: 2, values: [undefined, "number"] },
    { start: -1, cachedAgain: 3, values: undefined },
  ];

  it.for(starts)(
    "logprob_start_len $start",
    async ({ start, cachedAgain, values }, { expect, onTestFinished }) => {
      const { client } = await open(onTestFinished, { scenario: saying([1, 2]) });
      const request = { prompt: [5, 6, 7, 8], returnLogprob: true, logprobStartLen: start };
      await outcomeOf(client, request);
      const { chunks, completes } = await outcomeOf(client, request);
      const told = chunks[0]?.inputLogprobs?.tokenLogprobs.map(({ value }) =>
        value === undefined ? undefined : typeof value,
      );
      expect(told).toEqual(values);
      expect(chunks[1]?.inputLogprobs).toBeUndefined();
      expect(completes[0]?.cachedTokens).toBe(cachedAgain);
    },
  );
});

describe("n > 1", () => {
  const scenario = {
    rules: [{ replies: [{ ids: [11, 12] }, { ids: [21] }, { ids: [31, 32, 33] }] }],
  };

  it("multiplexes samples by index after a prefill of the prompt", async ({
    expect,
    onTestFinished,
  }) => {
    const { client, engine } = await open(onTestFinished, { scenario });
    const { chunks, completes } = await outcomeOf(client, {
      prompt: range(0, 50),
      sampling: { n: 3 },
    });
    const idsOf = (index: number) =>
      chunks.filter((chunk) => chunk.index === index).flatMap(({ tokenIds }) => tokenIds);
    expect([0, 1, 2].map(idsOf)).toEqual([
      [11, 12, END],
      [21, END],
      [31, 32, 33, END],
    ]);
    expect(completes.map(({ index }) => index).toSorted((left, right) => left - right)).toEqual([
      0, 1, 2,
    ]);
    // The samples find the whole prompt but its last token, which each of them computes.
    expect(completes.map(({ cachedTokens }) => cachedTokens)).toEqual([49, 49, 49]);
    expect(engine.stats()).toMatchObject({ requests: 1, completed: 1, tokensGenerated: 9 });
  });

  it("says index 0 for every complete with stream=false", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished, { scenario });
    const { completes, chunks } = await outcomeOf(client, { stream: false, sampling: { n: 3 } });
    expect(chunks).toEqual([]);
    expect(completes.map(({ index }) => index)).toEqual([0, 0, 0]);
    expect(completes.map(({ outputIds }) => outputIds)).toEqual([
      [11, 12, END],
      [21, END],
      [31, 32, 33, END],
    ]);
  });
});

describe("cancel and abort", () => {
  const endless = { tokenMs: 2, scenario: saying([1, 2, 3]) };
  const longReply = { sampling: { ignoreEos: true } };

  it("cancelling the call aborts an n=1 request", async ({ expect, onTestFinished }) => {
    const { client, engine } = await open(onTestFinished, endless);
    const controller = new AbortController();
    const call = outcomeOf(client, longReply, { signal: controller.signal });
    await untilTrue(() => engine.stats().tokensGenerated > 3);
    controller.abort();
    expect((await call).error?.code).toBe(Code.Canceled);
    await untilTrue(() => engine.stats().running === 0);
    await untilTrue(() => engine.stats().cancelledCalls === 1);
    expect(engine.stats()).toMatchObject({ abortedRequests: 1, completed: 0, failed: 0 });
  });

  it("cancelling the call does not abort n > 1; Abort does", async ({ expect, onTestFinished }) => {
    const { client, engine } = await open(onTestFinished, endless);
    const controller = new AbortController();
    const request = { requestId: "twins", sampling: { ignoreEos: true, n: 2 } };
    const call = outcomeOf(client, request, { signal: controller.signal });
    await untilTrue(() => engine.stats().tokensGenerated > 3);
    controller.abort();
    await call;
    await untilTrue(() => engine.stats().cancelledCalls === 1);
    const { tokensGenerated } = engine.stats();
    await untilTrue(() => engine.stats().tokensGenerated > tokensGenerated + 10);
    expect(engine.stats().running).toBe(2);
    expect(await client.abort({ requestId: "twins" })).toMatchObject({ success: true });
    await untilTrue(() => engine.stats().running === 0);
    expect(engine.stats()).toMatchObject({ aborts: 1, abortedRequests: 2, lastAborts: ["twins"] });
  });

  it("after Abort a running stream never says anything again", async ({
    expect,
    onTestFinished,
  }) => {
    const { client, engine } = await open(onTestFinished, endless);
    const controller = new AbortController();
    const call = outcomeOf(
      client,
      { requestId: "mute", ...longReply },
      { signal: controller.signal },
    );
    await untilTrue(() => engine.stats().tokensGenerated > 3);
    await client.abort({ requestId: "mute" });
    await untilTrue(() => engine.stats().running === 0);
    const winner = await Promise.race([
      call.then(() => "ended"),
      new Promise((resolve) => setTimeout(() => resolve("silent"), 100)),
    ]);
    expect(winner).toBe("silent");
    controller.abort();
    const { completes, error } = await call;
    expect(completes).toEqual([]);
    expect(error?.code).toBe(Code.Canceled);
  });

  it("after-abort=complete ends it with finish_reason abort", async ({
    expect,
    onTestFinished,
  }) => {
    const { client, engine } = await open(onTestFinished, { ...endless, afterAbort: "complete" });
    const call = outcomeOf(client, { requestId: "told", ...longReply });
    await untilTrue(() => engine.stats().tokensGenerated > 3);
    await client.abort({ requestId: "told" });
    expect((await call).completes[0]?.finishReason).toBe("abort");
  });

  it("Abort of n > 1 ends its stream with finish_reason abort", async ({
    expect,
    onTestFinished,
  }) => {
    const { client, engine } = await open(onTestFinished, endless);
    const call = outcomeOf(client, { requestId: "pair", sampling: { ignoreEos: true, n: 2 } });
    await untilTrue(() => engine.stats().tokensGenerated > 3);
    await client.abort({ requestId: "pair" });
    expect((await call).completes.map(({ finishReason }) => finishReason)).toEqual([
      "abort",
      "abort",
    ]);
  });

  it("Abort of a waiting request is INTERNAL", async ({ expect, onTestFinished }) => {
    const { client, engine } = await open(onTestFinished, { ...endless, maxRunningRequests: 1 });
    const controller = new AbortController();
    const first = outcomeOf(client, longReply, { signal: controller.signal });
    await untilTrue(() => engine.stats().running === 1);
    const second = outcomeOf(client, { requestId: "queued" });
    await untilTrue(() => engine.stats().waiting === 1);
    await client.abort({ requestId: "queued" });
    const { error } = await second;
    expect(error?.code).toBe(Code.Internal);
    expect(error?.rawMessage).toBe("Request aborted");
    controller.abort();
    await first;
  });

  it("Abort hits every id that begins with its own, as the scheduler's does", async ({
    expect,
    onTestFinished,
  }) => {
    const { client, engine } = await open(onTestFinished, endless);
    const call = outcomeOf(client, { requestId: "req-10", ...longReply });
    await untilTrue(() => engine.stats().tokensGenerated > 3);
    await client.abort({ requestId: "req-1" });
    expect((await call).completes[0]?.finishReason).toBe("abort");
  });

  it("says success for an unknown id", async ({ expect, onTestFinished }) => {
    const { client } = await open(onTestFinished);
    expect(await client.abort({ requestId: "nobody" })).toMatchObject({ success: true });
  });
});

describe("what tests can see", () => {
  it("keeps the raw request and its metadata", async ({ expect, onTestFinished }) => {
    const { client, engine } = await open(onTestFinished, { scenario: saying([1]) });
    await outcomeOf(client, { requestId: "seen", loraId: "l" }, { headers: { "x-trace": "t" } });
    const [seen] = engine.stats().lastRequests;
    expect(seen?.request).toMatchObject({ requestId: "seen", loraId: "l", logprobStartLen: -1 });
    expect(seen?.request.samplingParams?.topK).toBe(-1);
    expect(seen?.headers["x-trace"]).toBe("t");
    engine.reset();
    expect(engine.stats()).toMatchObject({ requests: 0, tokensGenerated: 0, lastRequests: [] });
  });

  it("answers UNIMPLEMENTED to the LoRA calls", async ({ expect, onTestFinished }) => {
    const { engine } = await open(onTestFinished);
    const path = "/sglang.grpc.scheduler.SglangScheduler/ListLoadedLoRAAdapters";
    expect(await rawCall(engine.url, path)).toEqual({ status: 200, grpcStatus: "12" });
  });
});
