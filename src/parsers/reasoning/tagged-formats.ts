import type { ReasoningFormat } from "../output-parser.ts";
import type { TaggedFormat } from "./tagged-reasoning.ts";
import { createTaggedFormat } from "./tagged-reasoning.ts";

type Asked = TaggedFormat["start"]["asked"];

const THINK = { starts: ["<think>"], ends: ["</think>"] } as const;

const TOOL_CALL = "<tool_call>";

/** Says nothing: the format has no toggle. */
const none: Asked = () => undefined;

/** A kwarg of the chat template that turns thinking on and off. */
function toggle(kwarg: string): Asked {
  return ({ templateKwargs }) => {
    const value = templateKwargs[kwarg];
    return typeof value === "boolean" ? value : undefined;
  };
}

/**
 * Thinking is on for every reasoning effort but these. Clients send an effort to any model, so it says nothing to a
 * template that does not read it.
 */
function effort(...off: readonly string[]): Asked {
  return ({ template, templateKwargs, reasoningEffort }) => {
    const value = templateKwargs["reasoning_effort"] ?? reasoningEffort;
    if (typeof value !== "string") return undefined;
    if (template !== "" && !template.includes("reasoning_effort")) return undefined;
    return !off.includes(value);
  };
}

/** In a thought whatever the template looks like: the start marker is optional. */
const ALWAYS = { asked: none, byDefault: true, isMarkerOptional: true } as const;
const NEVER = { asked: none, byDefault: false } as const;

const FORMATS: readonly TaggedFormat[] = [
  { name: "deepseek-r1", ...THINK, start: ALWAYS },
  { name: "step3", ...THINK, start: ALWAYS },
  { name: "step3p5", ...THINK, start: ALWAYS },
  { name: "qwen3-thinking", ...THINK, toolStarts: [TOOL_CALL], start: ALWAYS },
  {
    name: "minimax",
    ...THINK,
    toolStarts: [TOOL_CALL, "<minimax:tool_call>"],
    start: ALWAYS,
  },
  {
    name: "qwen3",
    ...THINK,
    toolStarts: [TOOL_CALL],
    start: { asked: toggle("enable_thinking"), byDefault: true },
  },
  {
    name: "interns1",
    ...THINK,
    toolStarts: [TOOL_CALL, "<|action_start|>"],
    start: { asked: toggle("enable_thinking"), byDefault: true },
  },
  {
    name: "glm45",
    ...THINK,
    toolStarts: [TOOL_CALL],
    start: { asked: toggle("enable_thinking"), byDefault: true },
  },
  {
    name: "nemotron_3",
    ...THINK,
    toolStarts: [TOOL_CALL],
    start: { asked: toggle("enable_thinking"), byDefault: true },
  },
  {
    name: "deepseek-v3",
    ...THINK,
    toolStarts: [TOOL_CALL, "<｜tool▁calls▁begin｜>", "<｜DSML｜"],
    tokens: ["｜DSML｜"],
    start: { asked: toggle("thinking"), byDefault: false },
  },
  {
    name: "deepseek-v4",
    ...THINK,
    toolStarts: ["<｜DSML｜"],
    tokens: ["｜DSML｜"],
    start: { asked: toggle("thinking"), byDefault: false },
  },
  {
    name: "kimi_k2",
    ...THINK,
    toolStarts: ["<|tool_calls_section_begin|>"],
    start: { asked: toggle("thinking"), byDefault: true },
  },
  { name: "kimi", starts: ["◁think▷"], ends: ["◁/think▷"], start: NEVER },
  {
    name: "mistral",
    starts: ["[THINK]"],
    ends: ["[/THINK]"],
    start: { asked: effort("none"), byDefault: false },
  },
  {
    // The shipped tokenizers write their markers with a suffix, the documentation without.
    name: "hunyuan",
    starts: ["<think>", "<think:opensource>"],
    ends: ["</think>", "</think:opensource>"],
    toolStarts: ["<tool_calls>", "<tool_calls:opensource>"],
    start: { asked: effort("none", "no_think"), byDefault: true },
  },
  {
    // Earlier turns without a thought begin with the end marker in this model's template, and so may its replies.
    name: "minimax-m3",
    starts: ["<mm:think>"],
    ends: ["</mm:think>"],
    dropsLeadingEnd: true,
    start: {
      asked: ({ templateKwargs }) => {
        const mode = templateKwargs["thinking_mode"];
        return mode === undefined ? undefined : mode === "enabled";
      },
      byDefault: false,
    },
  },
  {
    name: "mimo",
    ...THINK,
    toolStarts: [TOOL_CALL],
    start: { asked: toggle("enable_thinking"), byDefault: false },
  },
  {
    name: "poolside_v1",
    ...THINK,
    toolStarts: [TOOL_CALL],
    start: { asked: toggle("enable_thinking"), byDefault: false },
  },
  {
    // Thinks in several blocks, and calls tools inside of them.
    name: "apertus2509",
    starts: ["<|inner_prefix|>"],
    ends: ["<|inner_suffix|>"],
    toolStarts: ["<|tools_prefix|>"],
    toolEnd: "<|tools_suffix|>",
    opensAnywhere: true,
    start: NEVER,
  },
];

/** The formats that differ in their markers and toggles only. */
export const TAGGED_FORMATS: readonly ReasoningFormat[] = FORMATS.map(createTaggedFormat);
