import * as z from "zod";

const MAX_TOOLS = 1_024;
const MAX_NAME_LENGTH = 256;

const name = z
  .string()
  .min(1, { error: "must not be empty" })
  .max(MAX_NAME_LENGTH, { error: `must have at most ${MAX_NAME_LENGTH} characters` });

// Loose all through: what the client said of a tool is echoed as it was said.
const functionTool = z.looseObject({
  type: z.literal("function"),
  name,
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});

const customTool = z.looseObject({
  type: z.literal("custom"),
  name,
  description: z.string().nullish(),
  format: z
    .discriminatedUnion(
      "type",
      [
        z.looseObject({ type: z.literal("text") }),
        z.looseObject({
          type: z.literal("grammar"),
          syntax: z.enum(["lark", "regex"]),
          definition: z.string(),
        }),
      ],
      { error: "must be text or grammar" },
    )
    .nullish(),
});

const namespaceTool = z.looseObject({
  type: z.literal("namespace"),
  name,
  description: z.string().nullish(),
  tools: z.array(
    z.discriminatedUnion("type", [functionTool, customTool], {
      error: "must be function or custom",
    }),
  ),
});

/** Tools that run at the vendor; there is nothing here to run them. */
const BUILT_IN_TYPES = [
  "web_search",
  "web_search_2025_08_26",
  "web_search_preview",
  "web_search_preview_2025_03_11",
  "file_search",
  "computer",
  "computer_use",
  "computer_use_preview",
  "code_interpreter",
  "image_generation",
  "mcp",
  "local_shell",
  "shell",
  "apply_patch",
  "tool_search",
  "programmatic_tool_calling",
] as const;

const builtInType = z.enum(BUILT_IN_TYPES);
const builtInTool = z.looseObject({ type: builtInType });

const tool = z.discriminatedUnion("type", [functionTool, customTool, namespaceTool, builtInTool], {
  error: "must be function, custom, namespace, or a built-in tool",
});

/** Tools in the shape of Responses. */
export const responseTools = z
  .array(tool)
  .max(MAX_TOOLS, { error: `must hold at most ${MAX_TOOLS} tools` });

const chosenTool = z.looseObject({
  type: z.enum(["function", "custom", "namespace"]),
  name,
  namespace: z.string().nullish(),
});

const listedTool = z.discriminatedUnion("type", [chosenTool, builtInTool], {
  error: "must be function, custom, namespace, or a built-in tool",
});

export const responseToolChoice = z.union(
  [
    z.enum(["none", "auto", "required"]),
    z.looseObject({
      ...chosenTool.shape,
      type: z.enum(["function", "custom"], {
        error: "must be function, custom, allowed_tools, or a built-in tool",
      }),
    }),
    z.looseObject({
      type: z.literal("allowed_tools"),
      mode: z.enum(["auto", "required"]),
      tools: z.array(listedTool).min(1, { error: "must hold at least one tool" }),
    }),
    builtInTool,
  ],
  { error: 'must be "none", "auto", "required", a function, a custom tool, or allowed_tools' },
);

export type WireResponseTool = z.output<typeof tool>;
export type WireFunctionTool = z.output<typeof functionTool>;
export type WireCustomTool = z.output<typeof customTool>;
export type WireResponseToolChoice = z.output<typeof responseToolChoice>;
type WireBuiltInTool = z.output<typeof builtInTool>;

const builtInTypes: ReadonlySet<string> = new Set(BUILT_IN_TYPES);

/** Whether the vendor would run the tool, which nobody does here. */
export function isBuiltIn<Entry extends { readonly type: string }>(
  entry: Entry,
): entry is Extract<Entry, WireBuiltInTool> {
  return builtInTypes.has(entry.type);
}
