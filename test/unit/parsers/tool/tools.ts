import type { ToolSignature } from "../../../../src/parsers/output-parser.ts";

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
  {
    name: "run",
    parameters: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
  },
];
