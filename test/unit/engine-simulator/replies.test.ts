import { describe, it } from "vitest";

import { sampleJson } from "../../../scripts/engine/json-sample.ts";
import { lastQuestion } from "../../../scripts/engine/last-question.ts";

const prompts = [
  {
    format: "ChatML",
    prompt:
      "<|im_start|>user\nold<|im_end|>\n<|im_start|>user\nnew?<|im_end|>\n<|im_start|>assistant\n",
  },
  {
    format: "Llama 3",
    prompt:
      "<|start_header_id|>user<|end_header_id|>\n\nnew?<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
  },
  {
    format: "Llama 4",
    prompt:
      "<|header_start|>user<|header_end|>\n\nnew?<|eot|><|header_start|>assistant<|header_end|>\n\n",
  },
  { format: "Gemma", prompt: "<start_of_turn>user\nnew?<end_of_turn>\n<start_of_turn>model\n" },
  { format: "Harmony", prompt: "<|start|>user<|message|>new?<|end|><|start|>assistant" },
  {
    format: "DeepSeek",
    prompt: "<｜User｜>old<｜Assistant｜>x<｜end▁of▁sentence｜><｜User｜>new?<｜Assistant｜>",
  },
  { format: "Mistral", prompt: "<s>[INST] old [/INST] x</s>[INST] new? [/INST]" },
  {
    format: "Kimi",
    prompt: "<|im_user|>user<|im_middle|>new?<|im_end|><|im_assistant|>assistant<|im_middle|>",
  },
  { format: "GLM", prompt: "[gMASK]<sop><|user|>\nnew?<|assistant|>\n" },
  { format: "Alpaca", prompt: "### Instruction:\nnew?\n\n### Response:\n" },
  { format: "Vicuna", prompt: "A chat.\nUSER: new? ASSISTANT:" },
  { format: "none", prompt: "new?" },
];

describe("lastQuestion", () => {
  it.for(prompts)("finds the last user turn of $format", ({ prompt }, { expect }) => {
    expect(lastQuestion(prompt)).toBe("new?");
  });

  it("falls back to the last lines and shortens", ({ expect }) => {
    expect(lastQuestion("a\nb\n\nc\nd\n")).toBe("b\nc\nd");
    expect(lastQuestion("x".repeat(1000))).toBe(`${"x".repeat(200)}…`);
    expect(lastQuestion(`${"x".repeat(199)}😀`).isWellFormed()).toBe(true);
  });
});

const schemas: readonly { readonly schema: unknown; readonly sample: unknown }[] = [
  { schema: { type: "string" }, sample: "simulated" },
  { schema: { type: "string", maxLength: 3 }, sample: "sim" },
  { schema: { type: "string", minLength: 12 }, sample: "simulated..." },
  { schema: { type: "string", format: "date" }, sample: "2000-01-01" },
  { schema: { type: "integer", minimum: 3 }, sample: 3 },
  { schema: { type: "integer", exclusiveMinimum: 3 }, sample: 4 },
  { schema: { type: "integer", maximum: -5 }, sample: -5 },
  { schema: { type: "number", minimum: 0.5 }, sample: 0.5 },
  { schema: { type: "integer", minimum: 5, multipleOf: 4 }, sample: 8 },
  { schema: { type: ["null", "string"] }, sample: null },
  { schema: { const: { a: 1 } }, sample: { a: 1 } },
  { schema: { type: "array", items: { type: "boolean" }, minItems: 2 }, sample: [true, true] },
  { schema: { type: "array", items: { type: "boolean" } }, sample: [] },
  { schema: { prefixItems: [{ type: "integer" }, { const: "b" }] }, sample: [0, "b"] },
  { schema: { anyOf: [{ type: "null" }, { type: "string" }] }, sample: null },
  {
    schema: {
      allOf: [{ $ref: "#/$defs/a" }, { required: ["y"], properties: { y: { enum: ["q"] } } }],
      $defs: { a: { type: "object", required: ["x"], properties: { x: { type: "integer" } } } },
    },
    sample: { x: 0, y: "q" },
  },
  {
    schema: {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          required: ["v"],
          properties: { v: { type: "boolean" }, next: { $ref: "#/$defs/node" } },
        },
      },
    },
    sample: { v: true },
  },
  { schema: {}, sample: {} },
];

describe("sampleJson", () => {
  it.for(schemas)("$schema", ({ schema, sample }, { expect }) => {
    expect(JSON.parse(sampleJson(JSON.stringify(schema)) ?? "")).toEqual(sample);
  });

  it("ends on a schema that needs itself, and knows no answer to what is not JSON", ({
    expect,
  }) => {
    const endless = {
      $ref: "#/$defs/a",
      $defs: { a: { required: ["a"], properties: { a: { $ref: "#/$defs/a" } } } },
    };
    expect(sampleJson(JSON.stringify(endless))).toContain('{"a":{"a":');
    expect(sampleJson("{")).toBeUndefined();
  });
});
