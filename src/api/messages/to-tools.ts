import { invalidRequest } from "../../core/api-error.ts";
import type { ToolChoice, ToolDefinition } from "../../core/chat-request.ts";
import { dropUnset } from "../shared/drop-unset.ts";
import { toToolChoice } from "../shared/to-tools.ts";
import type { WireTool, WireToolChoice } from "./schema.ts";

/** Anthropic's tools. Throws EdgeError when two have the same name. */
export function toTools(wire: readonly WireTool[]): readonly ToolDefinition[] {
  const names = new Set<string>();
  return wire.map((tool, index) => {
    const { name, input_schema: parameters, strict } = tool;
    if (names.has(name)) {
      const param = `tools[${index}].name`;
      throw invalidRequest(`'${param}': another tool has the name '${name}'.`, param);
    }
    names.add(name);
    const set = { ...dropUnset({ description: tool.description }), parameters };
    return {
      name,
      ...set,
      strict: strict ?? false,
      forTemplate: { type: "function", function: { name, ...set, ...dropUnset({ strict }) } },
    };
  });
}

/** Throws EdgeError for a choice that the tools cannot meet. */
export function toChoice(
  wire: WireToolChoice | null | undefined,
  tools: readonly ToolDefinition[],
): ToolChoice {
  switch (wire?.type) {
    case undefined:
      return toToolChoice(undefined, tools);
    case "auto":
    case "none":
      return toToolChoice(wire.type, tools);
    case "any":
      return toToolChoice("required", tools);
    case "tool":
      return toToolChoice({ type: "function", name: wire.name }, tools);
  }
}
