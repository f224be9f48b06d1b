import fc from "fast-check";
import { afterAll, beforeAll, describe, it } from "vitest";

import { FAMILY_ROWS, FAMILY_TOOLS, type FamilyRow } from "../support/family-rows.ts";
import { foldChatStream, readSse, type FoldedChoice } from "../support/sse.ts";
import { startStack, type Stack } from "../support/stack.ts";
import { DEEPSEEK, GPT_OSS, LLAMA, MISTRAL, QWEN, QWEN_CODER } from "../support/test-models.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ models: [...new Set(FAMILY_ROWS.map(({ model }) => model))] });
});
afterAll(() => stack.close());

type Chunks = "token" | "all" | { random: { seed: number; max: number } };

function setOutput(row: FamilyRow, chunks: Chunks): void {
  const eos = /<\|(call|return)\|>$/.test(row.output) ? { eos: false } : {};
  stack.engine(row.model).setScenario({
    rules: [{ reply: { text: row.output, chunks, finish: row.finish ?? "stop", ...eos } }],
  });
}

function request(row: FamilyRow, more: Readonly<Record<string, unknown>> = {}) {
  return {
    model: row.model,
    messages: [{ role: "user", content: "What is the weather?" }],
    tools: FAMILY_TOOLS,
    ...(row.kwargs === undefined ? {} : { chat_template_kwargs: row.kwargs }),
    ...more,
  };
}

interface BufferedReply {
  readonly choices: readonly {
    readonly message: {
      readonly content: string | null;
      readonly reasoning_content?: string | null;
      readonly tool_calls?: readonly {
        readonly id: string;
        readonly type: string;
        readonly function: { readonly name: string; readonly arguments: string };
      }[];
    };
    readonly finish_reason: string;
  }[];
  readonly usage: { readonly completion_tokens: number };
}

async function askBuffered(row: FamilyRow): Promise<BufferedReply> {
  const response = await stack.post("/v1/chat/completions", request(row));
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as BufferedReply;
}

async function askStreamed(row: FamilyRow): Promise<FoldedChoice> {
  const response = await stack.post("/v1/chat/completions", request(row, { stream: true }));
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const choice = foldChatStream(await readSse(response)).get(0);
  if (choice === undefined) throw new Error("no choice");
  return choice;
}

/** The parts of a reply that the row tells, whichever way it came. */
function expected(row: FamilyRow) {
  const calls = row.calls ?? [];
  return {
    content: row.content ?? "",
    reasoning: row.reasoning ?? "",
    calls,
    finish: row.finish ?? (calls.length > 0 ? "tool_calls" : "stop"),
  };
}

function bufferedParts({ choices }: BufferedReply) {
  const [choice] = choices;
  return {
    content: choice?.message.content ?? "",
    reasoning: choice?.message.reasoning_content ?? "",
    calls: (choice?.message.tool_calls ?? []).map((call) => ({
      name: call.function.name,
      arguments: JSON.parse(call.function.arguments) as unknown,
    })),
    finish: choice?.finish_reason,
  };
}

function streamedParts({ content, reasoning, calls, finishReasons }: FoldedChoice) {
  return {
    content,
    reasoning,
    calls: calls.map((call) => ({
      name: call.name,
      arguments: JSON.parse(call.arguments) as unknown,
    })),
    finish: finishReasons[0],
  };
}

describe("what a model of each family writes", () => {
  it.for(FAMILY_ROWS)("is read the same, buffered and streamed: $name", async (row, { expect }) => {
    setOutput(row, "token");
    const buffered = await askBuffered(row);
    expect(bufferedParts(buffered)).toEqual(expected(row));
    expect(buffered.choices[0]?.message.content).toBe(row.content);
    const streamed = await askStreamed(row);
    expect(streamedParts(streamed)).toEqual(expected(row));
    expect(streamed.finishReasons).toHaveLength(1);
    for (const call of streamed.calls) expect(call.id).toMatch(/^call_[0-9a-f]{24}$/);
  });

  it.for(FAMILY_ROWS)("does not depend on the engine's chunks: $name", async (row, { expect }) => {
    const seeds = fc.sample(fc.nat({ max: 1_000_000 }), { numRuns: 4, seed: 5 });
    for (const chunks of [
      "all" as const,
      ...seeds.map((seed) => ({ random: { seed, max: 1 + (seed % 9) } })),
    ]) {
      setOutput(row, chunks);
      expect(streamedParts(await askStreamed(row)), JSON.stringify(chunks)).toEqual(expected(row));
      expect(bufferedParts(await askBuffered(row)), JSON.stringify(chunks)).toEqual(expected(row));
    }
  });
});

/** How each family writes a text and one call. */
const WRITERS: readonly {
  readonly model: string;
  readonly write: (text: string, city: string) => string;
  readonly content: (text: string) => string;
  readonly reasoning: (text: string) => string;
}[] = [
  {
    model: QWEN,
    write: (text, city) =>
      `<think>\n${text}\n</think>\n\n${text}<tool_call>\n{"name": "get_weather", "arguments": ${JSON.stringify({ city })}}\n</tool_call>`,
    content: (text) => `\n\n${text}`,
    reasoning: (text) => `\n${text}\n`,
  },
  {
    model: QWEN_CODER,
    write: (text, city) =>
      `${text}<tool_call>\n<function=get_weather>\n<parameter=city>\n${city}\n</parameter>\n</function>\n</tool_call>`,
    content: (text) => text,
    reasoning: () => "",
  },
  {
    model: LLAMA,
    write: (_text, city) =>
      `<|python_tag|>{"name": "get_weather", "parameters": ${JSON.stringify({ city })}}`,
    content: () => "",
    reasoning: () => "",
  },
  {
    model: DEEPSEEK,
    write: (text, city) =>
      `${text}<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>${JSON.stringify({ city })}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
    content: (text) => text,
    reasoning: () => "",
  },
  {
    model: MISTRAL,
    write: (_text, city) =>
      `[TOOL_CALLS][{"name": "get_weather", "arguments": ${JSON.stringify({ city })}}]`,
    content: () => "",
    reasoning: () => "",
  },
  {
    model: GPT_OSS,
    write: (text, city) =>
      `<|channel|>analysis<|message|>${text}<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>${JSON.stringify({ city })}<|call|>`,
    content: () => "",
    reasoning: (text) => text,
  },
];

/** Characters that stay as they are in every normal form, quotes and escapes among them. */
const character = fc.constantFrom(
  ..."aZ09 ßЖé東京語, 한글".split(""),
  "🌍",
  "👨‍👩‍👧",
  "\n",
  '"',
  "\\",
  "'",
  "{",
  "}",
  "[",
  "]",
);
const anyText = fc.array(character, { maxLength: 24 }).map((parts) => `x${parts.join("")}y`);

describe("whatever a model writes", () => {
  it.for(WRITERS)(
    "is read the same for every text and every cut, $model",
    async ({ model, write, content, reasoning }, { expect }) => {
      await fc.assert(
        fc.asyncProperty(
          anyText,
          anyText,
          fc.integer({ min: 1, max: 1_000_000 }),
          async (text, city, seed) => {
            const row: FamilyRow = {
              name: model,
              model,
              output: write(text, city),
              content: content(text),
              reasoning: reasoning(text),
              calls: [{ name: "get_weather", arguments: { city } }],
            };
            setOutput(row, { random: { seed, max: 1 + (seed % 7) } });
            expect(streamedParts(await askStreamed(row))).toEqual(expected(row));
            expect(bufferedParts(await askBuffered(row))).toEqual(expected(row));
          },
        ),
        { seed: 2_026, numRuns: 8 },
      );
    },
  );
});
