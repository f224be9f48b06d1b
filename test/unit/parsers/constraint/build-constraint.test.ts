import { describe, it } from "vitest";

import { buildConstraint } from "../../../../src/parsers/constraint/build-constraint.ts";
import type { ConstraintOptions } from "../../../../src/parsers/constraint/build-constraint.ts";
import { checkSchema } from "../../../../src/parsers/constraint/json-schema.ts";
import { refusalOf } from "./refusal.ts";

const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = { name: "get_weather", parameters: CITY, strict: false };
const strictWeather = { ...weather, strict: true };
const clock = { name: "clock", strict: false };
const SCHEMA = { type: "object", properties: { z: {}, a: {} }, required: ["z"] };
const TAG = { type: "structural_tag", format: { type: "any_text" } };
const jsonFormat = { type: "json-schema", schema: SCHEMA, strict: true } as const;

function build(options: Partial<ConstraintOptions>) {
  return buildConstraint({
    responseFormat: { type: "text" },
    toolChoice: { mode: "auto" },
    tools: [],
    parallelToolCalls: true,
    toolFormat: "qwen25",
    ...options,
  });
}

/** The constraint's text as JSON. */
function parsed(options: Partial<ConstraintOptions>) {
  const { constraint, reads } = build(options);
  return { type: constraint?.type, value: JSON.parse(constraint?.text ?? "null"), reads };
}

const tagsOf = (value: { readonly format: { readonly tags: readonly { begin: string }[] } }) =>
  value.format.tags.map(({ begin }) => begin);

describe("what a request asks for", () => {
  it.for<{
    readonly name: string;
    readonly options: Partial<ConstraintOptions>;
    readonly constraint: unknown;
  }>([
    { name: "nothing", options: {}, constraint: undefined },
    {
      name: "a JSON object",
      options: { responseFormat: { type: "json-object" } },
      constraint: { type: "json-schema", text: '{"type":"object"}' },
    },
    {
      name: "a schema, its keys in their order",
      options: { responseFormat: jsonFormat },
      constraint: {
        type: "json-schema",
        text: '{"type":"object","properties":{"z":{},"a":{}},"required":["z"]}',
      },
    },
    {
      name: "a schema that is not strict",
      options: { responseFormat: { ...jsonFormat, strict: false } },
      constraint: { type: "json-schema", text: JSON.stringify(SCHEMA) },
    },
    {
      name: "a structural tag as the response's format",
      options: { responseFormat: { type: "structural-tag", value: TAG } },
      constraint: { type: "structural-tag", text: JSON.stringify(TAG) },
    },
    {
      name: "an older structural tag",
      options: {
        responseFormat: {
          type: "structural-tag",
          value: { structures: [], triggers: [] },
        },
      },
      constraint: {
        type: "structural-tag",
        text: '{"type":"structural_tag","structures":[],"triggers":[]}',
      },
    },
    {
      name: "a regular expression",
      options: { regex: "a+" },
      constraint: { type: "regex", text: "a+" },
    },
    {
      name: "a grammar",
      options: { ebnf: 'root ::= "a"' },
      constraint: { type: "ebnf", text: 'root ::= "a"' },
    },
    {
      name: "a schema as text, which stays as it is",
      options: { jsonSchema: '{ "type": "string" }' },
      constraint: { type: "json-schema", text: '{ "type": "string" }' },
    },
    {
      name: "a structural tag as text, which stays as it is",
      options: { structuralTag: '{ "type": "structural_tag", "format": {} }' },
      constraint: { type: "structural-tag", text: '{ "type": "structural_tag", "format": {} }' },
    },
    {
      name: "an empty text is nothing",
      options: { regex: "", ebnf: "", jsonSchema: "", structuralTag: "" },
      constraint: undefined,
    },
    {
      name: "a format beside tools that may be called",
      options: { responseFormat: { type: "json-object" }, tools: [weather] },
      constraint: { type: "json-schema", text: '{"type":"object"}' },
    },
    {
      name: "a format when no tool may be called",
      options: { regex: "a", tools: [strictWeather], toolChoice: { mode: "none" } },
      constraint: { type: "regex", text: "a" },
    },
    {
      name: "no call, though tools are there",
      options: { tools: [strictWeather], toolChoice: { mode: "none" } },
      constraint: undefined,
    },
    {
      name: "tools that are not strict",
      options: { tools: [weather, clock] },
      constraint: undefined,
    },
    {
      name: "a strict tool of a format without tags",
      options: { tools: [strictWeather], toolFormat: "glm45" },
      constraint: undefined,
    },
    {
      name: "a strict tool that is not allowed",
      options: {
        tools: [strictWeather, clock],
        toolChoice: { mode: "auto", allowed: ["clock"] },
      },
      constraint: undefined,
    },
    {
      name: "a regular expression beside a strict tool",
      options: { regex: "a", tools: [strictWeather] },
      constraint: { type: "regex", text: "a" },
    },
  ])("$name", ({ options, constraint }, { expect }) => {
    expect(build(options)).toEqual({ constraint, reads: "format" });
  });
});

describe("a call that must come", () => {
  it("is in the model's own format where that has tags", ({ expect }) => {
    const { type, value, reads } = parsed({
      tools: [weather, clock],
      toolChoice: { mode: "required" },
    });
    expect({ type, reads }).toEqual({ type: "structural-tag", reads: "format" });
    expect(value).toEqual({
      type: "structural_tag",
      format: {
        type: "triggered_tags",
        triggers: ["<tool_call>"],
        tags: [
          {
            type: "tag",
            begin: '<tool_call>\n{"name": "get_weather", "arguments": ',
            content: { type: "json_schema", json_schema: CITY },
            end: "}\n</tool_call>",
          },
          {
            type: "tag",
            begin: '<tool_call>\n{"name": "clock", "arguments": ',
            content: { type: "json_schema", json_schema: { type: "object", properties: {} } },
            end: "}\n</tool_call>",
          },
        ],
        at_least_one: true,
        stop_after_first: false,
      },
    });
  });

  it("is a JSON array elsewhere", ({ expect }) => {
    const { type, value, reads } = parsed({
      tools: [weather, clock],
      toolChoice: { mode: "required" },
      toolFormat: "glm45",
    });
    expect({ type, reads }).toEqual({ type: "json-schema", reads: "json-array" });
    const call = (name: string, parameters: object): object => ({
      type: "object",
      properties: { name: { type: "string", enum: [name] }, parameters },
      required: ["name", "parameters"],
      additionalProperties: false,
    });
    expect(value).toEqual({
      type: "array",
      minItems: 1,
      items: {
        anyOf: [call("get_weather", CITY), call("clock", { type: "object", properties: {} })],
      },
    });
  });

  it("is one call when calls may not come side by side, or when it is named", ({ expect }) => {
    const tools = [weather, clock];
    const single = { toolChoice: { mode: "required" }, parallelToolCalls: false } as const;
    const named = { toolChoice: { mode: "required", allowed: ["clock"] } } as const;
    for (const options of [single, named]) {
      expect(parsed({ tools, ...options }).value.format.stop_after_first).toBe(true);
      expect(parsed({ tools, toolFormat: "glm45", ...options }).value.maxItems).toBe(1);
    }
  });

  it("is of one of the allowed tools", ({ expect }) => {
    const tools = [weather, clock, { ...clock, name: "third" }];
    const toolChoice = { mode: "required", allowed: ["third", "clock"] } as const;
    const { value } = parsed({ tools, toolChoice });
    expect(tagsOf(value)).toEqual([
      '<tool_call>\n{"name": "clock", "arguments": ',
      '<tool_call>\n{"name": "third", "arguments": ',
    ]);
    expect(value.format.stop_after_first).toBe(false);
  });

  it("is left to the model in a format that no grammar fits", ({ expect }) => {
    const toolChoice = { mode: "required" } as const;
    expect(build({ tools: [weather], toolChoice, toolFormat: "muse" })).toEqual({
      constraint: undefined,
      reads: "format",
    });
  });

  it("has an object for its arguments, also when the schema does not say so", ({ expect }) => {
    const parameters = { properties: { a: {} } };
    const { value } = parsed({
      tools: [{ ...clock, parameters }],
      toolChoice: { mode: "required" },
    });
    expect(value.format.tags[0].content.json_schema).toEqual({ type: "object", ...parameters });
  });

  it("keeps the definitions of all tools in one schema that is whole", ({ expect }) => {
    const tool = (name: string, type: string) => ({
      name,
      strict: true,
      parameters: {
        type: "object",
        properties: {
          a: { $ref: "#/$defs/A" },
          again: { $ref: "#" },
          b: { $ref: "#/properties/a" },
        },
        $defs: { A: { type } },
      },
    });
    const { value } = parsed({
      tools: [tool("one", "string"), tool("two", "number")],
      toolChoice: { mode: "required" },
      toolFormat: "pythonic",
    });
    expect(refusalOf(() => checkSchema(value, "x"))).toBeUndefined();
    expect(value.$defs).toEqual({ A: { type: "string" }, A_2: { type: "number" } });
    expect(value.items.anyOf[1].properties.parameters.properties).toEqual({
      a: { $ref: "#/$defs/A_2" },
      again: { $ref: "#/items/anyOf/1/properties/parameters" },
      b: { $ref: "#/items/anyOf/1/properties/parameters/properties/a" },
    });
  });
});

describe("a strict tool that may be called", () => {
  it("has its schema kept, the others only their names", ({ expect }) => {
    const { value, reads } = parsed({ tools: [strictWeather, clock] });
    expect(reads).toBe("format");
    expect(value.format).toMatchObject({ at_least_one: false, stop_after_first: false });
    const schemas = value.format.tags.map(
      (tag: { readonly content: { readonly json_schema: unknown } }) => tag.content.json_schema,
    );
    expect(schemas).toEqual([CITY, { type: "object" }]);
  });

  it("is called once at most when calls may not come side by side", ({ expect }) => {
    const { value } = parsed({ tools: [strictWeather], parallelToolCalls: false });
    expect(value.format).toMatchObject({ at_least_one: false, stop_after_first: true });
  });

  it("is the other choice beside an answer in JSON", ({ expect }) => {
    const { type, value } = parsed({ tools: [strictWeather], responseFormat: jsonFormat });
    expect(type).toBe("structural-tag");
    expect(value.format).toMatchObject({
      type: "or",
      elements: [
        { type: "json_schema", json_schema: SCHEMA },
        { type: "triggered_tags", at_least_one: true },
      ],
    });
  });

  it("yields to an answer in JSON where the format has no tags", ({ expect }) => {
    const { type, value } = parsed({
      tools: [strictWeather],
      responseFormat: jsonFormat,
      toolFormat: "glm45",
    });
    expect({ type, value }).toEqual({ type: "json-schema", value: SCHEMA });
  });
});

describe("a request that cannot be met is refused, with the field's name", () => {
  const required = { mode: "required" } as const;
  it.for<{
    readonly name: string;
    readonly options: Partial<ConstraintOptions>;
    readonly param: string;
  }>([
    {
      name: "two constraints",
      options: { responseFormat: { type: "json-object" }, regex: "a" },
      param: "regex",
    },
    {
      name: "a grammar and a schema",
      options: { ebnf: 'root ::= "a"', jsonSchema: "{}" },
      param: "json_schema",
    },
    {
      name: "a schema and a structural tag",
      options: { jsonSchema: "{}", structuralTag: JSON.stringify(TAG) },
      param: "structural_tag",
    },
    {
      name: "a format and a call that must come",
      options: { responseFormat: jsonFormat, tools: [weather], toolChoice: required },
      param: "response_format",
    },
    {
      name: "a grammar and a call that must come",
      options: { ebnf: "a", tools: [weather], toolChoice: required },
      param: "ebnf",
    },
    { name: "a call without tools", options: { toolChoice: required }, param: "tool_choice" },
    {
      name: "a call of nobody",
      options: { tools: [weather], toolChoice: { mode: "required", allowed: [] } },
      param: "tool_choice",
    },
    {
      name: "a function that is not declared",
      options: { tools: [weather], toolChoice: { mode: "required", allowed: ["x"] } },
      param: "tool_choice",
    },
    {
      name: "an allowed function that is not declared",
      options: { tools: [weather], toolChoice: { mode: "auto", allowed: ["get_weather", "x"] } },
      param: "tool_choice",
    },
    {
      name: "two functions of one name",
      options: { tools: [weather, weather], toolChoice: required },
      param: "tools[1].function.name",
    },
    {
      name: "a tool's schema that nobody can follow",
      options: {
        tools: [clock, { ...weather, parameters: { type: "dict" } }],
        toolChoice: required,
      },
      param: "tools[1].function.parameters",
    },
    {
      name: "a strict tool's schema that nobody can follow",
      options: { tools: [{ ...strictWeather, parameters: { $ref: "#/x" } }] },
      param: "tools[0].function.parameters",
    },
    {
      name: "a schema that nobody can follow",
      options: { responseFormat: { ...jsonFormat, schema: { enum: [] } } },
      param: "response_format.json_schema.schema",
    },
    { name: "a schema that is no JSON", options: { jsonSchema: "{" }, param: "json_schema" },
    { name: "a schema that is none", options: { jsonSchema: "[]" }, param: "json_schema" },
    { name: "a tag that is no JSON", options: { structuralTag: "<a>" }, param: "structural_tag" },
    { name: "a tag that is none", options: { structuralTag: "{}" }, param: "structural_tag" },
    {
      name: "a tag of another type",
      options: { responseFormat: { type: "structural-tag", value: { ...TAG, type: "tag" } } },
      param: "response_format",
    },
    { name: "a pattern without end", options: { regex: "a".repeat(300_000) }, param: "regex" },
  ])("$name", ({ options, param }, { expect }) => {
    expect(refusalOf(() => build(options))?.param).toBe(param);
  });

  it("but not for a schema that constrains nothing", ({ expect }) => {
    const tools = [{ ...weather, parameters: { type: "dict" } }];
    expect(build({ tools })).toEqual({ constraint: undefined, reads: "format" });
  });
});
