import { describe, it } from "vitest";

import { responseRequest } from "../../../../src/api/responses/schema.ts";
import { toChatRequest } from "../../../../src/api/responses/to-chat-request.ts";
import { toThrownWireError, toWireError } from "../../../../src/api/responses/wire-error.ts";
import { parseWire } from "../../../../src/api/shared/schema.ts";
import { EdgeError, invalidRequest, type ApiError } from "../../../../src/core/api-error.ts";

const names = toChatRequest(
  parseWire(responseRequest, {
    model: "m",
    instructions: "i",
    input: [
      { type: "additional_tools", role: "developer", tools: [{ type: "function", name: "late" }] },
      { role: "user", content: "x" },
      { type: "function_call", call_id: "1", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "1", output: "y" },
    ],
    tools: [
      { type: "web_search" },
      { type: "namespace", name: "a", tools: [{ type: "function", name: "f" }] },
    ],
  }),
);

describe("an error in the words of responses", () => {
  const rows = [
    { param: "messages[1].content[2]", wire: "input[1].content[2]" },
    { param: "messages[3].content[0].type", wire: "input[3].output[0].type" },
    { param: "messages[0].content", wire: "instructions" },
    { param: "messages[9].content", wire: "input" },
    { param: "messages", wire: "input" },
    { param: "tools[0].function.parameters", wire: "tools[1].tools[0].parameters" },
    { param: "tools[1].function.parameters", wire: "input[0].tools[0].parameters" },
    { param: "response_format", wire: "text.format" },
    { param: "response_format.json_schema.schema.a", wire: "text.format.schema.a" },
    { param: "temperature", wire: "temperature" },
  ];

  it.for(rows)("names $wire for $param", ({ param, wire }, { expect }) => {
    const { error } = invalidRequest(`'${param}': is wrong.`, param, "why");
    expect(toWireError(error, names)).toEqual({
      kind: "invalid-request",
      detail: `'${wire}': is wrong.`,
      param: wire,
      code: "why",
    });
  });

  it("tells a prompt that is too long by this surface's fields", ({ expect }) => {
    const error: ApiError = {
      kind: "context-length-exceeded",
      limit: 8,
      promptTokens: 6,
      maxTokens: 4,
      param: "messages",
    };
    expect(toWireError(error, names)).toMatchObject({
      param: "input",
      code: "context_length_exceeded",
      detail: expect.stringMatching(/8 tokens.*10 \(6 .*4 .*max_output_tokens/) as string,
    });
  });

  it("leaves other errors alone, and keeps the cause", ({ expect }) => {
    const error: ApiError = { kind: "internal" };
    expect(toWireError(error, names)).toBe(error);
    const fault = new TypeError("x");
    expect(toThrownWireError(fault, names)).toBe(fault);
    const thrown = toThrownWireError(new EdgeError(error, fault), names);
    expect(thrown).toMatchObject({ error, cause: fault });
  });
});
