import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { afterAll, beforeAll, describe, it } from "vitest";
import * as z from "zod";

import { FAMILY_TOOLS } from "../support/family-rows.ts";
import { foldChatStream, readSse } from "../support/sse.ts";
import { API_KEY, startStack, type Stack } from "../support/stack.ts";
import {
  DEEPSEEK,
  GEMMA,
  GPT_OSS,
  LLAMA,
  MISTRAL,
  QWEN,
  QWEN_CODER,
} from "../support/test-models.ts";

let stack: Stack;
let openai: OpenAI;

beforeAll(async () => {
  stack = await startStack({
    models: [QWEN, LLAMA, GPT_OSS, QWEN_CODER, GEMMA, DEEPSEEK, MISTRAL],
  });
  openai = new OpenAI({ apiKey: API_KEY, baseURL: `${stack.url}/v1`, maxRetries: 0 });
});
afterAll(() => stack.close());

const messages = [{ role: "user" as const, content: "What is the weather in Paris?" }];
const CALL =
  '<think>\n\n</think>\n\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>';

/** The engine's request of the last chat. */
function lastRequest(model: string) {
  const request = stack.engine(model).stats().lastRequests.at(-1)?.request;
  if (request === undefined) throw new Error("the engine saw nothing");
  return request;
}

describe("the openai SDK", () => {
  it("runs its tool loop to the final answer", async ({ expect }) => {
    stack.engine(QWEN).setScenario({
      rules: [
        { when: "sunny, 21", reply: "<think>\nfine\n</think>\n\nIt is sunny, 21 degrees." },
        { reply: CALL },
      ],
    });
    const asked: string[] = [];
    const runner = openai.chat.completions.runTools({
      model: QWEN,
      messages,
      tools: [
        {
          type: "function",
          function: {
            name: "get_weather",
            description: "The weather of a city",
            parameters: { type: "object", properties: { city: { type: "string" } } },
            parse: (text: string) => z.object({ city: z.string() }).parse(JSON.parse(text)),
            function({ city }: { readonly city: string }) {
              asked.push(city);
              return "sunny, 21 degrees";
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toBe("\n\nIt is sunny, 21 degrees.");
    expect(asked).toEqual(["Paris"]);
  });

  const loops = [
    { model: QWEN, output: `${CALL}\n${CALL.slice(CALL.indexOf("<tool_call>"))}` },
    {
      model: QWEN_CODER,
      output:
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>\n</tool_call>",
    },
    {
      model: LLAMA,
      output:
        '{"name": "get_weather", "parameters": {"city": "Paris"}}; {"name": "get_weather", "parameters": {"city": "Rome"}}',
    },
    {
      model: DEEPSEEK,
      output:
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    },
    {
      model: MISTRAL,
      output:
        '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}}, {"name": "get_weather", "arguments": {"city": "Rome"}}]',
    },
    {
      model: GPT_OSS,
      output:
        '<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris"}<|call|>',
    },
  ];

  it.for(loops)("goes through a tool loop with $model", async ({ model, output }, { expect }) => {
    const final = model === GPT_OSS ? "<|channel|>final<|message|>It is sunny." : "It is sunny.";
    const eos = model === GPT_OSS ? { eos: false } : {};
    stack.engine(model).setScenario({
      rules: [{ when: "sunny, 21", reply: final }, { reply: { text: output, ...eos } }],
    });
    const history: OpenAI.ChatCompletionMessageParam[] = [...messages];
    for (let turn = 0; turn < 2; turn++) {
      const { choices } = await openai.chat.completions.create({
        model,
        messages: history,
        tools: FAMILY_TOOLS,
      });
      const message = choices[0]?.message;
      if (message === undefined) throw new Error("no message");
      if (turn === 1) {
        expect(message.content).toBe("It is sunny.");
        return;
      }
      expect(choices[0]?.finish_reason).toBe("tool_calls");
      history.push(message);
      for (const call of message.tool_calls ?? []) {
        history.push({ role: "tool", tool_call_id: call.id, content: "sunny, 21 degrees" });
      }
    }
  });

  it("parses structured output, constrained by its schema", async ({ expect }) => {
    stack.engine(QWEN).setScenario({
      rules: [{ reply: '<think>\n\n</think>\n\n{"city": "東京", "days": 3}' }],
    });
    const City = z.object({ city: z.string(), days: z.number() });
    const completion = await openai.chat.completions.parse({
      model: QWEN,
      messages,
      response_format: zodResponseFormat(City, "city"),
    });
    expect(completion.choices[0]?.message.parsed).toEqual({ city: "東京", days: 3 });
    const { samplingParams } = lastRequest(QWEN);
    expect(samplingParams?.constraint.case).toBe("jsonSchema");
    expect(JSON.parse(String(samplingParams?.constraint.value))).toMatchObject({
      type: "object",
      required: ["city", "days"],
    });
  });

  it("parses the arguments of a strict tool in its streaming helper", async ({ expect }) => {
    stack
      .engine(QWEN)
      .setScenario({ rules: [{ reply: { text: CALL, chunks: "token", perTokenMs: 20 } }] });
    const runner = openai.chat.completions.stream({
      model: QWEN,
      messages,
      tools: [zodFunction({ name: "get_weather", parameters: z.object({ city: z.string() }) })],
    });
    const snapshots: string[] = [];
    runner.on("tool_calls.function.arguments.delta", ({ arguments_delta: delta }) => {
      snapshots.push(delta);
    });
    const final = await runner.finalChatCompletion();
    expect(final.choices[0]?.finish_reason).toBe("tool_calls");
    expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { name: "get_weather", parsed_arguments: { city: "Paris" } },
    });
    // The arguments come as the model writes them, not whole at the end.
    expect(snapshots.length).toBeGreaterThan(3);
  });
});

describe("what constrains the engine", () => {
  const strict = [
    { type: "function", function: { ...FAMILY_TOOLS[0]?.function, strict: true } },
    FAMILY_TOOLS[1],
  ];
  const schema = { type: "object", properties: { a: { type: "integer" } } };
  const rows = [
    { name: "nothing by default", model: QWEN, body: {}, type: undefined },
    { name: "nothing for tools", model: QWEN, body: { tools: FAMILY_TOOLS }, type: undefined },
    { name: "strict tools", model: QWEN, body: { tools: strict }, type: "structuralTag" },
    {
      name: "a required call where the format has tags",
      model: QWEN,
      body: { tools: FAMILY_TOOLS, tool_choice: "required" },
      type: "structuralTag",
    },
    {
      name: "a named call in Harmony",
      model: GPT_OSS,
      body: {
        tools: FAMILY_TOOLS,
        tool_choice: { type: "function", function: { name: "ping" } },
      },
      type: "structuralTag",
    },
    {
      name: "allowed tools",
      model: QWEN_CODER,
      body: {
        tools: FAMILY_TOOLS,
        tool_choice: {
          type: "allowed_tools",
          mode: "required",
          tools: [{ type: "function", name: "ping" }],
        },
      },
      type: "structuralTag",
    },
    {
      name: "a JSON object",
      model: LLAMA,
      body: { response_format: { type: "json_object" } },
      type: "jsonSchema",
    },
    {
      name: "a JSON schema",
      model: LLAMA,
      body: { response_format: { type: "json_schema", json_schema: { name: "x", schema } } },
      type: "jsonSchema",
    },
    {
      name: "a schema of SGLang's field",
      model: LLAMA,
      body: { json_schema: JSON.stringify(schema) },
      type: "jsonSchema",
    },
    { name: "a regex", model: LLAMA, body: { regex: "[ab]+" }, type: "regex" },
    { name: "a grammar", model: LLAMA, body: { ebnf: 'root ::= "a"' }, type: "ebnfGrammar" },
    {
      name: "a structural tag",
      model: LLAMA,
      body: {
        response_format: {
          type: "structural_tag",
          format: { type: "const_string", value: "x" },
        },
      },
      type: "structuralTag",
    },
  ] as const;

  it.for(rows)("$name", async ({ model, body, type }, { expect }) => {
    const engine = stack.engine(model);
    engine.setScenario({ rules: [{ reply: "x" }] });
    engine.reset();
    const response = await stack.post("/v1/chat/completions", { model, messages, ...body });
    expect(response.status, await response.text()).toBe(200);
    expect(lastRequest(model).samplingParams?.constraint.case).toBe(type);
  });

  const refused = [
    { name: "two constraints", body: { regex: "a", ebnf: "root ::= 'a'" }, param: "ebnf" },
    {
      name: "JSON and a required call",
      body: {
        tools: FAMILY_TOOLS,
        tool_choice: "required",
        response_format: { type: "json_object" },
      },
      param: "response_format",
    },
    {
      name: "a schema with a broken type",
      body: {
        response_format: {
          type: "json_schema",
          json_schema: { name: "x", schema: { type: "strin" } },
        },
      },
      param: "response_format.json_schema.schema",
    },
    {
      name: "a reference that leads nowhere",
      body: { json_schema: '{"$ref": "#/$defs/a"}' },
      param: "json_schema",
    },
    {
      name: "a schema without an end",
      body: {
        tools: [
          {
            type: "function",
            function: {
              name: "f",
              strict: true,
              parameters: {
                type: "object",
                properties: { a: { $ref: "#" } },
                required: ["a"],
              },
            },
          },
        ],
      },
      param: "tools[0].function.parameters",
    },
    { name: "a schema that is no JSON", body: { json_schema: "{" }, param: "json_schema" },
  ];

  it.for(refused)(
    "is refused before any worker sees it: $name",
    async ({ body, param }, { expect }) => {
      const engine = stack.engine(QWEN);
      engine.reset();
      const response = await stack.post("/v1/chat/completions", { model: QWEN, messages, ...body });
      expect(response.status).toBe(400);
      const { error } = (await response.json()) as { error: { param: string; type: string } };
      expect(error.type).toBe("invalid_request_error");
      expect(error.param.startsWith(param)).toBe(true);
      expect(engine.stats().requests).toBe(0);
    },
  );
});

describe("tools", () => {
  it("are left out of the prompt when none may be called", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: "x" }] });
    const count = async (more: object): Promise<number> => {
      const response = await stack.post("/v1/chat/completions", { model: QWEN, messages, ...more });
      return ((await response.json()) as { usage: { prompt_tokens: number } }).usage.prompt_tokens;
    };
    const bare = await count({});
    expect(await count({ tools: FAMILY_TOOLS, tool_choice: "none" })).toBe(bare);
    expect(await count({ tools: FAMILY_TOOLS })).toBeGreaterThan(bare);
  });

  it("are not called when none may be, whatever the model writes", async ({ expect }) => {
    const text = '{"city": "Paris"}';
    stack.engine(GPT_OSS).setScenario({
      rules: [
        {
          reply: {
            text: `<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>${text}<|call|>`,
            eos: false,
          },
        },
      ],
    });
    for (const more of [{ tools: FAMILY_TOOLS, tool_choice: "none" }, {}]) {
      const body = { model: GPT_OSS, messages, ...more };
      const response = await stack.post("/v1/chat/completions", body);
      const { choices } = (await response.json()) as {
        choices: { message: { content: string; tool_calls?: unknown }; finish_reason: string }[];
      };
      expect(choices[0]?.message.tool_calls).toBeUndefined();
      expect(choices[0]?.message.content).toBe(`{"name": "get_weather", "arguments": ${text}}`);
      expect(choices[0]?.finish_reason).toBe("stop");
    }
  });

  it("that are not allowed come as text", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: CALL }] });
    const response = await stack.post("/v1/chat/completions", {
      model: QWEN,
      messages,
      tools: FAMILY_TOOLS,
      stream: true,
      tool_choice: {
        type: "allowed_tools",
        allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "ping" } }] },
      },
    });
    const choice = foldChatStream(await readSse(response)).get(0);
    expect(choice?.calls).toEqual([]);
    expect(choice?.content).toContain('{"name": "get_weather", "arguments": {"city": "Paris"}}');
    expect(choice?.finishReasons).toEqual(["stop"]);
  });

  it("end the choice with the first call when one is allowed", async ({ expect }) => {
    const second = CALL.slice(CALL.indexOf("<tool_call>"));
    stack.engine(QWEN).reset();
    stack
      .engine(QWEN)
      .setScenario({ rules: [{ reply: `${CALL}\n${second}\n${" word".repeat(300)}` }] });
    const body = { model: QWEN, messages, tools: FAMILY_TOOLS, parallel_tool_calls: false };
    const response = await stack.post("/v1/chat/completions", { ...body, stream: true });
    const choice = foldChatStream(await readSse(response)).get(0);
    expect(choice?.calls).toHaveLength(1);
    expect(choice?.content).toBe("");
    expect(choice?.finishReasons).toEqual(["tool_calls"]);
    expect(stack.engine(QWEN).stats().tokensGenerated).toBeLessThan(200);
  });

  it("cannot be required of a model whose calls nobody can read", async ({ expect }) => {
    const response = await stack.post("/v1/chat/completions", {
      model: GEMMA,
      messages,
      tools: FAMILY_TOOLS,
      tool_choice: "required",
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: "tool_choice" } });
  });
});

describe("thoughts", () => {
  const output = "<think>\none two three\n</think>\n\nfour";
  const body = { model: QWEN, messages, stream: true };

  it("stay in the text with separate_reasoning false", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: output }] });
    const response = await stack.post("/v1/chat/completions", {
      ...body,
      separate_reasoning: false,
    });
    const choice = foldChatStream(await readSse(response)).get(0);
    expect(choice).toMatchObject({ content: output, reasoning: "" });
  });

  it("come in one piece with stream_reasoning false", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: { text: output, chunks: "token" } }] });
    const response = await stack.post("/v1/chat/completions", { ...body, stream_reasoning: false });
    const { json } = await readSse(response);
    const thoughts = json
      .flatMap((chunk) => chunk.choices ?? [])
      .flatMap(({ delta }) => delta.reasoning_content ?? []);
    expect(thoughts).toEqual(["\none two three\n"]);
  });

  it("are counted by the engine, which is asked to", async ({ expect }) => {
    stack.engine(QWEN).setScenario({ rules: [{ reply: output }] });
    const response = await stack.post("/v1/chat/completions", { model: QWEN, messages });
    const { usage } = (await response.json()) as {
      usage: { completion_tokens_details: { reasoning_tokens: number } };
    };
    expect(lastRequest(QWEN).requireReasoning).toBe(true);
    expect(usage.completion_tokens_details.reasoning_tokens).toBeGreaterThan(3);
  });
});

describe("images", () => {
  it("are refused with the part's name by a model that takes text only", async ({ expect }) => {
    const response = await stack.post("/v1/chat/completions", {
      model: QWEN,
      messages: [
        { role: "system", content: "x" },
        {
          role: "user",
          content: [
            { type: "text", text: "what is this?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          ],
        },
      ],
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", param: "messages[1].content[1]" },
    });
  });
});

describe("a worker that refuses stop strings without having said so", () => {
  it("is asked once more without them, and remembered", async ({ expect }) => {
    const engine = stack.engine(LLAMA);
    const message = "stop=['END'] is unavailable when skip_tokenizer_init=True";
    engine.setScenario({
      rules: [
        { times: 1, reply: "x", fault: { kind: "status", code: "INVALID_ARGUMENT", message } },
        { reply: "a b END c" },
      ],
    });
    engine.reset();
    const body = { model: LLAMA, messages, stop: "END" };
    for (const requests of [2, 3]) {
      const response = await stack.post("/v1/chat/completions", body);
      expect(await response.json()).toMatchObject({
        choices: [{ message: { content: "a b " }, finish_reason: "stop", matched_stop: "END" }],
      });
      expect(engine.stats().requests).toBe(requests);
      expect(lastRequest(LLAMA).samplingParams?.stop).toEqual([]);
    }
  });
});
