import * as z from "zod";

const MAX_TOOLS = 1_024;
const MAX_NAME_LENGTH = 256;

const functionName = z
  .string()
  .min(1, { error: "must not be empty" })
  .max(MAX_NAME_LENGTH, { error: `must have at most ${MAX_NAME_LENGTH} characters` });

const isFunction = z.literal("function", { error: 'must be "function"' });

const functionTool = z.object({
  type: isFunction,
  function: z.object({
    name: functionName,
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
    strict: z.boolean().nullish(),
  }),
});

/** Tools in the shape of chat completions. */
export const chatTools = z
  .array(functionTool)
  .max(MAX_TOOLS, { error: `must hold at most ${MAX_TOOLS} tools` });

/** A function by its name, in the nested shape of chat or in the flat one of Responses. */
const namedFunction = z.union([
  z.object({ type: isFunction, function: z.object({ name: functionName }) }),
  z.object({ type: isFunction, name: functionName }),
]);

const allowedList = { mode: z.enum(["auto", "required"]), tools: z.array(namedFunction) };
const isAllowed = z.literal("allowed_tools");

export const toolChoice = z.union(
  [
    z.enum(["none", "auto", "required"]),
    namedFunction,
    z.object({ type: isAllowed, allowed_tools: z.object(allowedList) }),
    z.object({ type: isAllowed, ...allowedList }),
  ],
  { error: 'must be "none", "auto", "required", a function, or allowed_tools' },
);

export type WireTool = z.output<typeof functionTool>;
export type WireToolChoice = z.output<typeof toolChoice>;
type WireNamedFunction = z.output<typeof namedFunction>;

export function nameOf(wire: WireNamedFunction): string {
  return "function" in wire ? wire.function.name : wire.name;
}
