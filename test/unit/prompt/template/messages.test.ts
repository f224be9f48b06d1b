import { it } from "vitest";

import type { TemplateMessage } from "../../../../src/prompt/template/chat-template.ts";
import { compileChatTemplate } from "../../../../src/prompt/template/compile-chat-template.ts";
import { prepareMessages } from "../../../../src/prompt/template/messages.ts";

const strings = { contentFormat: (): "string" => "string" };
const parts = { contentFormat: (): "openai" => "openai" };

function call(id: string, name: string, args: unknown): unknown {
  return { id, type: "function", function: { name, arguments: args } };
}

function assistant(...calls: unknown[]): TemplateMessage {
  return { role: "assistant", content: null, tool_calls: calls };
}

interface Row {
  readonly name: string;
  readonly template: typeof strings | typeof parts;
  readonly messages: readonly unknown[];
  readonly prepared: readonly unknown[];
}

const TEXTS = [
  { type: "text", text: "a" },
  { type: "image_url", image_url: { url: "x" } },
  { type: "text", text: "b" },
];

const rows: readonly Row[] = [
  {
    name: "a missing content is null",
    template: strings,
    messages: [{ role: "assistant" }, { role: "assistant", content: undefined }],
    prepared: [
      { role: "assistant", content: null },
      { role: "assistant", content: null },
    ],
  },
  {
    name: "text parts are joined for a template of strings",
    template: strings,
    messages: [
      { role: "user", content: TEXTS },
      { role: "user", content: [] },
    ],
    prepared: [
      { role: "user", content: "a\nb" },
      { role: "user", content: "" },
    ],
  },
  {
    name: "parts stay for a template of parts",
    template: parts,
    messages: [
      { role: "user", content: TEXTS },
      { role: "user", content: "s" },
    ],
    prepared: [
      { role: "user", content: TEXTS },
      { role: "user", content: "s" },
    ],
  },
  {
    name: "arguments become objects where they are one",
    template: strings,
    messages: [
      assistant(
        call("1", "f", '{"b": 1, "a": [true, null]}'),
        call("2", "f", ""),
        call("3", "f", "not json"),
        call("4", "f", "[1]"),
        call("5", "f", { a: 1 }),
      ),
    ],
    prepared: [
      assistant(
        call("1", "f", { b: 1, a: [true, null] }),
        call("2", "f", {}),
        call("3", "f", "not json"),
        call("4", "f", "[1]"),
        call("5", "f", { a: 1 }),
      ),
    ],
  },
  {
    name: "a result names the function that was called",
    template: strings,
    messages: [
      assistant(call("1", "f", "{}"), call("2", "g", "{}")),
      { role: "tool", tool_call_id: "2", content: "x" },
      { role: "tool", tool_call_id: "1", name: "own", content: "y" },
      { role: "tool", tool_call_id: "9", content: "z" },
    ],
    prepared: [
      assistant(call("1", "f", {}), call("2", "g", {})),
      { role: "tool", tool_call_id: "2", name: "g", content: "x" },
      { role: "tool", tool_call_id: "1", name: "own", content: "y" },
      { role: "tool", tool_call_id: "9", content: "z" },
    ],
  },
  {
    name: "what is no call stays as it is",
    template: strings,
    messages: [
      { role: "assistant", content: "x", tool_calls: [7, null, { id: 1 }, { function: 3 }] },
    ],
    prepared: [
      { role: "assistant", content: "x", tool_calls: [7, null, { id: 1 }, { function: 3 }] },
    ],
  },
];

it.for(rows)("$name", ({ template, messages, prepared }, { expect }) => {
  const given = structuredClone(messages) as readonly TemplateMessage[];
  expect(prepareMessages(given, template)).toEqual(prepared);
  expect(given).toEqual(messages);
});

it("keeps numbers as the model wrote them", ({ expect }) => {
  const written = '{"a": 1.0, "b": 12345678901234567890, "c": 1e2, "d": 0.5, "e": -0.0}';
  const template = compileChatTemplate({
    templates: { default: "{{ messages[0].tool_calls[0].function.arguments | tojson }}" },
    specialTokens: {},
  });
  const text = template.render({
    messages: prepareMessages([assistant(call("1", "f", written))], template),
    addGenerationPrompt: true,
    continueFinalMessage: false,
    kwargs: {},
    now: new Date(0),
  });
  expect(text).toBe('{"a": 1.0, "b": 12345678901234567890, "c": 100.0, "d": 0.5, "e": -0.0}');
});
