import { afterAll, beforeAll, describe, it } from "vitest";

import { foldChatStream, readSse, type LogprobEntry } from "../support/sse.ts";
import { startStack, type Stack } from "../support/stack.ts";
import { GPT_OSS, LLAMA, QWEN } from "../support/test-models.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ models: [QWEN, LLAMA, GPT_OSS] });
});
afterAll(() => stack.close());

const messages = [{ role: "user", content: "hi" }];
const tools = [{ type: "function", function: { name: "f", parameters: { type: "object" } } }];

interface Row {
  readonly name: string;
  readonly model: string;
  readonly output: string;
  readonly more?: Readonly<Record<string, unknown>>;
  /** Text of the tokens that the reply shows, special tokens written out; what ended it is not among them. */
  readonly shown?: string;
}

const rows: readonly Row[] = [
  { name: "plain text", model: LLAMA, output: "Grüße 🌍 aus 東京 𒀭!" },
  {
    name: "a thought and text",
    model: QWEN,
    output: "<think>\nhm 🤔\n</think>\n\nYes.",
  },
  {
    name: "a thought and a call",
    model: QWEN,
    output:
      '<think>\nhm\n</think>\n\n<tool_call>\n{"name": "f", "arguments": {"a": "東京"}}\n</tool_call>',
    more: { tools },
  },
  {
    name: "what a stop string leaves",
    model: LLAMA,
    output: "one two three four",
    more: { stop: " three" },
    shown: "one two",
  },
  {
    name: "channels",
    model: GPT_OSS,
    output:
      "<|channel|>analysis<|message|>Easy.<|end|><|start|>assistant<|channel|>final<|message|>42",
  },
];

const textOf = (entries: readonly LogprobEntry[]): string =>
  new TextDecoder().decode(Uint8Array.from(entries.flatMap(({ bytes }) => bytes)));

const chunkings = ["token", "all", { random: { seed: 3, max: 5 } }] as const;

describe("log probabilities of a chat", () => {
  it.for(rows)("are there for every token that is shown: $name", async (row, { expect }) => {
    for (const chunks of chunkings) {
      stack.engine(row.model).setScenario({ rules: [{ reply: { text: row.output, chunks } }] });
      const body = { model: row.model, messages, logprobs: true, top_logprobs: 2, ...row.more };
      const buffered = (await (await stack.post("/v1/chat/completions", body)).json()) as {
        choices: { logprobs: { content: LogprobEntry[] } }[];
      };
      const entries = buffered.choices[0]?.logprobs.content ?? [];
      expect(textOf(entries)).toBe(row.shown ?? row.output);
      const stream = await stack.post("/v1/chat/completions", { ...body, stream: true });
      const streamed = foldChatStream(await readSse(stream)).get(0)?.logprobs;
      expect(streamed).toEqual(entries);
    }
  });

  it("has each position's own alternatives, best first", async ({ expect }) => {
    stack.engine(LLAMA).setScenario({ rules: [{ reply: "one two three" }] });
    const body = { model: LLAMA, messages, logprobs: true, top_logprobs: 3 };
    const reply = (await (await stack.post("/v1/chat/completions", body)).json()) as {
      choices: { logprobs: { content: LogprobEntry[] } }[];
    };
    const entries = reply.choices[0]?.logprobs.content ?? [];
    for (const { top_logprobs: top } of entries) {
      expect(top).toHaveLength(3);
      const values = top.map(({ logprob }) => logprob);
      expect(values).toEqual([...values].sort((a, b) => b - a));
    }
    const rowsOfTop = entries.map(({ top_logprobs: top }) => JSON.stringify(top));
    expect(new Set(rowsOfTop).size).toBe(entries.length);
  });

  it("comes with the chunk that shows the token", async ({ expect }) => {
    stack
      .engine(LLAMA)
      .setScenario({ rules: [{ reply: { text: "The quick brown fox", chunks: "token" } }] });
    const body = {
      model: LLAMA,
      messages,
      logprobs: true,
      stream: true,
      stop: " brown dog",
    };
    const { json } = await readSse(await stack.post("/v1/chat/completions", body));
    let shown = "";
    let told = "";
    for (const choice of json.flatMap((chunk) => chunk.choices ?? [])) {
      shown += choice.delta.content ?? "";
      told += (choice.logprobs?.content ?? []).map(({ token }) => token).join("");
      expect(shown.startsWith(told)).toBe(true);
    }
    expect(told).toBe("The quick brown fox");
  });

  it("is null when it was not asked for", async ({ expect }) => {
    stack.engine(LLAMA).setScenario({ rules: [{ reply: "x" }] });
    const response = await stack.post("/v1/chat/completions", { model: LLAMA, messages });
    expect(await response.json()).toMatchObject({ choices: [{ logprobs: null }] });
  });
});
