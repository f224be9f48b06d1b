import { describe, it } from "vitest";

import { chatCompletionRequest } from "../../../../src/api/chat/schema.ts";
import { toChatRequest } from "../../../../src/api/chat/to-chat-request.ts";
import { parseWire } from "../../../../src/api/shared/schema.ts";
import { EdgeError } from "../../../../src/core/api-error.ts";

const base = { model: "m", messages: [{ role: "user", content: "hi" }] };
const decode = (body: unknown) => toChatRequest(parseWire(chatCompletionRequest, body));

function errorOf(body: unknown) {
  try {
    decode(body);
  } catch (thrown) {
    return thrown instanceof EdgeError ? thrown.error : thrown;
  }
  return null;
}

const tool = (name: string) => ({ type: "function", function: { name } });

describe("chat requests that are refused", () => {
  const rows: readonly {
    readonly name: string;
    readonly body: unknown;
    readonly param: string | undefined;
    readonly says?: string;
  }[] = [
    { name: "no object", body: 7, param: undefined },
    { name: "an array", body: [], param: undefined },
    { name: "null", body: null, param: undefined },
    { name: "no model", body: { messages: base.messages }, param: "model" },
    { name: "an empty model", body: { ...base, model: "" }, param: "model" },
    { name: "a model that is a number", body: { ...base, model: 3 }, param: "model" },
    { name: "no messages", body: { model: "m" }, param: "messages" },
    { name: "empty messages", body: { ...base, messages: [] }, param: "messages" },
    { name: "messages as a string", body: { ...base, messages: "hi" }, param: "messages" },
    {
      name: "an unknown role",
      body: { ...base, messages: [{ role: "robot", content: "x" }] },
      param: "messages[0].role",
    },
    {
      name: "a message without a role",
      body: { ...base, messages: [{ content: "x" }] },
      param: "messages[0].role",
    },
    {
      name: "a user turn without content",
      body: { ...base, messages: [{ role: "user" }] },
      param: "messages[0].content",
    },
    {
      name: "a user turn with null content",
      body: { ...base, messages: [{ role: "user", content: null }] },
      param: "messages[0].content",
    },
    {
      name: "content of a wrong type",
      body: { ...base, messages: [{ role: "user", content: 5 }] },
      param: "messages[0].content",
    },
    {
      name: "a part of an unknown type",
      body: {
        ...base,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "a" },
              { type: "input_audio", input_audio: { data: "x", format: "wav" } },
            ],
          },
        ],
      },
      param: "messages[0].content[1].type",
      says: "text",
    },
    {
      name: "a text part without text",
      body: { ...base, messages: [{ role: "user", content: [{ type: "text" }] }] },
      param: "messages[0].content[0].text",
    },
    {
      name: "a part that is a string",
      body: { ...base, messages: [{ role: "user", content: ["x"] }] },
      param: "messages[0].content[0]",
    },
    {
      name: "function_call in history",
      body: {
        ...base,
        messages: [{ role: "assistant", content: null, function_call: { name: "f" } }],
      },
      param: "messages[0].function_call",
      says: "tool_calls",
    },
    {
      name: "a call without a name",
      body: { ...base, messages: [{ role: "assistant", tool_calls: [{ function: {} }] }] },
      param: "messages[0].tool_calls[0].function.name",
    },
    { name: "temperature over 2", body: { ...base, temperature: 2.1 }, param: "temperature" },
    { name: "temperature as a string", body: { ...base, temperature: "1" }, param: "temperature" },
    { name: "top_p 0", body: { ...base, top_p: 0 }, param: "top_p" },
    { name: "top_k −2", body: { ...base, top_k: -2 }, param: "top_k" },
    { name: "top_k with a fraction", body: { ...base, top_k: 1.5 }, param: "top_k" },
    {
      name: "repetition_penalty 0",
      body: { ...base, repetition_penalty: 0 },
      param: "repetition_penalty",
    },
    { name: "max_tokens 0", body: { ...base, max_tokens: 0 }, param: "max_tokens" },
    { name: "max_tokens as a fraction", body: { ...base, max_tokens: 1.5 }, param: "max_tokens" },
    {
      name: "min_tokens over max_tokens",
      body: { ...base, max_tokens: 2, min_tokens: 3 },
      param: "min_tokens",
    },
    { name: "an empty stop", body: { ...base, stop: "" }, param: "stop" },
    { name: "an empty stop in a list", body: { ...base, stop: ["a", ""] }, param: "stop[1]" },
    {
      name: "17 stops",
      body: { ...base, stop: Array.from({ length: 17 }, () => "x") },
      param: "stop",
    },
    {
      name: "a negative stop token",
      body: { ...base, stop_token_ids: [-1] },
      param: "stop_token_ids[0]",
    },
    {
      name: "logit_bias by word",
      body: { ...base, logit_bias: { hello: 1 } },
      param: "logit_bias.hello",
    },
    {
      name: "logit_bias over 100",
      body: { ...base, logit_bias: { "5": 101 } },
      param: "logit_bias.5",
    },
    { name: "stream as a string", body: { ...base, stream: "true" }, param: "stream" },
    {
      name: "a tool that is no function",
      body: { ...base, tools: [{ type: "web_search" }] },
      param: "tools[0].type",
    },
    {
      name: "a tool without a name",
      body: { ...base, tools: [{ type: "function", function: {} }] },
      param: "tools[0].function.name",
    },
    {
      name: "two tools of one name",
      body: { ...base, tools: [tool("f"), tool("g"), tool("f")] },
      param: "tools[2].function.name",
      says: "'f'",
    },
    {
      name: "a forced tool without tools",
      body: { ...base, tool_choice: "required" },
      param: "tool_choice",
    },
    {
      name: "a forced tool that is not there",
      body: {
        ...base,
        tools: [tool("f")],
        tool_choice: { type: "function", function: { name: "g" } },
      },
      param: "tool_choice",
      says: "'g'",
    },
    {
      name: "an allowed tool that is not there",
      body: {
        ...base,
        tools: [tool("f")],
        tool_choice: {
          type: "allowed_tools",
          mode: "auto",
          tools: [{ type: "function", name: "g" }],
        },
      },
      param: "tool_choice",
      says: "'g'",
    },
    {
      name: "no allowed tool",
      body: {
        ...base,
        tools: [tool("f")],
        tool_choice: { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [] } },
      },
      param: "tool_choice",
    },
    {
      name: "a tool choice of no kind",
      body: { ...base, tools: [tool("f")], tool_choice: "any" },
      param: "tool_choice",
    },
    { name: "n 0", body: { ...base, n: 0 }, param: "n" },
    { name: "n 129", body: { ...base, n: 129 }, param: "n" },
    { name: "logprobs as a number", body: { ...base, logprobs: 1 }, param: "logprobs" },
    {
      name: "top_logprobs without logprobs",
      body: { ...base, top_logprobs: 2 },
      param: "top_logprobs",
    },
    {
      name: "top_logprobs 21",
      body: { ...base, logprobs: true, top_logprobs: 21 },
      param: "top_logprobs",
    },
    {
      name: "a response format of no kind",
      body: { ...base, response_format: { type: "yaml" } },
      param: "response_format.type",
    },
    {
      name: "a response format without its schema's frame",
      body: { ...base, response_format: { type: "json_schema" } },
      param: "response_format.json_schema",
    },
    { name: "an empty regex", body: { ...base, regex: "" }, param: "regex" },
    {
      name: "an image without a URL",
      body: {
        ...base,
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "x" } }] }],
      },
      param: "messages[0].content[0].image_url.url",
    },
    {
      name: "an image of the assistant",
      body: {
        ...base,
        messages: [
          {
            role: "assistant",
            content: [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }],
          },
        ],
      },
      param: "messages[0].content[0].type",
    },
    { name: "functions", body: { ...base, functions: [] }, param: "functions", says: "tools" },
    { name: "audio", body: { ...base, modalities: ["text", "audio"] }, param: "modalities" },
    {
      name: "hidden states",
      body: { ...base, return_hidden_states: true },
      param: "return_hidden_states",
    },
    {
      name: "continuing a user turn",
      body: { ...base, continue_final_message: true },
      param: "continue_final_message",
    },
    {
      name: "continuing and opening a turn",
      body: {
        ...base,
        messages: [{ role: "assistant", content: "x" }],
        continue_final_message: true,
        add_generation_prompt: true,
      },
      param: "continue_final_message",
    },
  ];
  it.for(rows)("$name", ({ body, param, says }, { expect }) => {
    const error = errorOf(body);
    expect(error).toMatchObject({ kind: "invalid-request" });
    expect(error).toHaveProperty("detail");
    expect((error as { readonly param?: string }).param).toBe(param);
    if (says !== undefined) expect((error as { readonly detail: string }).detail).toContain(says);
  });
});

describe("chat requests that are taken", () => {
  it("fills in what the client left out", ({ expect }) => {
    expect(decode(base)).toEqual({
      model: "m",
      messages: [{ role: "user", content: "hi" }],
      addGenerationPrompt: true,
      continueFinalMessage: false,
      templateKwargs: {},
      sampling: {},
      n: 1,
      tools: [],
      toolChoice: { mode: "none" },
      parallelToolCalls: true,
      output: { responseFormat: { type: "text" } },
      separateReasoning: true,
      streamReasoning: true,
      stop: { strings: [], tokenIds: [], minTokens: 0, ignoreEos: false, noStopTrim: false },
      detokenize: { skipSpecialTokens: true, spacesBetweenSpecialTokens: true },
    });
  });

  it("treats null as not set, for every optional field", ({ expect }) => {
    const optional = Object.keys(chatCompletionRequest.shape).filter(
      (name) => name !== "model" && name !== "messages",
    );
    const body = { ...base, ...Object.fromEntries(optional.map((name) => [name, null])) };
    expect(decode(body)).toEqual(decode(base));
  });

  it("carries every sampling field over", ({ expect }) => {
    const request = decode({
      ...base,
      temperature: 0,
      top_p: 0.9,
      top_k: 40,
      min_p: 0.05,
      frequency_penalty: 0.1,
      presence_penalty: -0.1,
      repetition_penalty: 1.1,
      logit_bias: { "5": -100 },
      max_tokens: 5,
      max_completion_tokens: 7,
      stop: "x",
      stop_token_ids: [3],
      min_tokens: 2,
      ignore_eos: true,
      no_stop_trim: true,
      skip_special_tokens: false,
      spaces_between_special_tokens: false,
      stream_interval: 4,
      custom_params: { a: [1] },
      lora_id: "l",
      reasoning_effort: "low",
      chat_template_kwargs: { enable_thinking: false },
    });
    expect(request).toMatchObject({
      sampling: {
        temperature: 0,
        topP: 0.9,
        topK: 40,
        minP: 0.05,
        frequencyPenalty: 0.1,
        presencePenalty: -0.1,
        repetitionPenalty: 1.1,
        logitBias: { "5": -100 },
      },
      maxTokens: 7,
      stop: { strings: ["x"], tokenIds: [3], minTokens: 2, ignoreEos: true, noStopTrim: true },
      detokenize: { skipSpecialTokens: false, spacesBetweenSpecialTokens: false },
      streamInterval: 4,
      customParams: { a: [1] },
      loraId: "l",
      templateKwargs: { reasoning_effort: "low", enable_thinking: false },
    });
  });

  it("ignores unknown fields", ({ expect }) => {
    expect(decode({ ...base, safety_identifier: "x", foo: { bar: 1 } })).toEqual(decode(base));
  });

  it("reads every kind of message", ({ expect }) => {
    const { messages } = decode({
      ...base,
      messages: [
        {
          role: "system",
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        },
        { role: "developer", content: "d", name: "n" },
        {
          role: "assistant",
          content: null,
          reasoning_content: "r",
          tool_calls: [
            { id: "c1", type: "function", function: { name: "f", arguments: '{"x":1}' } },
          ],
        },
        { role: "tool", content: "42", tool_call_id: "c1" },
        { role: "assistant", content: [{ type: "refusal", refusal: "no" }] },
      ],
    });
    expect(messages).toEqual([
      {
        role: "system",
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      { role: "developer", content: "d", name: "n" },
      {
        role: "assistant",
        content: null,
        reasoning: "r",
        toolCalls: [{ id: "c1", name: "f", arguments: '{"x":1}' }],
      },
      { role: "tool", content: "42", toolCallId: "c1" },
      { role: "assistant", content: [{ type: "text", text: "no" }] },
    ]);
  });
});
