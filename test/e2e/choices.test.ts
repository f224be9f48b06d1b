import { afterAll, beforeAll, describe, it } from "vitest";

import { foldChatStream, readSse } from "../support/sse.ts";
import { startStack, type Stack } from "../support/stack.ts";
import { LLAMA } from "../support/test-models.ts";
import { pause, waitUntil } from "../support/wait.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ models: [LLAMA] });
});
afterAll(() => stack.close());

const messages = [{ role: "user", content: "hi" }];
const replies = ["first of all", "second 東京", "third"];

interface Reply {
  readonly choices: readonly {
    readonly index: number;
    readonly message: { readonly content: string };
    readonly finish_reason: string;
    readonly matched_stop: unknown;
  }[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

async function ask(more: Readonly<Record<string, unknown>>): Promise<Reply> {
  const response = await stack.post("/v1/chat/completions", { model: LLAMA, messages, ...more });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Reply;
}

describe("several choices", () => {
  it("come by index, buffered and streamed", async ({ expect }) => {
    stack.engine(LLAMA).setScenario({ rules: [{ replies }] });
    const { choices } = await ask({ n: 3 });
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    const contents = choices.map(({ message }) => message.content);
    expect([...contents].sort()).toEqual([...replies].sort());

    stack.engine(LLAMA).setScenario({ rules: [{ replies }] });
    const stream = await stack.post("/v1/chat/completions", {
      model: LLAMA,
      messages,
      n: 3,
      stream: true,
    });
    const transcript = await readSse(stream);
    const streamed = foldChatStream(transcript);
    expect([0, 1, 2].map((index) => streamed.get(index)?.content)).toEqual(contents);
    expect([...streamed.values()].map(({ finishReasons }) => finishReasons)).toEqual([
      ["stop"],
      ["stop"],
      ["stop"],
    ]);
    const roles = transcript.json
      .slice(0, 3)
      .map(({ choices: list }) => [list?.[0]?.index, list?.[0]?.delta.role]);
    expect(roles).toEqual([
      [0, "assistant"],
      [1, "assistant"],
      [2, "assistant"],
    ]);
  });

  it("end in the order of their indices", async ({ expect }) => {
    stack.engine(LLAMA).setScenario({
      rules: [{ replies: ["a much longer reply than all of the others, by far", "b", "c"] }],
    });
    const stream = await stack.post("/v1/chat/completions", {
      model: LLAMA,
      messages,
      n: 3,
      stream: true,
    });
    const { json } = await readSse(stream);
    const ends = json
      .flatMap((chunk) => chunk.choices ?? [])
      .filter((choice) => choice.finish_reason !== null)
      .map(({ index }) => index);
    expect(ends).toEqual([0, 1, 2]);
  });

  it("count the prompt once", async ({ expect }) => {
    stack.engine(LLAMA).setScenario({ rules: [{ reply: "same words" }] });
    const one = await ask({ n: 1 });
    const three = await ask({ n: 3 });
    expect(three.usage.prompt_tokens).toBe(one.usage.prompt_tokens);
    expect(three.usage.completion_tokens).toBe(3 * one.usage.completion_tokens);
  });

  it("stop one by one, and the engine is told when all have", async ({ expect }) => {
    const engine = stack.engine(LLAMA);
    const long = "word ".repeat(300);
    engine.setScenario({ rules: [{ replies: [`x STOP ${long}`, `y STOP ${long}`] }] });
    engine.reset();
    const { choices, usage } = await ask({ n: 2, stop: " STOP" });
    expect(choices.map(({ message }) => message.content).sort()).toEqual(["x", "y"]);
    expect(choices.map((choice) => choice.matched_stop)).toEqual([" STOP", " STOP"]);
    expect(usage.completion_tokens).toBeLessThan(20);
  });

  it("are all aborted when the client leaves", async ({ expect }) => {
    const engine = stack.engine(LLAMA);
    engine.setScenario({ rules: [{ reply: "word ".repeat(2_000), perTokenMs: 10 }] });
    engine.reset();
    const controller = new AbortController();
    const response = await stack.post(
      "/v1/chat/completions",
      { model: LLAMA, messages, n: 4, stream: true },
      { signal: controller.signal },
    );
    const reader = response.body?.getReader();
    await reader?.read();
    await pause(200);
    controller.abort();
    await waitUntil(() => engine.stats().aborts > 0, 1_000);
    await pause(300);
    const { tokensGenerated } = engine.stats();
    await pause(500);
    expect(engine.stats().tokensGenerated).toBe(tokensGenerated);
  });
});
