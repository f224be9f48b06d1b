import { invalidRequest } from "../../core/api-error.ts";
import type { ToolDefinition } from "../../core/chat-request.ts";
import { toTools } from "../shared/to-tools.ts";
import type { WireItem } from "./input-schema.ts";
import {
  isBuiltIn,
  type WireCustomTool,
  type WireFunctionTool,
  type WireResponseTool,
} from "./tool-schema.ts";

/** A tool as the client knows it. */
export interface ToolOrigin {
  readonly kind: "function" | "custom";
  readonly name: string;
  readonly namespace?: string;
  /** Its path on the wire, e.g. `tools[2].tools[0]`. */
  readonly path: string;
}

export interface RequestTools {
  readonly definitions: readonly ToolDefinition[];
  /** By the name that the model sees. */
  readonly origins: ReadonlyMap<string, ToolOrigin>;
  /** Built-in tools that were left out. */
  readonly builtIns: readonly { readonly type: string; readonly path: string }[];
}

/** The one argument of a custom tool. */
export const CUSTOM_INPUT = "input";

/**
 * All tools of a request, those of `additional_tools` items included. The model knows the tools of a namespace as
 * `<namespace>__<name>`. Throws EdgeError when two have the same name then.
 */
export function toRequestTools(
  tools: readonly WireResponseTool[],
  items: readonly WireItem[],
): RequestTools {
  const collected = new Collection();
  collected.add(tools, "tools");
  for (const [index, item] of items.entries()) {
    if (item.type === "additional_tools") collected.add(item.tools, `input[${index}].tools`);
  }
  return {
    definitions: toTools(collected.functions),
    origins: collected.origins,
    builtIns: collected.builtIns,
  };
}

/** The name that the model sees. Underscores are not doubled: `mcp__files__` and `read` give `mcp__files__read`. */
export function flattenName(name: string, namespace: string | null | undefined): string {
  if (namespace === null || namespace === undefined || namespace === "") return name;
  return `${namespace.replace(/_+$/, "")}__${name.replace(/^_+/, "")}`;
}

type FunctionOnWire = NonNullable<Parameters<typeof toTools>[0]>[number];

class Collection {
  readonly functions: FunctionOnWire[] = [];
  readonly origins = new Map<string, ToolOrigin>();
  readonly builtIns: { readonly type: string; readonly path: string }[] = [];

  add(tools: readonly WireResponseTool[], path: string): void {
    for (const [index, tool] of tools.entries()) this.#addTool(tool, `${path}[${index}]`);
  }

  #addTool(tool: WireResponseTool, path: string): void {
    if (isBuiltIn(tool)) {
      this.builtIns.push({ type: tool.type, path });
      return;
    }
    if (tool.type !== "namespace") {
      this.#addFunction(tool, { kind: tool.type, name: tool.name, path });
      return;
    }
    for (const [index, member] of tool.tools.entries()) {
      const origin = { kind: member.type, name: member.name, namespace: tool.name };
      this.#addFunction(member, { ...origin, path: `${path}.tools[${index}]` });
    }
  }

  #addFunction(tool: WireFunctionTool | WireCustomTool, origin: ToolOrigin): void {
    const name = flattenName(origin.name, origin.namespace);
    if (this.origins.has(name)) {
      const param = `${origin.path}.name`;
      throw invalidRequest(`'${param}': another tool has the name '${name}'.`, param);
    }
    this.origins.set(name, origin);
    this.functions.push(
      tool.type === "custom" ? toCustomFunction(tool, name) : toFunction(tool, name),
    );
  }
}

function toFunction(tool: WireFunctionTool, name: string): FunctionOnWire {
  const { description, parameters, strict } = tool;
  return { type: "function", function: { name, description, parameters, strict } };
}

/** A custom tool is a function of one text; its grammar is told in words. */
function toCustomFunction({ description, format }: WireCustomTool, name: string): FunctionOnWire {
  const grammar =
    format?.type === "grammar"
      ? `The input must match this ${format.syntax} grammar:\n${format.definition}`
      : "";
  return {
    type: "function",
    function: {
      name,
      description: [description ?? "", grammar].filter((text) => text !== "").join("\n\n"),
      parameters: {
        type: "object",
        properties: { [CUSTOM_INPUT]: { type: "string" } },
        required: [CUSTOM_INPUT],
        additionalProperties: false,
      },
    },
  };
}
