import { describe, it } from "vitest";

import { readTemplateOrigins } from "../../../../scripts/oracle/template-sources.ts";
import type { ReasoningContext } from "../../../../src/parsers/output-parser.ts";
import {
  findReasoningFormat,
  REASONING_FORMATS,
} from "../../../../src/parsers/reasoning/registry.ts";
import { compileChatTemplate } from "../../../../src/prompt/template/compile-chat-template.ts";

function starts(format: string, context: Partial<ReasoningContext>): boolean | undefined {
  return findReasoningFormat(format)?.startsInReasoning({
    prompt: "",
    template: "",
    templateKwargs: {},
    reasoningEffort: undefined,
    ...context,
  });
}

interface PromptRow {
  readonly name: string;
  readonly format: string;
  readonly prompt: string;
  readonly expected: boolean;
}

const HEADER = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n";

const promptRows: readonly PromptRow[] = [
  { name: "ends in the start marker", format: "mimo", prompt: `${HEADER}<think>`, expected: true },
  {
    name: "ends in the start marker and white space",
    format: "mimo",
    prompt: `${HEADER}<think>\n \n`,
    expected: true,
  },
  {
    name: "ends in a closed thought",
    format: "deepseek-r1",
    prompt: `${HEADER}<think>\n\n</think>\n\n`,
    expected: false,
  },
  {
    name: "ends in an end marker alone",
    format: "deepseek-r1",
    prompt: "<｜User｜>Hi<｜Assistant｜></think>",
    expected: false,
  },
  {
    name: "goes on with a thought",
    format: "mimo",
    prompt: `${HEADER}<think>\nFirst, <b>bold</b> and [1] and a < b`,
    expected: true,
  },
  {
    name: "goes on with an answer after a thought",
    format: "deepseek-r1",
    prompt: `${HEADER}<think>\nHm.\n</think>\n\nThe answer`,
    expected: false,
  },
  {
    name: "goes on with an answer that had no thought",
    format: "deepseek-r1",
    prompt: `${HEADER}The answer is`,
    expected: false,
  },
  {
    name: "goes on with one word",
    format: "deepseek-r1",
    prompt: `${HEADER}Yes`,
    expected: false,
  },
  {
    name: "goes on with one word right behind the header",
    format: "deepseek-r1",
    prompt: "<｜User｜>Hi<｜Assistant｜>Yes",
    expected: false,
  },
  {
    name: "goes on with an answer that quotes the start marker",
    format: "mimo",
    prompt: `${HEADER}Models write <think> first`,
    expected: false,
  },
  {
    name: "goes on with a thought that quotes the start marker",
    format: "mimo",
    prompt: `${HEADER}<think>Models write <think> first`,
    expected: true,
  },
  {
    name: "goes on with an answer after a thought, and quotes the start marker",
    format: "mimo",
    prompt: `${HEADER}<think>Hm.</think>Models write <think> first`,
    expected: false,
  },
  {
    name: "a thought in an earlier turn, closed, says nothing",
    format: "deepseek-r1",
    prompt: `<|im_start|>assistant\n<think>a</think>b<|im_end|>\n${HEADER}`,
    expected: true,
  },
  {
    name: "a thought in an earlier turn, never closed, says nothing",
    format: "mimo",
    prompt: `<|im_start|>assistant\n<think>a<|im_end|>\n${HEADER}`,
    expected: false,
  },
  {
    name: "a user's quoted start marker says nothing",
    format: "mimo",
    prompt: "<|im_start|>user\nWhat is <think>?<|im_end|>\n<|im_start|>assistant\n",
    expected: false,
  },
  {
    name: "a user's start marker at the message's end says nothing",
    format: "mimo",
    prompt: "<start_of_turn>user\n<think><end_of_turn>\n<start_of_turn>model\n",
    expected: false,
  },
  {
    name: "a user's quoted end marker says nothing",
    format: "deepseek-r1",
    prompt: "[INST] What is </think>? [/INST]",
    expected: true,
  },
  {
    name: "a quoted end marker behind turns without tokens says nothing",
    format: "deepseek-r1",
    prompt: "USER: What is </think>? ASSISTANT:",
    expected: true,
  },
  {
    name: "a quoted start marker behind turns without tokens says nothing",
    format: "mimo",
    prompt: "USER: What is <think>? ASSISTANT:",
    expected: false,
  },
  {
    name: "turns without tokens behind a token that begins the text",
    format: "deepseek-r1",
    prompt: "<s>USER: Hi ASSISTANT:",
    expected: true,
  },
  {
    name: "a long prompt",
    format: "mimo",
    prompt: `<|im_start|>user\n${"word ".repeat(50_000)}<|im_end|>\n<|im_start|>assistant\n<think>\n`,
    expected: true,
  },
  {
    name: "a long thought that goes on",
    format: "mimo",
    prompt: `${HEADER}<think>\n${"word ".repeat(50_000)}`,
    expected: true,
  },
  {
    name: "minimax's turn tokens",
    format: "mimo",
    prompt: "]~!b[]~b]user\n<think> is what?[e~[\n]~b]ai\n",
    expected: false,
  },
  {
    name: "minimax's open thought",
    format: "minimax",
    prompt: "]~b]user\nHi[e~[\n]~b]ai\n<think>\n",
    expected: true,
  },
  {
    name: "glm's closed thought",
    format: "glm45",
    prompt: "[gMASK]<sop><|user|>\nHi<|assistant|>\n<think></think>",
    expected: false,
  },
  {
    name: "gemma's closed thought",
    format: "gemma4",
    prompt: "<|turn>user\nHi<turn|>\n<|turn>model\n<|channel>thought\n<channel|>",
    expected: false,
  },
  {
    name: "gemma's open thought",
    format: "gemma4",
    prompt: "<|turn>user\nHi<turn|>\n<|turn>model\n<|channel>thought\n",
    expected: true,
  },
  {
    name: "kimi k3's open thought",
    format: "kimi_k3",
    prompt: '<|open|>message role="assistant"<|sep|><|open|>think<|sep|>',
    expected: true,
  },
  {
    name: "kimi k3's thought that goes on",
    format: "kimi_k3",
    prompt: '<|open|>message role="assistant"<|sep|><|open|>think<|sep|>Let me',
    expected: true,
  },
  {
    name: "kimi k3's open response",
    format: "kimi_k3",
    prompt: "<|open|>think<|sep|><|close|>think<|sep|><|open|>response<|sep|>",
    expected: false,
  },
  {
    name: "kimi k3's response that goes on",
    format: "kimi_k3",
    prompt: "<|close|>think<|sep|><|open|>response<|sep|>The answer",
    expected: false,
  },
  {
    name: "command's open thought",
    format: "cohere_command4",
    prompt: "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|>",
    expected: true,
  },
  {
    name: "command's closed thought",
    format: "cohere_command4",
    prompt: "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|><|START_THINKING|><|END_THINKING|>",
    expected: false,
  },
  {
    name: "command's text that goes on",
    format: "cohere_command4",
    prompt: "<|CHATBOT_TOKEN|><|START_THINKING|><|END_THINKING|><|START_TEXT|>The",
    expected: false,
  },
  {
    name: "muse's header that the model completes",
    format: "muse",
    prompt: "<|start|>user<|message|>Hi<|eot|><|start|>assistant",
    expected: false,
  },
  {
    name: "muse's thought that goes on",
    format: "muse",
    prompt: "<|start|>user<|message|>Hi<|eot|><|start|>assistant to=self<|message|>Let me",
    expected: true,
  },
  {
    name: "muse's answer that goes on",
    format: "muse",
    prompt: "<|start|>assistant to=self<|message|>a<|eom|><|start|>assistant to=user<|message|>The",
    expected: false,
  },
  {
    name: "inkling's header that the model completes",
    format: "inkling",
    prompt: "<|message_user|><|content_text|>Hi<|end_message|><|message_model|>",
    expected: false,
  },
  {
    name: "inkling's open thought",
    format: "inkling",
    prompt:
      "<|message_user|><|content_text|>Hi<|end_message|><|message_model|><|content_thinking|>",
    expected: true,
  },
  {
    name: "inkling's text that goes on",
    format: "inkling",
    prompt:
      "<|message_model|><|content_thinking|>a<|end_message|><|message_model|><|content_text|>b",
    expected: false,
  },
  {
    name: "nothing to part",
    format: "minimax-append-think",
    prompt: `${HEADER}<think>\n`,
    expected: false,
  },
];

describe("a prompt's end decides", () => {
  it.for(promptRows)("$format: $name", ({ format, prompt, expected }, { expect }) => {
    expect(starts(format, { prompt })).toBe(expected);
  });
});

/** Without a prompt that tells: [format, kwargs, effort, expected]. */
const toggleRows: readonly (readonly [
  string,
  Readonly<Record<string, unknown>>,
  string | undefined,
  boolean,
])[] = [
  ...["deepseek-r1", "step3", "step3p5", "qwen3-thinking", "minimax"].flatMap(
    (format) =>
      [
        [format, {}, undefined, true],
        [format, { enable_thinking: false, thinking: false }, "none", true],
      ] as const,
  ),
  ...["qwen3", "interns1", "glm45", "nemotron_3"].flatMap(
    (format) =>
      [
        [format, {}, undefined, true],
        [format, { enable_thinking: true }, undefined, true],
        [format, { enable_thinking: false }, undefined, false],
        [format, { thinking: false }, "none", true],
      ] as const,
  ),
  ...["mimo", "poolside_v1", "gemma4"].flatMap(
    (format) =>
      [
        [format, {}, undefined, false],
        [format, { enable_thinking: true }, undefined, true],
        [format, { enable_thinking: false }, undefined, false],
        [format, { thinking: true }, "high", false],
      ] as const,
  ),
  ...["deepseek-v3", "deepseek-v4"].flatMap(
    (format) =>
      [
        [format, {}, undefined, false],
        [format, { thinking: true }, undefined, true],
        [format, { thinking: false }, undefined, false],
        [format, { enable_thinking: true }, "high", false],
      ] as const,
  ),
  ...["kimi_k2", "kimi_k3"].flatMap(
    (format) =>
      [
        [format, {}, undefined, true],
        [format, { thinking: false }, undefined, false],
        [format, { enable_thinking: false }, undefined, true],
      ] as const,
  ),
  ["kimi", { thinking: true, enable_thinking: true }, "high", false],
  ["apertus2509", { thinking: true, enable_thinking: true }, "high", false],
  ["muse", { thinking: true, enable_thinking: true }, "high", false],
  ["inkling", { thinking: true, enable_thinking: true }, "high", false],
  ["minimax-append-think", { thinking: true, enable_thinking: true }, "high", false],
  ["mistral", {}, undefined, false],
  ["mistral", {}, "none", false],
  ["mistral", {}, "high", true],
  ["mistral", { reasoning_effort: "none" }, "high", false],
  ["mistral", { reasoning_effort: "high" }, undefined, true],
  ["hunyuan", {}, undefined, true],
  ["hunyuan", {}, "none", false],
  ["hunyuan", {}, "no_think", false],
  ["hunyuan", { reasoning_effort: "no_think" }, undefined, false],
  ["hunyuan", {}, "low", true],
  ["minimax-m3", {}, undefined, false],
  ["minimax-m3", { thinking_mode: "enabled" }, undefined, true],
  ["minimax-m3", { thinking_mode: "disabled" }, undefined, false],
  ["cohere_command4", {}, undefined, true],
  ["cohere_command4", { reasoning: false }, undefined, false],
];

describe("the request decides where the prompt does not", () => {
  it.for(toggleRows)("%s %j %s: %s", ([format, templateKwargs, effort, expected], { expect }) => {
    expect(starts(format, { templateKwargs, reasoningEffort: effort })).toBe(expected);
    const prompt = HEADER;
    expect(starts(format, { prompt, templateKwargs, reasoningEffort: effort })).toBe(expected);
  });

  it("has rows for every format", ({ expect }) => {
    const named = new Set(toggleRows.map(([format]) => format));
    expect(REASONING_FORMATS.map(({ name }) => name).filter((name) => !named.has(name))).toEqual(
      [],
    );
  });

  it("takes a value of another kind for no answer", ({ expect }) => {
    expect(starts("qwen3", { templateKwargs: { enable_thinking: "false" } })).toBe(true);
    expect(starts("mimo", { templateKwargs: { enable_thinking: "true" } })).toBe(false);
    expect(starts("hunyuan", { templateKwargs: { reasoning_effort: 0 } })).toBe(true);
  });

  it("ignores an effort that the template does not read", ({ expect }) => {
    const context = { template: "{{ messages }}", reasoningEffort: "high" };
    expect(starts("mistral", context)).toBe(false);
    expect(starts("mistral", { ...context, template: "{{ reasoning_effort }}" })).toBe(true);
  });
});

describe("a template that writes the start marker, but not here", () => {
  const template = "{% for m in messages %}<think>{{ m.reasoning_content }}</think>{% endfor %}";

  it("leaves the marker to the model", ({ expect }) => {
    expect(starts("qwen3", { prompt: HEADER, template })).toBe(false);
    expect(starts("qwen3", { prompt: HEADER, template: "{{ messages }}" })).toBe(true);
  });

  it("does not overrule the request", ({ expect }) => {
    const templateKwargs = { enable_thinking: true };
    expect(starts("qwen3", { prompt: HEADER, template, templateKwargs })).toBe(true);
  });

  it("says nothing about models that think without a start marker", ({ expect }) => {
    expect(starts("deepseek-r1", { prompt: HEADER, template })).toBe(true);
  });
});

interface TemplateRow {
  readonly template: string;
  readonly format: string;
  readonly kwargs: Readonly<Record<string, unknown>>;
  readonly expected: boolean;
  /** The final message that the model goes on with; absent: a new turn. */
  readonly prefix?: string;
}

const templateRows: readonly TemplateRow[] = [
  { template: "qwen3", format: "qwen3", kwargs: {}, expected: false },
  { template: "qwen3", format: "qwen3", kwargs: { enable_thinking: true }, expected: true },
  { template: "qwen3", format: "qwen3", kwargs: { enable_thinking: false }, expected: false },
  { template: "qwen3", format: "qwen3", kwargs: {}, prefix: "The answer", expected: false },
  { template: "qwen3-next:80b", format: "qwen3", kwargs: {}, expected: true },
  { template: "qwen3-next:80b", format: "qwen3-thinking", kwargs: {}, expected: true },
  { template: "deepseek-v3.1:latest", format: "deepseek-v3", kwargs: {}, expected: false },
  {
    template: "deepseek-v3.1:latest",
    format: "deepseek-v3",
    kwargs: { thinking: true },
    expected: true,
  },
  { template: "deepseek-r1:latest", format: "deepseek-r1", kwargs: {}, expected: true },
  {
    template: "deepseek-r1:latest",
    format: "deepseek-r1",
    kwargs: {},
    prefix: "The answer",
    expected: false,
  },
  { template: "deepcoder:14b", format: "deepseek-r1", kwargs: {}, expected: true },
  { template: "command-r7b:7b", format: "cohere_command4", kwargs: {}, expected: false },
  { template: "phi4-reasoning:14b", format: "qwen3", kwargs: {}, expected: false },
];

describe("real templates", () => {
  const origins = readTemplateOrigins();

  it.for(templateRows)("$template as $format, $kwargs, $prefix: $expected", (row, { expect }) => {
    const origin = origins.find(({ name }) => name === row.template);
    if (origin === undefined) throw new Error(`no template ${row.template}`);
    const messages = [
      { role: "user", content: "What do <think> and </think> mean?" },
      { role: "assistant", content: "<think>\nHm.\n</think>\n\nThey part thoughts." },
      { role: "user", content: "So <think>" },
    ];
    const last = row.prefix === undefined ? [] : [{ role: "assistant", content: row.prefix }];
    const prompt = compileChatTemplate(origin).render({
      messages: [...messages, ...last],
      addGenerationPrompt: row.prefix === undefined,
      continueFinalMessage: row.prefix !== undefined,
      kwargs: row.kwargs,
      now: new Date(0),
    });
    const template = origin.templates["default"] ?? "";
    expect(starts(row.format, { prompt, template, templateKwargs: row.kwargs })).toBe(row.expected);
  });
});
