import { describe, it } from "vitest";

import { responseRequest } from "../../../../src/api/responses/schema.ts";
import { toChatRequest } from "../../../../src/api/responses/to-chat-request.ts";
import { parseWire } from "../../../../src/api/shared/schema.ts";
import { EdgeError } from "../../../../src/core/api-error.ts";

const base = { model: "m", input: "hi" };
const decode = (body: object) => toChatRequest(parseWire(responseRequest, { ...base, ...body }));

function errorOf(body: object) {
  try {
    decode(body);
  } catch (thrown) {
    return thrown instanceof EdgeError ? thrown.error : thrown;
  }
  return null;
}

const tool = (name: string) => ({ type: "function", name, parameters: { type: "object" } });
const group = (name: string, ...tools: readonly object[]) => ({ type: "namespace", name, tools });
const search = { type: "web_search", external_web_access: true };
const user = (content: unknown) => ({ role: "user", content });

describe("responses requests that are refused", () => {
  const rows: readonly {
    readonly name: string;
    readonly body: object;
    readonly param: string;
    readonly says?: string;
  }[] = [
    { name: "no model", body: { model: undefined }, param: "model" },
    { name: "no input", body: { input: undefined }, param: "input" },
    { name: "empty input", body: { input: [] }, param: "input" },
    { name: "input of a wrong type", body: { input: 5 }, param: "input" },
    { name: "an item that is no object", body: { input: ["x"] }, param: "input[0]" },
    {
      name: "an item of an unknown type",
      body: { input: [user("x"), { type: "web_search_call", id: "ws_1" }] },
      param: "input[1].type",
      says: "web_search_call",
    },
    { name: "an item without type and role", body: { input: [{}] }, param: "input[0].type" },
    {
      name: "a reference to an item",
      body: { input: [{ type: "item_reference", id: "msg_1" }] },
      param: "input[0].type",
      says: "send the item itself",
    },
    {
      name: "an unknown role",
      body: { input: [{ role: "tool", content: "x" }] },
      param: "input[0].role",
    },
    {
      name: "a message without content",
      body: { input: [{ role: "user" }] },
      param: "input[0].content",
    },
    {
      name: "a part of an unknown type",
      body: { input: [user([{ type: "input_text", text: "a" }, { type: "input_audio" }])] },
      param: "input[0].content[1].type",
    },
    {
      name: "an image by the id of a file",
      body: { input: [user([{ type: "input_image", file_id: "file_1" }])] },
      param: "input[0].content[0].image_url",
    },
    {
      name: "an image that the assistant says",
      body: {
        input: [
          {
            role: "assistant",
            content: [{ type: "input_image", image_url: "https://x.test/a.png" }],
          },
        ],
      },
      param: "input[0].content",
    },
    {
      name: "a call without an id",
      body: { input: [{ type: "function_call", name: "f", arguments: "{}" }] },
      param: "input[0].call_id",
    },
    {
      name: "an output without a call",
      body: { input: [user("x"), { type: "function_call_output", call_id: "c", output: "y" }] },
      param: "input[1].call_id",
      says: "'c'",
    },
    {
      name: "an output before its call",
      body: {
        input: [
          { type: "custom_tool_call_output", call_id: "c", output: "y" },
          { type: "custom_tool_call", call_id: "c", name: "p", input: "" },
        ],
      },
      param: "input[0].call_id",
    },
    {
      name: "input that says nothing",
      body: { input: [{ type: "reasoning", summary: [] }] },
      param: "input",
    },
    {
      name: "an earlier response",
      body: { previous_response_id: "resp_1" },
      param: "previous_response_id",
      says: "send the earlier items in input",
    },
    {
      name: "a conversation",
      body: { conversation: "conv_1" },
      param: "conversation",
      says: "input",
    },
    { name: "background", body: { background: true }, param: "background", says: "stream" },
    {
      name: "a stored prompt",
      body: { prompt: { id: "p" } },
      param: "prompt",
      says: "instructions",
    },
    { name: "two choices", body: { n: 2 }, param: "n" },
    {
      name: "chat's response_format",
      body: { response_format: { type: "json_object" } },
      param: "response_format",
      says: "text.format",
    },
    { name: "no output tokens", body: { max_output_tokens: 0 }, param: "max_output_tokens" },
    { name: "a temperature out of range", body: { temperature: 3 }, param: "temperature" },
    { name: "too many alternatives", body: { top_logprobs: 21 }, param: "top_logprobs" },
    {
      name: "an unknown format",
      body: { text: { format: { type: "xml" } } },
      param: "text.format.type",
    },
    {
      name: "a format without its schema",
      body: { text: { format: { type: "json_schema", name: "x" } } },
      param: "text.format.schema",
    },
    { name: "an unknown truncation", body: { truncation: "middle" }, param: "truncation" },
    { name: "metadata that is no text", body: { metadata: { a: 1 } }, param: "metadata.a" },
    { name: "an unknown tool type", body: { tools: [{ type: "magic" }] }, param: "tools[0].type" },
    {
      name: "a tool in chat's shape",
      body: { tools: [{ type: "function", function: { name: "f" } }] },
      param: "tools[0].name",
    },
    {
      name: "two tools of one name",
      body: { tools: [tool("f"), { type: "custom", name: "f" }] },
      param: "tools[1].name",
      says: "'f'",
    },
    {
      name: "names that collide once they are flat",
      body: { tools: [tool("a__b"), group("a", tool("c"), tool("b"))] },
      param: "tools[1].tools[1].name",
      says: "'a__b'",
    },
    {
      name: "a name that additional tools give again",
      body: {
        tools: [tool("f")],
        input: [{ type: "additional_tools", role: "developer", tools: [tool("f")] }, user("x")],
      },
      param: "input[0].tools[0].name",
    },
    {
      name: "a choice of an unknown type",
      body: { tool_choice: { type: "magic" } },
      param: "tool_choice.type",
    },
    {
      name: "a choice without tools",
      body: { tools: [], tool_choice: "required" },
      param: "tool_choice",
    },
    {
      name: "a choice of an unknown function",
      body: { tools: [tool("f")], tool_choice: { type: "function", name: "g" } },
      param: "tool_choice",
      says: "'g'",
    },
    {
      name: "a choice of a function as a custom tool",
      body: { tools: [tool("f")], tool_choice: { type: "custom", name: "f" } },
      param: "tool_choice",
    },
    {
      name: "an allowed tool that is unknown",
      body: {
        tools: [tool("f")],
        tool_choice: {
          type: "allowed_tools",
          mode: "auto",
          tools: [
            { type: "function", name: "f" },
            { type: "function", name: "g" },
          ],
        },
      },
      param: "tool_choice.tools[1]",
      says: "'g'",
    },
    {
      name: "a built-in tool that is forced",
      body: { tools: [search, tool("f")], tool_choice: { type: "web_search" } },
      param: "tool_choice.type",
      says: "web_search",
    },
    {
      name: "a call that only a built-in tool could be",
      body: { tools: [search], tool_choice: "required" },
      param: "tools[0].type",
      says: "web_search",
    },
    {
      name: "built-in tools alone in the allowed ones",
      body: {
        tools: [search, tool("f")],
        tool_choice: { type: "allowed_tools", mode: "required", tools: [{ type: "web_search" }] },
      },
      param: "tool_choice.tools[0].type",
      says: "web_search",
    },
  ];

  it.for(rows)("$name", ({ body, param, says }, { expect }) => {
    const error = errorOf(body);
    expect(error).toMatchObject({ kind: "invalid-request", param });
    expect(error).toHaveProperty("detail", expect.stringContaining(says ?? param));
  });
});

describe("input", () => {
  const call = (id: string, name = "f") => ({
    type: "function_call",
    id: `fc_${id}`,
    status: "completed",
    call_id: id,
    name,
    arguments: `{"id":"${id}"}`,
  });
  const output = (id: string) => ({
    type: "function_call_output",
    call_id: id,
    output: `of ${id}`,
  });
  const reasoning = (text: string) => ({
    type: "reasoning",
    id: "rs_1",
    summary: [],
    content: [{ type: "reasoning_text", text }],
  });
  const says = (text: string) => ({
    type: "message",
    id: "msg_1",
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text, annotations: [] }],
  });
  const toolCall = (id: string) => ({ id, name: "f", arguments: `{"id":"${id}"}` });
  const toolTurn = (id: string) => ({ role: "tool", content: `of ${id}`, toolCallId: id });

  const rows: readonly {
    readonly name: string;
    readonly body: object;
    readonly messages: readonly object[];
  }[] = [
    { name: "is a user's message", body: {}, messages: [{ role: "user", content: "hi" }] },
    {
      name: "keeps the parts of a user's message",
      body: {
        input: [
          user([
            { type: "input_text", text: "a" },
            { type: "input_image", image_url: "https://x.test/a.png", detail: "low" },
          ]),
        ],
      },
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "image", url: "https://x.test/a.png", detail: "low" },
          ],
        },
      ],
    },
    {
      name: "starts with all instructions in one system message",
      body: {
        instructions: "one",
        input: [
          { role: "developer", content: "two" },
          {
            role: "system",
            content: [
              { type: "input_text", text: "three" },
              { type: "input_text", text: "four" },
            ],
          },
          user("x"),
        ],
      },
      messages: [
        { role: "system", content: "one\n\ntwo\n\nthree\nfour" },
        { role: "user", content: "x" },
      ],
    },
    {
      name: "sends later instructions as the user's",
      body: { input: [user("x"), says("y"), { role: "developer", content: "z" }] },
      messages: [
        { role: "user", content: "x" },
        { role: "assistant", content: "y" },
        { role: "user", content: "z" },
      ],
    },
    {
      name: "joins reasoning, text and calls to one turn",
      body: {
        input: [
          user("x"),
          reasoning("a"),
          says("b"),
          call("1"),
          call("2"),
          output("1"),
          output("2"),
        ],
      },
      messages: [
        { role: "user", content: "x" },
        {
          role: "assistant",
          content: "b",
          reasoning: "a",
          toolCalls: [toolCall("1"), toolCall("2")],
        },
        toolTurn("1"),
        toolTurn("2"),
      ],
    },
    {
      name: "puts outputs in the order of their calls",
      body: { input: [user("x"), call("1"), call("2"), output("2"), output("1")] },
      messages: [
        { role: "user", content: "x" },
        { role: "assistant", content: null, toolCalls: [toolCall("1"), toolCall("2")] },
        toolTurn("1"),
        toolTurn("2"),
      ],
    },
    {
      name: "keeps a turn together while a call waits for its output",
      body: {
        input: [
          user("x"),
          call("1"),
          says("a"),
          reasoning("r"),
          call("2"),
          output("1"),
          says("b"),
          output("2"),
          says("c"),
        ],
      },
      messages: [
        { role: "user", content: "x" },
        {
          role: "assistant",
          content: "a\nb",
          reasoning: "r",
          toolCalls: [toolCall("1"), toolCall("2")],
        },
        toolTurn("1"),
        toolTurn("2"),
        { role: "assistant", content: "c" },
      ],
    },
    {
      name: "starts a new turn after the outputs",
      body: { input: [user("x"), call("1"), output("1"), reasoning("r"), call("2"), output("2")] },
      messages: [
        { role: "user", content: "x" },
        { role: "assistant", content: null, toolCalls: [toolCall("1")] },
        toolTurn("1"),
        { role: "assistant", content: null, reasoning: "r", toolCalls: [toolCall("2")] },
        toolTurn("2"),
      ],
    },
    {
      name: "puts a late output behind its call",
      body: { input: [user("x"), call("1"), user("wait"), output("1"), says("a")] },
      messages: [
        { role: "user", content: "x" },
        { role: "assistant", content: null, toolCalls: [toolCall("1")] },
        toolTurn("1"),
        { role: "user", content: "wait" },
        { role: "assistant", content: "a" },
      ],
    },
    {
      name: "tells the calls of one id apart by their place",
      body: { input: [call("1"), output("1"), call("1"), output("1")] },
      messages: [
        { role: "assistant", content: null, toolCalls: [toolCall("1")] },
        toolTurn("1"),
        { role: "assistant", content: null, toolCalls: [toolCall("1")] },
        toolTurn("1"),
      ],
    },
    {
      name: "joins neighbouring texts and thoughts with a newline",
      body: { input: [user("x"), reasoning("a"), reasoning("b"), says("c"), says("d")] },
      messages: [
        { role: "user", content: "x" },
        { role: "assistant", content: "c\nd", reasoning: "a\nb" },
      ],
    },
    {
      name: "reads the summary of thoughts without content",
      body: {
        input: [
          user("x"),
          {
            type: "reasoning",
            id: "rs_1",
            summary: [{ type: "summary_text", text: "s" }],
            content: null,
            encrypted_content: "gAAAA",
          },
          says("a"),
        ],
      },
      messages: [
        { role: "user", content: "x" },
        { role: "assistant", content: "a", reasoning: "s" },
      ],
    },
    {
      name: "leaves thoughts out that led to nothing",
      body: { input: [user("x"), reasoning("a"), user("y")] },
      messages: [
        { role: "user", content: "x" },
        { role: "user", content: "y" },
      ],
    },
    {
      name: "takes a refusal for text",
      body: {
        input: [user("x"), { role: "assistant", content: [{ type: "refusal", refusal: "no" }] }],
      },
      messages: [
        { role: "user", content: "x" },
        { role: "assistant", content: "no" },
      ],
    },
    {
      name: "gives calls without arguments an empty object",
      body: { input: [{ type: "function_call", call_id: "1", name: "f", arguments: "" }] },
      messages: [
        { role: "assistant", content: null, toolCalls: [{ id: "1", name: "f", arguments: "{}" }] },
      ],
    },
    {
      name: "reads custom calls and namespaces, with outputs in parts",
      body: {
        input: [
          {
            type: "custom_tool_call",
            id: "ctc_1",
            call_id: "1",
            name: "exec",
            namespace: "functions",
            input: 'say "x"',
          },
          {
            type: "custom_tool_call_output",
            call_id: "1",
            output: [
              { type: "input_text", text: "a" },
              { type: "input_text", text: "b" },
            ],
          },
        ],
      },
      messages: [
        {
          role: "assistant",
          content: null,
          toolCalls: [{ id: "1", name: "functions__exec", arguments: '{"input":"say \\"x\\""}' }],
        },
        {
          role: "tool",
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
          toolCallId: "1",
        },
      ],
    },
    {
      name: "is not begun by additional tools",
      body: {
        input: [
          { type: "additional_tools", role: "developer", tools: [tool("f")] },
          { role: "developer", content: "a" },
          user("x"),
        ],
      },
      messages: [
        { role: "system", content: "a" },
        { role: "user", content: "x" },
      ],
    },
  ];

  it.for(rows)("$name", ({ body, messages }, { expect }) => {
    expect(decode(body).request.messages).toEqual(messages);
  });

  it("knows where each message came from", ({ expect }) => {
    const { paths } = decode({
      instructions: "i",
      input: [user("x"), call("1"), user("y"), output("1")],
    });
    expect(paths).toEqual([
      "instructions",
      "input[0].content",
      "input",
      "input[3].output",
      "input[2].content",
    ]);
  });
});

describe("tools", () => {
  it("are functions, custom tools and the members of namespaces", ({ expect }) => {
    const { request, origins, ignored } = decode({
      tools: [
        { ...tool("f"), description: "d", strict: true },
        search,
        {
          type: "custom",
          name: "patch",
          description: "edits",
          format: { type: "grammar", syntax: "lark", definition: "start: /x/" },
        },
        group("mcp__files__", tool("read"), { type: "custom", name: "_run" }),
      ],
    });
    expect(request.tools.map(({ name, strict }) => ({ name, strict }))).toEqual([
      { name: "f", strict: true },
      { name: "patch", strict: false },
      { name: "mcp__files__read", strict: false },
      { name: "mcp__files__run", strict: false },
    ]);
    expect(request.tools[1]).toMatchObject({
      parameters: {
        type: "object",
        properties: { input: { type: "string" } },
        required: ["input"],
      },
      forTemplate: { type: "function", function: { name: "patch" } },
    });
    expect(request.tools[1]?.description).toMatch(/^edits\n\n.*lark grammar:\nstart: \/x\/$/);
    expect(origins.get("mcp__files__run")).toMatchObject({
      kind: "custom",
      name: "_run",
      namespace: "mcp__files__",
    });
    expect(ignored).toEqual(["tools[1]"]);
    expect(request.toolChoice).toEqual({ mode: "auto" });
  });

  it("come from additional_tools items too", ({ expect }) => {
    const { request, ignored } = decode({
      input: [
        {
          type: "additional_tools",
          role: "developer",
          tools: [group("clock", tool("sleep")), search],
        },
        user("x"),
      ],
    });
    expect(request.tools.map(({ name }) => name)).toEqual(["clock__sleep"]);
    expect(ignored).toEqual(["input[0].tools[1]"]);
  });

  const tools = [
    tool("f"),
    { type: "custom", name: "p" },
    group("a", tool("f"), tool("g")),
    group("b", tool("g")),
    search,
  ];
  const allow = (mode: string, ...names: readonly object[]) => ({
    type: "allowed_tools",
    mode,
    tools: names,
  });
  const choices: readonly {
    readonly choice: unknown;
    readonly mode: string;
    readonly allowed?: readonly string[];
  }[] = [
    { choice: undefined, mode: "auto" },
    { choice: null, mode: "auto" },
    { choice: "auto", mode: "auto" },
    { choice: "none", mode: "none" },
    { choice: "required", mode: "required" },
    { choice: { type: "custom", name: "p" }, mode: "required", allowed: ["p"] },
    { choice: { type: "function", name: "a__g" }, mode: "required", allowed: ["a__g"] },
    {
      choice: { type: "function", name: "g", namespace: "b" },
      mode: "required",
      allowed: ["b__g"],
    },
    {
      choice: { type: "function", name: "g" },
      mode: "required",
      allowed: ["a__g", "b__g"],
    },
    {
      choice: allow("auto", { type: "function", name: "f" }, { type: "web_search" }),
      mode: "auto",
      allowed: ["f", "a__f"],
    },
    {
      choice: allow(
        "required",
        { type: "namespace", name: "a" },
        { type: "function", name: "a__g" },
      ),
      mode: "required",
      allowed: ["a__f", "a__g"],
    },
  ];

  it.for(choices)("may be chosen by $choice", ({ choice, mode, allowed }, { expect }) => {
    const { toolChoice } = decode({ tools, tool_choice: choice }).request;
    expect(toolChoice).toEqual({ mode, ...(allowed === undefined ? {} : { allowed }) });
  });

  it("are none when the list is empty or has built-in ones alone", ({ expect }) => {
    for (const none of [[], [search], null]) {
      expect(decode({ tools: none, tool_choice: "auto" }).request).toMatchObject({
        tools: [],
        toolChoice: { mode: "none" },
      });
    }
  });
});

describe("fields of a responses request", () => {
  const schema = { type: "object" };
  const rows: readonly {
    readonly name: string;
    readonly body: object;
    readonly request: object;
    readonly ignored?: readonly string[];
  }[] = [
    {
      name: "default to a plain generation",
      body: {},
      request: {
        model: "m",
        sampling: {},
        n: 1,
        addGenerationPrompt: true,
        continueFinalMessage: false,
        templateKwargs: {},
        parallelToolCalls: true,
        output: { responseFormat: { type: "text" } },
        separateReasoning: true,
        toolChoice: { mode: "none" },
      },
    },
    {
      name: "set sampling, SGLang's own fields among them",
      body: { temperature: 0.5, top_p: 0.9, top_k: 4, min_p: 0.1, max_output_tokens: 7, stop: "x" },
      request: {
        sampling: { temperature: 0.5, topP: 0.9, topK: 4, minP: 0.1 },
        maxTokens: 7,
        stop: { strings: ["x"] },
      },
    },
    {
      name: "give the effort to the template, whose own variables win",
      body: {
        reasoning: { effort: "high", summary: "auto" },
        chat_template_kwargs: { enable_thinking: false },
      },
      request: {
        reasoningEffort: "high",
        templateKwargs: { reasoning_effort: "high", enable_thinking: false },
      },
    },
    {
      name: "ask for a JSON object",
      body: { text: { format: { type: "json_object" }, verbosity: "low" } },
      request: { output: { responseFormat: { type: "json-object" } } },
    },
    {
      name: "ask for a JSON schema",
      body: { text: { format: { type: "json_schema", name: "x", schema, strict: true } } },
      request: { output: { responseFormat: { type: "json-schema", schema, strict: true } } },
    },
    {
      name: "ask for a grammar of SGLang's",
      body: { regex: "[ab]" },
      request: { output: { responseFormat: { type: "text" }, regex: "[ab]" } },
    },
    {
      name: "ask for log probabilities",
      body: { include: ["message.output_text.logprobs"], top_logprobs: 3 },
      request: { logprobs: { top: 3 } },
    },
    {
      name: "may be null",
      body: {
        instructions: null,
        tools: null,
        text: null,
        reasoning: null,
        metadata: null,
        include: null,
        stream: null,
        max_output_tokens: null,
        previous_response_id: null,
        background: false,
        store: true,
      },
      request: { sampling: {} },
    },
    {
      name: "may be unknown",
      body: { client_metadata: { a: "b" }, whatever: 1 },
      request: { model: "m" },
    },
    {
      name: "say what of include cannot be done",
      body: { include: ["reasoning.encrypted_content", "web_search_call.action.sources"] },
      request: { model: "m" },
      ignored: ["include[0]"],
    },
  ];

  it.for(rows)("$name", ({ body, request, ignored = [] }, { expect }) => {
    const decoded = decode(body);
    expect(decoded.request).toMatchObject(request);
    expect(decoded.ignored).toEqual(ignored);
  });

  it("ask for no log probabilities unless they are included", ({ expect }) => {
    expect(decode({ top_logprobs: 3 }).request).not.toHaveProperty("logprobs");
  });
});
