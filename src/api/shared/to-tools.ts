import { invalidRequest } from "../../core/api-error.ts";
import type { ToolChoice, ToolDefinition } from "../../core/chat-request.ts";
import { dropUnset } from "./drop-unset.ts";
import { nameOf, type WireTool, type WireToolChoice } from "./tool-schema.ts";

/** The tools of a request. Throws EdgeError when two have the same name. */
export function toTools(wire: readonly WireTool[] | null | undefined): readonly ToolDefinition[] {
  const names = new Set<string>();
  const tools: ToolDefinition[] = [];
  for (const [index, { function: called }] of (wire ?? []).entries()) {
    const { name, strict, ...rest } = called;
    if (names.has(name)) {
      const param = `tools[${index}].function.name`;
      throw invalidRequest(`'${param}': another tool has the name '${name}'.`, param);
    }
    names.add(name);
    const set = dropUnset(rest);
    tools.push({
      name,
      ...set,
      strict: strict ?? false,
      forTemplate: { type: "function", function: { name, ...set, ...dropUnset({ strict }) } },
    });
  }
  return tools;
}

/** Throws EdgeError for a choice that the tools cannot meet. */
export function toToolChoice(
  wire: WireToolChoice | null | undefined,
  tools: readonly ToolDefinition[],
): ToolChoice {
  const choice = readChoice(wire, tools);
  if (choice.mode === "required" && tools.length === 0) {
    throw invalidRequest("'tool_choice' needs 'tools'.", "tool_choice");
  }
  for (const name of choice.allowed ?? []) {
    if (!tools.some((tool) => tool.name === name)) {
      throw invalidRequest(
        `'tool_choice' names the function '${name}', which is not in 'tools'.`,
        "tool_choice",
      );
    }
  }
  if (choice.allowed?.length === 0) {
    throw invalidRequest("'tool_choice' allows no tool at all.", "tool_choice");
  }
  return choice;
}

function readChoice(
  wire: WireToolChoice | null | undefined,
  tools: readonly ToolDefinition[],
): ToolChoice {
  if (wire === null || wire === undefined) return { mode: tools.length > 0 ? "auto" : "none" };
  if (typeof wire === "string") {
    return { mode: tools.length === 0 && wire === "auto" ? "none" : wire };
  }
  if (wire.type === "function") return { mode: "required", allowed: [nameOf(wire)] };
  const { mode, tools: allowed } = "allowed_tools" in wire ? wire.allowed_tools : wire;
  return { mode, allowed: allowed.map(nameOf) };
}
