import { describe, it } from "vitest";

import { countTokensRequest, messagesRequest } from "../../../../src/api/messages/schema.ts";
import { hidesThinking, toChatRequest } from "../../../../src/api/messages/to-chat-request.ts";
import { parseWire } from "../../../../src/api/shared/schema.ts";
import { EdgeError } from "../../../../src/core/api-error.ts";

const base = { model: "m", max_tokens: 10, messages: [{ role: "user", content: "hi" }] };
const decode = (body: object) => toChatRequest(parseWire(messagesRequest, body));

function errorOf(body: unknown) {
  try {
    toChatRequest(parseWire(messagesRequest, body));
  } catch (thrown) {
    return thrown instanceof EdgeError ? thrown.error : thrown;
  }
  return null;
}

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });
const system = (content: unknown) => ({ role: "system", content });
const text = (value: string) => ({ type: "text", text: value });
const use = (id: string, input: object = {}) => ({ type: "tool_use", id, name: "f", input });
const result = (id: string, content?: unknown, more: object = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content,
  ...more,
});
const tool = (name: string) => ({ name, input_schema: { type: "object" } });
const png = { type: "base64", media_type: "image/png", data: "iVBORw0=" };
const image = { type: "image", url: "data:image/png;base64,iVBORw0=" };

describe("turns", () => {
  const called = { id: "a", name: "f", arguments: "{}" };
  const rows: readonly {
    readonly name: string;
    readonly system?: unknown;
    readonly messages: readonly object[];
    readonly expected: readonly object[];
  }[] = [
    { name: "a string", messages: [user("x")], expected: [user("x")] },
    { name: "one text block", messages: [user([text("x")])], expected: [user("x")] },
    {
      name: "text blocks",
      messages: [user([text("x"), text(""), text("y")])],
      expected: [user([text("x"), text("y")])],
    },
    {
      name: "neighbours of one role",
      messages: [user("x"), user([text("y")]), assistant("1"), assistant("2"), user("z")],
      expected: [user([text("x"), text("y")]), assistant("1\n\n2"), user("z")],
    },
    {
      name: "images",
      messages: [
        user([
          { type: "image", source: png },
          { type: "image", source: { type: "url", url: "https://example.com/a" } },
        ]),
      ],
      expected: [user([image, { type: "image", url: "https://example.com/a" }])],
    },
    {
      name: "documents and search results",
      messages: [
        user([
          {
            type: "document",
            title: "T",
            context: "C",
            source: { type: "text", media_type: "text/plain", data: "D" },
          },
          { type: "document", source: { type: "content", content: [text("a"), text("b")] } },
          { type: "search_result", title: "S", source: "https://s", content: [text("found")] },
        ]),
      ],
      expected: [user([text("T\nC\nD"), text("a\nb"), text("S\nhttps://s\nfound")])],
    },
    {
      name: "an empty turn",
      messages: [user(""), assistant([]), user("x")],
      expected: [user(""), assistant(""), user("x")],
    },
    {
      name: "a system prompt of blocks",
      system: [text("a"), text("x-anthropic-billing-header: v=1"), text(""), text("b")],
      messages: [user("x")],
      expected: [system("a\n\nb"), user("x")],
    },
    {
      name: "an empty system prompt",
      system: "",
      messages: [user("x")],
      expected: [user("x")],
    },
    {
      name: "system messages that lead",
      system: "a",
      messages: [system("b"), system([text("c")]), user("x")],
      expected: [system("a\n\nb\n\nc"), user("x")],
    },
    {
      name: "system messages alone",
      messages: [system("b")],
      expected: [system("b")],
    },
    {
      name: "system messages later, which count as the user's",
      messages: [
        user("x"),
        system("b"),
        assistant([use("a")]),
        user([result("a", "r")]),
        system("c"),
      ],
      expected: [
        user([text("x"), text("b")]),
        { ...assistant(null), toolCalls: [called] },
        { role: "tool", content: "r", toolCallId: "a" },
        user("c"),
      ],
    },
    {
      name: "results first, then the text around them",
      messages: [
        user("x"),
        assistant([use("a"), use("b")]),
        user([text("1"), result("a", "ra"), text("2"), result("b", "rb")]),
      ],
      expected: [
        user("x"),
        { ...assistant(null), toolCalls: [called, { ...called, id: "b" }] },
        { role: "tool", content: "ra", toolCallId: "a" },
        { role: "tool", content: "rb", toolCallId: "b" },
        user([text("1"), text("2")]),
      ],
    },
    {
      name: "results of every shape",
      messages: [
        user([
          result("a"),
          result("b", [text("1"), text("2")]),
          result("c", [text("1"), { type: "image", source: png }]),
          result("d", [{ type: "tool_reference", tool_name: "f" }]),
          result("e", "broken", { is_error: true }),
          result("f", [{ type: "image", source: png }], { is_error: true }),
          result("g", undefined, { is_error: true }),
          result("h", "fine", { is_error: false }),
        ]),
      ],
      expected: [
        { role: "tool", content: "", toolCallId: "a" },
        { role: "tool", content: "1\n2", toolCallId: "b" },
        { role: "tool", content: [text("1"), image], toolCallId: "c" },
        { role: "tool", content: "The tool f is available.", toolCallId: "d" },
        { role: "tool", content: "Error: broken", toolCallId: "e" },
        { role: "tool", content: [text("Error:"), image], toolCallId: "f" },
        { role: "tool", content: "Error:", toolCallId: "g" },
        { role: "tool", content: "fine", toolCallId: "h" },
      ],
    },
    {
      name: "thoughts, text and calls of the assistant",
      messages: [
        user("x"),
        assistant([
          { type: "thinking", thinking: "hm", signature: "bW9jaw==" },
          { type: "redacted_thinking", data: "…" },
          { type: "thinking", thinking: "so" },
          text("It is "),
          text("this:"),
          use("a", { city: "Paris", days: [1, 2] }),
          text("done"),
        ]),
        user([result("a", "r")]),
      ],
      expected: [
        user("x"),
        {
          ...assistant("It is this:\n\ndone"),
          reasoning: "hm\n\nso",
          toolCalls: [{ id: "a", name: "f", arguments: '{"city":"Paris","days":[1,2]}' }],
        },
        { role: "tool", content: "r", toolCallId: "a" },
      ],
    },
  ];
  it.for(rows)("$name", ({ messages, expected, system: prompt }, { expect }) => {
    const request = decode({ ...base, messages, system: prompt });
    expect(request.messages).toEqual(expected);
    expect(request.continueFinalMessage).toBe(false);
    expect(request.addGenerationPrompt).toBe(true);
  });

  const prefills = [
    { name: "a string", last: assistant("Here"), content: "Here" },
    { name: "blocks", last: assistant([text("Here "), text("is")]), content: "Here is" },
  ];
  it.for(prefills)("continues $name of the assistant", ({ last, content }, { expect }) => {
    const request = decode({ ...base, messages: [...base.messages, last] });
    expect(request.messages.at(-1)).toEqual(assistant(content));
    expect(request.continueFinalMessage).toBe(true);
    expect(request.addGenerationPrompt).toBe(false);
  });

  it.for([assistant(""), assistant([]), assistant([{ type: "redacted_thinking", data: "" }])])(
    "does not continue %j",
    (last, { expect }) => {
      const request = decode({ ...base, messages: [...base.messages, last] });
      expect(request.messages).toEqual(base.messages);
      expect(request.addGenerationPrompt).toBe(true);
    },
  );
});

describe("fields", () => {
  const toggles = (isOn: boolean, mode: string) => ({
    templateKwargs: { enable_thinking: isOn, thinking: isOn, thinking_mode: mode },
  });
  const budget = { type: "enabled", budget_tokens: 1_024 };
  const schema = { type: "object" };
  const rows: readonly { readonly name: string; readonly body: object; readonly is: object }[] = [
    {
      name: "nothing set",
      body: {},
      is: {
        maxTokens: 10,
        n: 1,
        templateKwargs: {},
        sampling: {},
        toolChoice: { mode: "none" },
        parallelToolCalls: true,
        output: { responseFormat: { type: "text" } },
        separateReasoning: true,
      },
    },
    {
      name: "sampling",
      body: { temperature: 0.5, top_p: 0.9, top_k: 5, stop_sequences: ["a", "b"] },
      is: {
        sampling: { temperature: 0.5, topP: 0.9, topK: 5 },
        stop: expectStop(["a", "b"]),
      },
    },
    {
      name: "the engine's own parameters",
      body: { min_p: 0.1, stop: "c", stop_sequences: ["a"], min_tokens: 2, regex: "x+", n: 1 },
      is: {
        sampling: { minP: 0.1 },
        stop: { ...expectStop(["a", "c"]), minTokens: 2 },
        output: { responseFormat: { type: "text" }, regex: "x+" },
      },
    },
    {
      name: "thinking",
      body: { thinking: budget, max_tokens: 2_000 },
      is: toggles(true, "enabled"),
    },
    {
      name: "adaptive thinking",
      body: { thinking: { type: "adaptive" } },
      is: toggles(true, "adaptive"),
    },
    {
      name: "no thinking",
      body: { thinking: { type: "disabled" } },
      is: toggles(false, "disabled"),
    },
    {
      name: "a kwarg over the toggle",
      body: { thinking: { type: "disabled" }, chat_template_kwargs: { thinking: 1, other: 2 } },
      is: {
        templateKwargs: {
          enable_thinking: false,
          thinking: 1,
          thinking_mode: "disabled",
          other: 2,
        },
      },
    },
    {
      name: "effort",
      body: { output_config: { effort: "high" }, reasoning_effort: "low" },
      is: { reasoningEffort: "high", templateKwargs: { reasoning_effort: "high" } },
    },
    {
      name: "a schema",
      body: { output_config: { format: { type: "json_schema", schema } } },
      is: { output: { responseFormat: { type: "json-schema", schema, strict: true } } },
    },
    {
      name: "a schema in the older field",
      body: { output_format: { type: "json_schema", schema } },
      is: { output: { responseFormat: { type: "json-schema", schema, strict: true } } },
    },
    {
      name: "tools",
      body: {
        tools: [{ ...tool("f"), type: "custom", description: "d", strict: true }, tool("g")],
      },
      is: {
        tools: [
          {
            name: "f",
            description: "d",
            parameters: schema,
            strict: true,
            forTemplate: {
              type: "function",
              function: { name: "f", description: "d", parameters: schema, strict: true },
            },
          },
          {
            name: "g",
            parameters: schema,
            strict: false,
            forTemplate: { type: "function", function: { name: "g", parameters: schema } },
          },
        ],
        toolChoice: { mode: "auto" },
      },
    },
    ...[
      { choice: { type: "auto" }, is: { mode: "auto" } },
      { choice: { type: "any" }, is: { mode: "required" } },
      { choice: { type: "tool", name: "f" }, is: { mode: "required", allowed: ["f"] } },
      { choice: { type: "none" }, is: { mode: "none" } },
    ].map(({ choice, is }) => ({
      name: `the choice ${choice.type}`,
      body: { tools: [tool("f")], tool_choice: choice },
      is: { toolChoice: is, parallelToolCalls: true },
    })),
    {
      name: "one call at most",
      body: {
        tools: [tool("f")],
        tool_choice: { type: "any", disable_parallel_tool_use: true },
      },
      is: { toolChoice: { mode: "required" }, parallelToolCalls: false },
    },
    {
      name: "what changes nothing",
      body: {
        metadata: { user_id: "u" },
        service_tier: "auto",
        cache_control: { type: "ephemeral" },
        context_management: { edits: [] },
        mcp_servers: [],
        thread: null,
        unheard_of: 1,
      },
      is: { templateKwargs: {}, sampling: {} },
    },
  ];
  it.for(rows)("$name", ({ body, is }, { expect }) => {
    const request: object = decode({ ...base, ...body });
    for (const [name, value] of Object.entries(is)) {
      expect(Object.entries(request).find(([key]) => key === name)?.[1], name).toEqual(value);
    }
  });

  function expectStop(strings: readonly string[]) {
    return { strings, tokenIds: [], minTokens: 0, ignoreEos: false, noStopTrim: false };
  }

  const shown = [
    { thinking: undefined, hidden: false },
    { thinking: { type: "adaptive" }, hidden: false },
    { thinking: { type: "adaptive", display: "summarized" }, hidden: false },
    { thinking: { ...budget, display: "updates" }, hidden: false },
    { thinking: { ...budget, display: "omitted" }, hidden: true },
    { thinking: { type: "disabled" }, hidden: true },
  ];
  it.for(shown)("$thinking hides thoughts: $hidden", ({ thinking, hidden }, { expect }) => {
    const wire = parseWire(messagesRequest, { ...base, max_tokens: 2_000, thinking });
    expect(hidesThinking(wire)).toBe(hidden);
  });

  it("needs no max_tokens to be counted", ({ expect }) => {
    const { model, messages } = base;
    const wire = parseWire(countTokensRequest, { model, messages, thinking: budget });
    expect(toChatRequest(wire).maxTokens).toBeUndefined();
  });
});

describe("requests that are refused", () => {
  const content = (...blocks: readonly object[]) => ({ ...base, messages: [user(blocks)] });
  const rows: readonly {
    readonly name: string;
    readonly body: unknown;
    readonly param: string | undefined;
    readonly says?: string;
  }[] = [
    { name: "no object", body: 7, param: undefined },
    { name: "no model", body: { ...base, model: undefined }, param: "model" },
    { name: "no messages", body: { ...base, messages: undefined }, param: "messages" },
    { name: "empty messages", body: { ...base, messages: [] }, param: "messages" },
    { name: "no max_tokens", body: { ...base, max_tokens: undefined }, param: "max_tokens" },
    { name: "max_tokens of 0", body: { ...base, max_tokens: 0 }, param: "max_tokens" },
    {
      name: "an unknown role",
      body: { ...base, messages: [{ role: "robot", content: "x" }] },
      param: "messages[0].role",
    },
    {
      name: "a turn without content",
      body: { ...base, messages: [{ role: "user" }] },
      param: "messages[0].content",
    },
    {
      name: "an unknown block",
      body: content(text("x"), { type: "container_upload", file_id: "f" }),
      param: "messages[0].content[1].type",
    },
    {
      name: "a call of the user's",
      body: content(use("a")),
      param: "messages[0].content[0].type",
    },
    {
      name: "a result of the assistant's",
      body: { ...base, messages: [user("x"), assistant([result("a", "r")])] },
      param: "messages[1].content[0].type",
    },
    {
      name: "an unknown block in a result",
      body: content(result("a", [text("x"), { type: "audio" }])),
      param: "messages[0].content[0].content[1].type",
    },
    {
      name: "a block of a system message that is no text",
      body: { ...base, messages: [system([{ type: "image", source: png }])] },
      param: "messages[0].content[0].type",
    },
    {
      name: "an image of a file",
      body: content({ type: "image", source: { type: "file", file_id: "f" } }),
      param: "messages[0].content[0].source.type",
    },
    {
      name: "an image that is none",
      body: content({ type: "image", source: { ...png, media_type: "text/html" } }),
      param: "messages[0].content[0].source.media_type",
    },
    {
      name: "a PDF",
      body: content({ type: "document", source: { ...png, media_type: "application/pdf" } }),
      param: "messages[0].content[0].source.type",
    },
    {
      name: "a call whose input is no object",
      body: {
        ...base,
        messages: [user("x"), assistant([{ ...use("a"), input: "{}" }]), user([result("a")])],
      },
      param: "messages[1].content[0].input",
    },
    {
      name: "a call without its result at the end",
      body: { ...base, messages: [user("x"), assistant([text("y"), use("a")])] },
      param: "messages[1]",
    },
    {
      name: "a thought at the end",
      body: { ...base, messages: [user("x"), assistant([{ type: "thinking", thinking: "y" }])] },
      param: "messages[1]",
    },
    {
      name: "our signature on another thought",
      body: {
        ...base,
        messages: [
          user("x"),
          assistant([
            text("y"),
            { type: "thinking", thinking: "z", signature: "sgl-edge-1.0000000000000000" },
          ]),
          user("z"),
        ],
      },
      param: "messages[1].content[1].signature",
    },
    {
      name: "a system prompt of a wrong type",
      body: { ...base, system: 3 },
      param: "system",
    },
    {
      name: "an empty stop sequence",
      body: { ...base, stop_sequences: ["a", ""] },
      param: "stop_sequences[1]",
    },
    {
      name: "a server's tool",
      body: { ...base, tools: [tool("f"), { type: "web_search_20250305", name: "web_search" }] },
      param: "tools[1].type",
      says: "web_search_20250305",
    },
    {
      name: "a tool without a schema",
      body: { ...base, tools: [{ name: "f" }] },
      param: "tools[0].input_schema",
    },
    {
      name: "two tools of one name",
      body: { ...base, tools: [tool("f"), tool("f")] },
      param: "tools[1].name",
    },
    {
      name: "a choice without tools",
      body: { ...base, tool_choice: { type: "any" } },
      param: "tool_choice",
    },
    {
      name: "a choice that is not there",
      body: { ...base, tools: [tool("f")], tool_choice: { type: "tool", name: "g" } },
      param: "tool_choice",
      says: "'g'",
    },
    {
      name: "a choice of OpenAI's",
      body: { ...base, tools: [tool("f")], tool_choice: "auto" },
      param: "tool_choice",
    },
    {
      name: "a small budget",
      body: { ...base, thinking: { type: "enabled", budget_tokens: 1_023 } },
      param: "thinking.budget_tokens",
    },
    {
      name: "a budget that leaves nothing",
      body: { ...base, max_tokens: 1_024, thinking: { type: "enabled", budget_tokens: 1_024 } },
      param: "thinking.budget_tokens",
      says: "max_tokens",
    },
    {
      name: "an unknown way of thinking",
      body: { ...base, thinking: { type: "deep" } },
      param: "thinking.type",
    },
    {
      name: "an unknown format",
      body: { ...base, output_config: { format: { type: "xml", schema: {} } } },
      param: "output_config.format.type",
    },
    { name: "several replies", body: { ...base, n: 2 }, param: "n" },
    {
      name: "servers to call",
      body: { ...base, mcp_servers: [{ type: "url", url: "https://x" }] },
      param: "mcp_servers",
    },
    { name: "a thread", body: { ...base, thread: { type: "create" } }, param: "thread" },
    { name: "a temperature of 3", body: { ...base, temperature: 3 }, param: "temperature" },
  ];
  it.for(rows)("$name", ({ body, param, says = "" }, { expect }) => {
    const error = errorOf(body);
    expect(error).toMatchObject({
      kind: "invalid-request",
      detail: expect.stringContaining(says),
    });
    expect(Object(error)["param"]).toBe(param);
  });
});
