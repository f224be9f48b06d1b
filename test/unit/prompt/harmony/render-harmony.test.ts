import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, it } from "vitest";

import { EdgeError } from "../../../../src/core/api-error.ts";
import { HARMONY_TEMPLATE } from "../../../../src/prompt/harmony/render-harmony.ts";
import type { TemplateMessage } from "../../../../src/prompt/template/chat-template.ts";
import { prepareMessages } from "../../../../src/prompt/template/messages.ts";

interface Chat {
  readonly messages: readonly TemplateMessage[];
  readonly tools?: readonly unknown[];
  readonly kwargs?: Readonly<Record<string, unknown>>;
  readonly addGenerationPrompt?: boolean;
  readonly continueFinalMessage?: boolean;
}

interface OracleRow extends Chat {
  readonly name: string;
  /** What the public gpt-oss template gives; absent when it refuses the chat. */
  readonly text?: string;
  readonly error?: string;
}

const [head = "", ...lines] = readFileSync(
  join(import.meta.dirname, "../../../cases/harmony/prompts.jsonl"),
  "utf8",
)
  .trim()
  .split("\n");
const { now } = JSON.parse(head);
const rows: readonly OracleRow[] = lines.map((line) => JSON.parse(line));

function render(chat: Chat): string {
  const continueFinalMessage = chat.continueFinalMessage ?? false;
  return HARMONY_TEMPLATE.render({
    messages: prepareMessages(chat.messages, HARMONY_TEMPLATE),
    ...(chat.tools === undefined ? {} : { tools: chat.tools }),
    addGenerationPrompt: chat.addGenerationPrompt ?? !continueFinalMessage,
    continueFinalMessage,
    kwargs: chat.kwargs ?? {},
    now: new Date(now),
  });
}

/** The rendered turns, without the system message and the generation prompt. */
function renderTurns(...messages: readonly TemplateMessage[]): string {
  const text = render({ messages });
  return text.slice(text.indexOf("<|end|>") + "<|end|>".length, -"<|start|>assistant".length);
}

/** The declarations of tools in the prompt. */
function renderTools(...tools: readonly unknown[]): string {
  const text = render({
    messages: [{ role: "user", content: "a" }],
    tools: tools.map((tool) => ({ type: "function", function: tool })),
  });
  return text.slice(
    text.indexOf("namespace functions {"),
    text.lastIndexOf("<|end|><|start|>user"),
  );
}

/** The field that a refusal names. */
function refusedField(chat: Chat): string | undefined {
  try {
    render(chat);
    return undefined;
  } catch (error) {
    if (!(error instanceof EdgeError) || error.error.kind !== "invalid-request") throw error;
    return error.error.param;
  }
}

function call(name: string, id: string, args = "{}"): unknown {
  return { id, type: "function", function: { name, arguments: args } };
}

describe("gives the prompt of the public gpt-oss template", () => {
  it.for(rows.filter((row) => row.error === undefined))("$name", (row, { expect }) => {
    expect(render(row)).toBe(row.text);
  });

  it.for(rows.filter((row) => row.error !== undefined))(
    "refuses, as it does, $name",
    (row, { expect }) => {
      expect(refusedField(row)).toBeTypeOf("string");
    },
  );

  it("has many chats to compare", ({ expect }) => {
    expect(rows.filter((row) => row.text !== undefined).length).toBeGreaterThan(180);
  });
});

describe("what the template drops or cannot take", () => {
  it("renders every call of a message, and each result under its own function's name", ({
    expect,
  }) => {
    const text = renderTurns(
      {
        role: "assistant",
        content: null,
        tool_calls: [call("one", "a"), call("two", "b", '{"x":1}')],
      },
      { role: "tool", tool_call_id: "b", content: "second" },
      { role: "tool", tool_call_id: "a", content: "first" },
    );
    expect(text).toBe(
      "<|start|>assistant to=functions.one<|channel|>commentary json<|message|>{}<|call|>" +
        '<|start|>assistant to=functions.two<|channel|>commentary json<|message|>{"x": 1}<|call|>' +
        '<|start|>functions.two to=assistant<|channel|>commentary<|message|>"second"<|end|>' +
        '<|start|>functions.one to=assistant<|channel|>commentary<|message|>"first"<|end|>',
    );
  });

  it("keeps a text beside a thought and calls as a preamble", ({ expect }) => {
    const turn = {
      role: "assistant",
      content: "I look it up.",
      reasoning_content: "Hm.",
      tool_calls: [call("f", "a")],
    };
    expect(renderTurns(turn)).toBe(
      "<|start|>assistant<|channel|>analysis<|message|>Hm.<|end|>" +
        "<|start|>assistant<|channel|>commentary<|message|>I look it up.<|end|>" +
        "<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{}<|call|>",
    );
    expect(renderTurns(turn, { role: "assistant", content: "Done." })).toBe(
      "<|start|>assistant<|channel|>commentary<|message|>I look it up.<|end|>" +
        "<|start|>assistant to=functions.f<|channel|>commentary json<|message|>{}<|call|>" +
        "<|start|>assistant<|channel|>final<|message|>Done.<|end|>",
    );
  });

  it("keeps instructions that come later, at their place", ({ expect }) => {
    const text = renderTurns(
      { role: "user", content: "a" },
      { role: "developer", content: "Answer in French." },
      { role: "user", content: "b" },
    );
    expect(text).toBe(
      "<|start|>user<|message|>a<|end|>" +
        "<|start|>developer<|message|># Instructions\n\nAnswer in French.\n\n<|end|>" +
        "<|start|>user<|message|>b<|end|>",
    );
  });

  it("joins the text parts of a message with a newline", ({ expect }) => {
    const parts = [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ];
    expect(renderTurns({ role: "user", content: parts })).toBe(
      "<|start|>user<|message|>one\ntwo<|end|>",
    );
  });

  it("takes an assistant's empty list of calls for none", ({ expect }) => {
    expect(renderTurns({ role: "assistant", content: "b", tool_calls: [] })).toBe(
      "<|start|>assistant<|channel|>final<|message|>b<|end|>",
    );
  });

  it("names the result of an unknown call by the message's own name", ({ expect }) => {
    expect(renderTurns({ role: "tool", name: "clock", content: "noon" })).toBe(
      '<|start|>functions.clock to=assistant<|channel|>commentary<|message|>"noon"<|end|>',
    );
  });

  it("leaves out the comment of a tool without a description", ({ expect }) => {
    expect(renderTools({ name: "f" }, { name: "g", description: null, parameters: null })).toBe(
      "namespace functions {\n\ntype f = () => any;\n\ntype g = () => any;\n\n} // namespace functions",
    );
  });

  it("writes a default that is no text as JSON, beside an enum too", ({ expect }) => {
    const parameters = {
      type: "object",
      properties: {
        x: { type: "string", enum: ["a"], default: null },
        y: { oneOf: [{}], default: [1] },
      },
    };
    expect(renderTools({ name: "f", parameters })).toContain(
      '(_: {\nx?: "a", // default: null,\ny?: any// default: [1],\n})',
    );
  });

  it("survives schemas that are no schemas", ({ expect }) => {
    const properties = {
      a: 1,
      b: null,
      c: "x",
      d: { type: 7 },
      e: { type: "object", required: true },
    };
    const parameters = { type: "object", properties, required: "a" };
    expect(renderTools({ name: "f", parameters })).toContain(
      "a?: any,\nb?: any,\nc?: any,\nd?: any,\ne?: object,\n",
    );
  });

  it("stops writing a type out a hundred levels down", ({ expect }) => {
    const deep = (levels: number): unknown =>
      levels === 0 ? { type: "string" } : { type: "object", properties: { x: deep(levels - 1) } };
    const parameters = { type: "object", properties: { x: deep(3_000) } };
    const text = renderTools({ name: "f", parameters });
    expect(text.split("x?:").length - 1).toBe(102);
    expect(text).toContain("any}}}");
  });
});

describe("refuses, with the field's name", () => {
  const user = { role: "user", content: "a" };
  it.for<{ readonly name: string; readonly chat: Chat; readonly param: string }>([
    {
      name: "a role that Harmony has no place for",
      chat: { messages: [user, { role: "critic", content: "b" }] },
      param: "messages[1].role",
    },
    {
      name: "a result that belongs to no call",
      chat: { messages: [user, { role: "tool", content: "b" }] },
      param: "messages[1]",
    },
    {
      name: "channel markers in an assistant's thoughts",
      chat: {
        messages: [
          { role: "assistant", content: "b", reasoning_content: "<|channel|>final<|message|>" },
        ],
      },
      param: "messages[0].reasoning_content",
    },
    {
      name: "a call without a name",
      chat: { messages: [user, { role: "assistant", content: null, tool_calls: [{}] }] },
      param: "messages[1].tool_calls[0].function.name",
    },
    {
      name: "an effort that is no text",
      chat: { messages: [user], kwargs: { reasoning_effort: 3 } },
      param: "chat_template_kwargs.reasoning_effort",
    },
    {
      name: "the model's own tools, which nobody could run",
      chat: { messages: [user], kwargs: { builtin_tools: ["python"] } },
      param: "chat_template_kwargs.builtin_tools",
    },
    {
      name: "a tool that is no function",
      chat: { messages: [user], tools: [{ type: "web_search" }] },
      param: "tools[0]",
    },
  ])("$name", ({ chat, param }, { expect }) => {
    expect(refusedField(chat)).toBe(param);
  });
});
