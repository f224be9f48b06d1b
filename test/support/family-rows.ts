import { DEEPSEEK, GEMMA, GPT_OSS, LLAMA, MISTRAL, QWEN, QWEN_CODER } from "./test-models.ts";

/** What a model of a family writes, and what a client must get of it. */
export interface FamilyRow {
  readonly name: string;
  readonly model: string;
  /** The model's raw text, special tokens written out. */
  readonly output: string;
  readonly content: string | null;
  readonly reasoning?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown }[];
  /** Variables of the chat template. */
  readonly kwargs?: Readonly<Record<string, unknown>>;
  readonly finish?: "length";
}

const paris = { name: "get_weather", arguments: { city: "Paris", days: 3 } };
const tokyo = { name: "get_weather", arguments: { city: "東京 🗼", days: 1 } };
const ping = { name: "ping", arguments: {} };

/** Tools of all rows. */
export const FAMILY_TOOLS = [
  {
    type: "function" as const,
    function: {
      name: "get_weather",
      description: "The weather of a city",
      parameters: {
        type: "object",
        properties: { city: { type: "string" }, days: { type: "integer" } },
        required: ["city"],
      },
    },
  },
  {
    type: "function" as const,
    function: {
      name: "ping",
      description: "Pings",
      parameters: { type: "object", properties: {} },
    },
  },
];

export const FAMILY_ROWS: readonly FamilyRow[] = [
  {
    name: "Qwen3: a thought, text, two calls",
    model: QWEN,
    output:
      '<think>\nLet me see… 東京?\n</think>\n\nI look. <tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}\n</tool_call>\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "東京 🗼", "days": 1}}\n</tool_call>',
    reasoning: "\nLet me see… 東京?\n",
    content: "\n\nI look. ",
    calls: [paris, tokyo],
  },
  {
    name: "Qwen3: thinking switched off",
    model: QWEN,
    kwargs: { enable_thinking: false },
    output: "Plain 🌍 answer with <b>tags</b> and 1 < 2.",
    content: "Plain 🌍 answer with <b>tags</b> and 1 < 2.",
  },
  {
    name: "Qwen3: a thought that the length cuts off",
    model: QWEN,
    output: "<think>\nHm, this goes on",
    finish: "length",
    reasoning: "\nHm, this goes on",
    content: null,
  },
  {
    name: "Qwen3-Coder: a call with typed parameters",
    model: QWEN_CODER,
    output:
      "Sure.\n<tool_call>\n<function=get_weather>\n<parameter=city>\n東京 🗼\n</parameter>\n<parameter=days>\n1\n</parameter>\n</function>\n</tool_call>",
    content: "Sure.\n",
    calls: [tokyo],
  },
  {
    name: "Llama 3.1: a bare call",
    model: LLAMA,
    output: '{"name": "get_weather", "parameters": {"city": "Paris", "days": 3}}',
    content: null,
    calls: [paris],
  },
  {
    name: "Llama 3.1: a call behind its special token",
    model: LLAMA,
    output: '<|python_tag|>{"name": "ping", "parameters": {}}',
    content: null,
    calls: [ping],
  },
  {
    name: "DeepSeek V3.1: text and two calls",
    model: DEEPSEEK,
    output:
      'Moment.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris", "days": 3}<｜tool▁call▁end｜><｜tool▁call▁begin｜>ping<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    content: "Moment.",
    calls: [paris, ping],
  },
  {
    name: "DeepSeek V3.1: a thought that the template opens",
    model: DEEPSEEK,
    kwargs: { thinking: true },
    output: "Let me think.</think>Forty-two.",
    reasoning: "Let me think.",
    content: "Forty-two.",
  },
  {
    name: "Mistral Nemo: a list of calls",
    model: MISTRAL,
    output:
      '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}, {"name": "ping", "arguments": {}}]',
    content: null,
    calls: [paris, ping],
  },
  {
    name: "gpt-oss: analysis, a preamble and a call",
    model: GPT_OSS,
    output:
      '<|channel|>analysis<|message|>Need the weather.<|end|><|start|>assistant<|channel|>commentary<|message|>I look it up.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Paris", "days": 3}<|call|>',
    reasoning: "Need the weather.",
    content: "I look it up.",
    calls: [paris],
  },
  {
    name: "gpt-oss: analysis and a final answer",
    model: GPT_OSS,
    output:
      "<|channel|>analysis<|message|>Easy. 東京<|end|><|start|>assistant<|channel|>final<|message|>It is 42 🌍.<|return|>",
    reasoning: "Easy. 東京",
    content: "It is 42 🌍.",
  },
  {
    name: "Gemma 3: text alone",
    model: GEMMA,
    output: "Grüße! 👨‍👩‍👧 [not(a='call')] <start",
    content: "Grüße! 👨‍👩‍👧 [not(a='call')] <start",
  },
];
