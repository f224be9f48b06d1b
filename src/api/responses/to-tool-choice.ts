import { invalidRequest } from "../../core/api-error.ts";
import type { ToolChoice } from "../../core/chat-request.ts";
import { toToolChoice } from "../shared/to-tools.ts";
import type { RequestTools } from "./tool-names.ts";
import { isBuiltIn, type WireResponseToolChoice } from "./tool-schema.ts";

/** Throws EdgeError for a choice that the tools cannot meet. */
export function toResponseToolChoice(
  wire: WireResponseToolChoice | null | undefined,
  tools: RequestTools,
): ToolChoice {
  const { definitions } = tools;
  if (wire === null || wire === undefined || typeof wire === "string") {
    const [builtIn] = tools.builtIns;
    if (wire === "required" && definitions.length === 0 && builtIn !== undefined) {
      throw cannotRun(builtIn.type, `${builtIn.path}.type`);
    }
    return toToolChoice(wire, definitions);
  }
  if (isBuiltIn(wire)) throw cannotRun(wire.type, "tool_choice.type");
  if (wire.type === "allowed_tools") return { mode: wire.mode, allowed: findAllowed(wire, tools) };
  return { mode: "required", allowed: findNames(wire, tools, "tool_choice") };
}

type AllowedTools = Extract<WireResponseToolChoice, { readonly type: "allowed_tools" }>;

/** Built-in tools in the list are left out as they are among the tools; alone they are refused. */
function findAllowed(wire: AllowedTools, tools: RequestTools): readonly string[] {
  const names = wire.tools.flatMap((entry, index) =>
    isBuiltIn(entry) ? [] : findNames(entry, tools, `tool_choice.tools[${index}]`),
  );
  const [first] = wire.tools;
  if (names.length === 0 && first !== undefined) {
    throw cannotRun(first.type, "tool_choice.tools[0].type");
  }
  return [...new Set(names)];
}

interface NamedTool {
  readonly type: "function" | "custom" | "namespace";
  readonly name: string;
  readonly namespace?: string | null | undefined;
}

/** The names, as the model sees them, of all tools that are meant. Throws EdgeError when there is none. */
function findNames(wanted: NamedTool, { origins }: RequestTools, path: string): readonly string[] {
  const names: string[] = [];
  for (const [name, origin] of origins) {
    const isMeant =
      wanted.type === "namespace"
        ? origin.namespace === wanted.name
        : origin.kind === wanted.type &&
          (name === wanted.name ||
            (origin.name === wanted.name &&
              (wanted.namespace ?? origin.namespace) === origin.namespace));
    if (isMeant) names.push(name);
  }
  if (names.length > 0) return names;
  throw invalidRequest(
    `'${path}' names the ${wanted.type} '${wanted.name}', which is not in 'tools'.`,
    path,
  );
}

function cannotRun(type: string, path: string) {
  return invalidRequest(`'${path}': the built-in tool '${type}' cannot run here.`, path);
}
