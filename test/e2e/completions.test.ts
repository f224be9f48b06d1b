import OpenAI from "openai";
import { afterAll, beforeAll, describe, it, type ExpectStatic } from "vitest";

import { readSse } from "../support/sse.ts";
import { API_KEY, startStack, type Stack } from "../support/stack.ts";
import { LLAMA, QWEN } from "../support/test-models.ts";

let stack: Stack;
let openai: OpenAI;

beforeAll(async () => {
  stack = await startStack();
  openai = new OpenAI({ apiKey: API_KEY, baseURL: `${stack.url}/v1`, maxRetries: 0 });
});
afterAll(() => stack.close());

const rules = [
  { when: "alpha$", reply: " beta 東京" },
  { when: "one$", reply: " two" },
  { when: "three$", reply: " four" },
];

interface Choice {
  readonly index: number;
  readonly text: string;
  readonly finish_reason: string | null;
  readonly logprobs: {
    readonly tokens: readonly string[];
    readonly token_logprobs: readonly (number | null)[];
    readonly top_logprobs: readonly (Record<string, number> | null)[];
    readonly text_offset: readonly number[];
  } | null;
}

interface Reply {
  readonly object: string;
  readonly choices: readonly Choice[];
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

async function ask(body: Readonly<Record<string, unknown>>): Promise<Reply> {
  const response = await stack.post("/v1/completions", body);
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Reply;
}

/** A stream's choices by index, joined. */
async function askStreamed(body: Readonly<Record<string, unknown>>): Promise<Choice[]> {
  const response = await stack.post("/v1/completions", { ...body, stream: true });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const { json, isDone } = await readSse(response);
  if (!isDone) throw new Error("no [DONE]");
  const choices: Choice[] = [];
  for (const choice of json.flatMap((chunk) => (chunk.choices ?? []) as unknown as Choice[])) {
    const known = choices[choice.index];
    choices[choice.index] =
      known === undefined
        ? choice
        : {
            index: choice.index,
            text: known.text + choice.text,
            finish_reason: choice.finish_reason ?? known.finish_reason,
            logprobs: joinLogprobs(known.logprobs, choice.logprobs),
          };
  }
  return choices;
}

function joinLogprobs(one: Choice["logprobs"], other: Choice["logprobs"]): Choice["logprobs"] {
  if (one === null || other === null) return one ?? other;
  return {
    tokens: [...one.tokens, ...other.tokens],
    token_logprobs: [...one.token_logprobs, ...other.token_logprobs],
    top_logprobs: [...one.top_logprobs, ...other.top_logprobs],
    text_offset: [...one.text_offset, ...other.text_offset],
  };
}

const models = [{ model: QWEN }, { model: LLAMA }];

describe("completions", () => {
  it.for(models)("complete a text with the openai SDK on $model", async ({ model }, { expect }) => {
    stack.engine(model).setScenario({ rules });
    const completion = await openai.completions.create({ model, prompt: "alpha", max_tokens: 30 });
    expect(completion.choices[0]?.text).toBe(" beta 東京");
    const stream = await openai.completions.create({
      model,
      prompt: "alpha",
      max_tokens: 30,
      stream: true,
    });
    let text = "";
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? "";
    expect(text).toBe(" beta 東京");
  });

  it("add the model's own BOS token to a text, and nothing to ids", async ({ expect }) => {
    const engine = stack.engine(LLAMA);
    engine.setScenario({ rules });
    engine.reset();
    await ask({ model: LLAMA, prompt: "alpha" });
    await ask({ model: LLAMA, prompt: [7_288] });
    const sent = engine.stats().lastRequests.map(({ request }) => request.tokenized?.inputIds);
    expect(sent[0]?.[0]).toBe(128_000);
    expect(sent[1]).toEqual([7_288]);
  });

  it("stop at 16 tokens when no limit was given", async ({ expect }) => {
    const engine = stack.engine(LLAMA);
    engine.setScenario({ rules: [{ reply: "word ".repeat(100) }] });
    const { choices, usage } = await ask({ model: LLAMA, prompt: "x" });
    expect(usage.completion_tokens).toBe(16);
    expect(choices[0]?.finish_reason).toBe("length");
  });

  it("take many prompts, number their choices, and add up the usage", async ({ expect }) => {
    stack.engine(LLAMA).setScenario({ rules });
    const prompt = ["one", "three", "alpha", "one", "three", "alpha", "one"];
    const texts = [" two", " four", " beta 東京", " two", " four", " beta 東京", " two"];
    const body = { model: LLAMA, prompt, n: 2, max_tokens: 20 };
    const reply = await ask(body);
    expect(reply.choices.map(({ index }) => index)).toEqual(
      prompt.flatMap((_, i) => [2 * i, 2 * i + 1]),
    );
    expect(reply.choices.map(({ text }) => text)).toEqual(texts.flatMap((text) => [text, text]));
    const alone = await ask({ ...body, prompt: "one", n: 1 });
    const first = await ask({ ...body, prompt: ["one", "one"], n: 1 });
    expect(first.usage.prompt_tokens).toBe(2 * alone.usage.prompt_tokens);
    expect(first.usage.completion_tokens).toBe(2 * alone.usage.completion_tokens);
    const streamed = await askStreamed(body);
    expect(streamed.map(({ text }) => text)).toEqual(reply.choices.map(({ text }) => text));
    expect(streamed.every((choice) => choice.finish_reason === "stop")).toBe(true);
  });

  it("take lists of token ids", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules });
    const ids = async (text: string): Promise<number[]> => {
      const response = await stack.post("/tokenize", { model: QWEN, prompt: text });
      return ((await response.json()) as { tokens: number[] }).tokens;
    };
    const prompt = [await ids("one"), await ids("three")];
    const { choices } = await ask({ model: QWEN, prompt });
    expect(choices.map(({ text }) => text)).toEqual([" two", " four"]);
  });
});

describe("echo and log probabilities", () => {
  it.for([
    { echo: false, logprobs: 2 },
    { echo: false, logprobs: 0 },
    { echo: true, logprobs: 1 },
    { echo: true, logprobs: null },
  ])("echo $echo, logprobs $logprobs: streamed equals buffered", async (row, { expect }) => {
    stack.engine(LLAMA).setScenario({ rules });
    const body = { model: LLAMA, prompt: ["über alpha", "x one"], n: 2, ...row };
    const { choices } = await ask(body);
    const first = choices[0];
    expect(first?.text).toBe(row.echo ? "über alpha beta 東京" : " beta 東京");
    const streamed = await askStreamed(body);
    for (const [index, choice] of choices.entries()) {
      expect(streamed[index]?.text).toBe(choice.text);
      expect(streamed[index]?.logprobs).toEqual(choice.logprobs);
    }
    if (row.logprobs === null) expect(first?.logprobs).toBeNull();
    else checkLogprobs(expect, first, row.logprobs);
  });
});

/** Each token stands where its offset says, counted in characters, with so many alternatives. */
function checkLogprobs(expect: ExpectStatic, choice: Choice | undefined, top: number): void {
  if (choice?.logprobs == null) throw new Error("no logprobs");
  const {
    tokens,
    token_logprobs: values,
    top_logprobs: rows,
    text_offset: offsets,
  } = choice.logprobs;
  expect(tokens.length).toBeGreaterThan(1);
  const characters = Array.from(choice.text);
  const told = tokens.map((token, position) => {
    const offset = offsets[position] ?? -1;
    return characters.slice(offset, offset + Array.from(token).length).join("");
  });
  const isWhole = (token: string): boolean => !token.includes("\ufffd");
  expect(told.filter((_, position) => isWhole(tokens[position] ?? ""))).toEqual(
    tokens.filter(isWhole),
  );
  expect(values.slice(1).every((value) => typeof value === "number")).toBe(true);
  expect(rows).toHaveLength(tokens.length);
  for (const row of rows) if (row !== null) expect(Object.keys(row)).toHaveLength(top);
}

describe("completions that are refused", () => {
  const base = { model: LLAMA, prompt: "x" };
  it.for([
    { name: "no prompt", body: { model: LLAMA }, param: "prompt" },
    { name: "an empty prompt", body: { ...base, prompt: "" }, param: "prompt" },
    { name: "an empty list", body: { ...base, prompt: [] }, param: "prompt" },
    { name: "a mixed list", body: { ...base, prompt: ["a", 1] }, param: "prompt[1]" },
    { name: "an empty text in a list", body: { ...base, prompt: ["a", ""] }, param: "prompt[1]" },
    { name: "an id that is not there", body: { ...base, prompt: [999_999] }, param: "prompt[0]" },
    {
      name: "an id in a list of lists",
      body: { ...base, prompt: [[1], [2, 999_999]] },
      param: "prompt[1][1]",
    },
    { name: "best_of over n", body: { ...base, n: 1, best_of: 3 }, param: "best_of" },
    { name: "too many choices", body: { ...base, prompt: Array(100).fill("x"), n: 2 }, param: "n" },
    { name: "a suffix", body: { ...base, suffix: "y" }, param: "suffix" },
    { name: "logprobs 6", body: { ...base, logprobs: 6 }, param: "logprobs" },
    { name: "two constraints", body: { ...base, regex: "a", ebnf: "root ::= 'a'" }, param: "ebnf" },
  ])("$name", async ({ body, param }, { expect }) => {
    const response = await stack.post("/v1/completions", body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", param },
    });
  });

  it("a prompt that does not fit", async ({ expect }) => {
    const response = await stack.post("/v1/completions", { ...base, max_tokens: 200_000 });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: "context_length_exceeded" } });
  });
});
