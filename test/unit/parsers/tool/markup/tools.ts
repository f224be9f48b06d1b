import type { ToolSignature } from "../../../../../src/parsers/output-parser.ts";

/** The tools that the cases declare. */
export const TOOLS: readonly ToolSignature[] = [
  {
    name: "get_weather",
    parameters: {
      type: "object",
      properties: {
        city: { type: "string" },
        days: { type: "integer" },
        metric: { type: "boolean" },
        opts: { type: "object" },
        tags: { type: "array", items: { type: "string" } },
      },
      required: ["city"],
    },
  },
  { name: "ping", parameters: { type: "object", properties: {} } },
  { name: "bare", parameters: undefined },
  { name: "ask", parameters: { type: "object", properties: { q: { type: "string" } } } },
  {
    name: "ask_followup_question",
    parameters: { type: "object", properties: { q: { type: "string" } } },
  },
  { name: "run", parameters: { type: "object", properties: { code: { type: "string" } } } },
  {
    name: "typed",
    parameters: {
      type: "object",
      properties: {
        string: { type: "string" },
        integer: { type: "integer" },
        number: { type: "number" },
        boolean: { type: "boolean" },
        object: { type: "object", properties: { x: { type: "integer" }, y: { type: "string" } } },
        array: { type: "array", items: { type: "integer" } },
        people: { type: "array", items: { $ref: "#/$defs/person" } },
        person: { $ref: "#/$defs/person" },
        nothing: { type: "null" },
        nullable: { type: ["string", "null"] },
        maybe: { anyOf: [{ type: "integer" }, { type: "null" }] },
        either: { oneOf: [{ type: "string" }, { type: "integer" }] },
        choice: { enum: ["a", "b", 1] },
        level: { enum: ["low", "high"] },
        fixed: { const: true },
        both: { allOf: [{ $ref: "#/$defs/count" }, { minimum: 1 }] },
        free: {},
      },
      $defs: {
        count: { type: "integer" },
        person: {
          type: "object",
          properties: { name: { type: "string" }, age: { type: "integer" } },
        },
      },
    },
  },
];
