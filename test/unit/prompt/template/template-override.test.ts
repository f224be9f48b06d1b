import { describe, it } from "vitest";

import { EdgeError } from "../../../../src/core/api-error.ts";
import { BUILTIN_TEMPLATES } from "../../../../src/prompt/template/builtin-templates.ts";
import {
  BUILTIN_TEMPLATE_NAMES,
  builtinTemplate,
  parseTemplateOverride,
} from "../../../../src/prompt/template/builtin.ts";
import type { TemplateMessage } from "../../../../src/prompt/template/chat-template.ts";
import { compileChatTemplate } from "../../../../src/prompt/template/compile-chat-template.ts";
import { readTemplateOverride } from "../../../../src/prompt/template/template-override.ts";

const CHAT: readonly TemplateMessage[] = [
  { role: "system", content: "S" },
  { role: "user", content: " a " },
  { role: "assistant", content: "b" },
  { role: "user", content: "c" },
];

function render(text: string, fileName: string, messages = CHAT): string {
  return compileChatTemplate({
    templates: readTemplateOverride(text, fileName).templates,
    specialTokens: { bos_token: "<s>", eos_token: "</s>" },
  }).render({
    messages,
    addGenerationPrompt: true,
    continueFinalMessage: false,
    kwargs: {},
    now: new Date(0),
  });
}

describe("built-in templates", () => {
  const rows: readonly [string, string][] = [
    [
      "chatml",
      "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\n a <|im_end|>\n<|im_start|>assistant\nb<|im_end|>\n<|im_start|>user\nc<|im_end|>\n<|im_start|>assistant\n",
    ],
    [
      "llama-3",
      "<s><|start_header_id|>system<|end_header_id|>\n\nS<|eot_id|><|start_header_id|>user<|end_header_id|>\n\na<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nb<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nc<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
    ],
    [
      "llama-4",
      "<s><|header_start|>system<|header_end|>\n\nS<|eot|><|header_start|>user<|header_end|>\n\na<|eot|><|header_start|>assistant<|header_end|>\n\nb<|eot|><|header_start|>user<|header_end|>\n\nc<|eot|><|header_start|>assistant<|header_end|>\n\n",
    ],
    ["llama-2", "<s>[INST] <<SYS>>\nS\n<</SYS>>\n\na [/INST] b </s><s>[INST] c [/INST]"],
    ["mistral", "<s>[SYSTEM_PROMPT]S[/SYSTEM_PROMPT][INST] a [/INST]b</s>[INST]c[/INST]"],
    [
      "gemma",
      "<s><start_of_turn>user\nS\n\na<end_of_turn>\n<start_of_turn>model\nb<end_of_turn>\n<start_of_turn>user\nc<end_of_turn>\n<start_of_turn>model\n",
    ],
    ["deepseek", "<s>S<｜User｜> a <｜Assistant｜>b</s><｜User｜>c<｜Assistant｜>"],
    ["vicuna", "S USER:  a  ASSISTANT: b</s> USER: c ASSISTANT:"],
    [
      "phi-3",
      "<|system|>\nS<|end|>\n<|user|>\n a <|end|>\n<|assistant|>\nb<|end|>\n<|user|>\nc<|end|>\n<|assistant|>\n",
    ],
  ];
  it.for(rows)("%s", ([name, text], { expect }) => {
    expect(render(name, "")).toBe(text);
  });

  it("without a system message", ({ expect }) => {
    const messages = [{ role: "user", content: "a" }];
    expect(render("chatml", "", messages)).toMatch(/^<\|im_start\|>system\nYou are a helpful/);
    expect(render("mistral", "", messages)).toBe("<s>[INST]a[/INST]");
    expect(render("vicuna", "", messages)).toMatch(/^A chat between .* USER: a ASSISTANT:$/);
  });

  it.for(BUILTIN_TEMPLATE_NAMES)("%s is valid and ends its replies", (name, { expect }) => {
    expect(render(name, "", [{ role: "user", content: null }])).toBeTypeOf("string");
    expect(parseTemplateOverride(name, "")).toBe(builtinTemplate(name));
    expect(readTemplateOverride(`${name}\n`, "x").stop).toEqual(BUILTIN_TEMPLATES.get(name)?.stop);
  });
});

describe("JSON conversation templates", () => {
  const BASE = {
    name: "mine",
    system: "<sys>",
    system_message: "Default.",
    user: "U",
    assistant: "A",
    sep: "|",
    sep2: "#",
    stop_str: ["x", "y"],
  };
  // What SGLang's Conversation.get_prompt() gives for CHAT and an open assistant turn.
  const rows: readonly [string, string][] = [
    ["ADD_COLON_SINGLE", "<sys>\nS|U:  a |A: b|U: c|A:"],
    ["ADD_COLON_TWO", "<sys>\nS|U:  a |A: b#U: c|A:"],
    ["ADD_COLON_SPACE_SINGLE", "<sys>\nS|U:  a |A: b|U: c|A: "],
    ["NO_COLON_SINGLE", "<sys>\nSU a |Ab|Uc|A"],
    ["NO_COLON_TWO", "<sys>\nSU a |Ab#Uc|A"],
    ["ADD_NEW_LINE_SINGLE", "<sys>\nS|U\n a |A\nb|U\nc|A\n"],
    ["LLAMA2", "<sys>\nS a  A b#U c|A"],
    [
      "LLAMA3",
      "<sys>\nS<|start_header_id|>U<|end_header_id|>\n\na<|eot_id|><|start_header_id|>A<|end_header_id|>\n\nb<|eot_id|><|start_header_id|>U<|end_header_id|>\n\nc<|eot_id|><|start_header_id|>A<|end_header_id|>\n\n",
    ],
    ["CHATGLM", "<sys>\nS|[Round 0]|U： a |A：b|[Round 1]|U：c|A："],
    ["CHATML", "<sys>\nS|\nU\n a |\nA\nb|\nU\nc|\nA\n"],
    ["CHATINTERN", "<sys>\nS<s>U: a |\nA:b#\n<s>U:c|\nA:"],
    ["DOLLY", "<sys>\nSU:\n a |A:\nb#\n\nU:\nc|A:\n"],
    ["RWKV", "<sys>\nSU:  a \n\nA: b\n\nU: c\n\nA:"],
    ["PHOENIX", "<sys>\nSU: <s> a </s>A: <s>b</s>U: <s>c</s>A: <s>"],
    ["ROBIN", "<sys>\nS|U:\n a |A:\nb|U:\nc|A:\n"],
    ["FALCON_CHAT", "<sys>\nS|U:  a |A: b|U: c|A:"],
    ["CHATGLM3", "<sys>\nSU\n a A\nbU\ncA"],
    ["DEEPSEEK_CHAT", "<sys>\nSU:  a |A: b#U: c|A:"],
    ["METAMATH", "<sys>\nS|U:\n a |A: #bU:\nc|A: #"],
    ["DeepSeekVL2", "<sys>\nS|U:  a |A: b#U: c|A:"],
    ["QWEN2_VL_EMBED", "<sys>\nS|U\n a |A\nb|U\nc|A\nxy"],
    ["GEMMA3", "<sys>\nS a |Ab|Uc|A"],
    ["MPT", "<sys>\nS|U a |Ab|Uc|A"],
  ];
  it.for(rows)("%s", ([style, text], { expect }) => {
    expect(render(JSON.stringify({ ...BASE, sep_style: style }), "t.json")).toBe(text);
  });

  it("keeps its own system message and stop strings", ({ expect }) => {
    const file = JSON.stringify({
      ...BASE,
      sep_style: "NO_COLON_SINGLE",
      system: "{{braces}} 'q' \"é\"\\",
    });
    expect(render(file, "t.json", [{ role: "user", content: "a" }])).toBe(
      "{braces} 'q' \"é\"\\\nDefault.Ua|A",
    );
    expect(readTemplateOverride(file, "t.json").stop).toEqual(["x", "y"]);
  });

  it("refuses roles that it has no word for", ({ expect }) => {
    const file = JSON.stringify({ ...BASE, sep_style: "MPT" });
    expect(() => render(file, "t.json", [{ role: "tool", content: "x" }])).toThrow(EdgeError);
  });
});

describe("files", () => {
  const rows: readonly [string, string, Record<string, string>][] = [
    ["\n\n{{ 1 }}\n\n", "a.jinja", { default: "{{ 1 }}" }],
    [JSON.stringify({ chat_template: "x" }), "chat_template.json", { default: "x" }],
    [
      JSON.stringify({
        chat_template: [
          { name: "default", template: "x" },
          { name: "tool_use", template: "y" },
        ],
      }),
      "chat_template.json",
      { default: "x", tool_use: "y" },
    ],
  ];
  it.for(rows)("%j", ([text, name, templates], { expect }) => {
    expect(readTemplateOverride(text, name)).toEqual({ templates, stop: [] });
    expect(parseTemplateOverride(text, name)).toBe(templates["default"]);
  });

  const wrong: readonly [string, string][] = [
    ["{% if %}", "a.jinja"],
    ["{", "a.json"],
    ["[]", "a.json"],
    ["{}", "a.json"],
    ['{"chat_template": []}', "a.json"],
    ['{"sep_style": "NO_SUCH"}', "a.json"],
    ['{"sep_style": "MPT"}', "a.json"],
    ['{"sep_style": "MPT", "system": "", "user": "", "assistant": "", "stop_str": [1]}', "a.json"],
  ];
  it.for(wrong)("%s is refused", ([text, name], { expect }) => {
    expect(() => parseTemplateOverride(text, name)).toThrow(EdgeError);
  });
});
