import * as z from "zod";

import { constraintFields, generationFields } from "../shared/generation-schema.ts";
import { unsupported } from "../shared/schema.ts";
import { messages, textContent } from "./content-schema.ts";

const MAX_TOOLS = 1_024;
const MAX_NAME_LENGTH = 256;
const MAX_STOP_SEQUENCES = 64;
const MIN_THINKING_BUDGET = 1_024;

const anyObject = z.record(z.string(), z.unknown());

const toolName = z
  .string()
  .min(1, { error: "must not be empty" })
  .max(MAX_NAME_LENGTH, { error: `must have at most ${MAX_NAME_LENGTH} characters` });

const tool = z.object({
  // Comes first: a tool that runs on Anthropic's servers has no schema either.
  type: z
    .string()
    .nullish()
    .refine((type) => type === null || type === undefined || type === "custom", {
      error: ({ input }) =>
        `${String(input)} is a tool that this server cannot run; only custom tools are supported`,
    }),
  name: toolName,
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown(), { error: "must be an object" }),
  strict: z.boolean().nullish(),
});

const parallel = { disable_parallel_tool_use: z.boolean().nullish() };
const toolChoice = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("auto"), ...parallel }),
    z.object({ type: z.literal("any"), ...parallel }),
    z.object({ type: z.literal("tool"), name: toolName, ...parallel }),
    z.object({ type: z.literal("none") }),
  ],
  { error: "must be one of auto, any, tool, none" },
);

const display = z.string().nullish();
const thinking = z.discriminatedUnion(
  "type",
  [
    z.object({
      type: z.literal("enabled"),
      budget_tokens: z
        .int()
        .min(MIN_THINKING_BUDGET, { error: `must be at least ${MIN_THINKING_BUDGET}` }),
      display,
    }),
    z.object({ type: z.literal("adaptive"), display }),
    z.object({ type: z.literal("disabled") }),
  ],
  { error: "must be one of enabled, adaptive, disabled" },
);

const outputFormat = z.object({
  type: z.literal("json_schema", { error: "must be json_schema" }),
  schema: anyObject,
});

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

const maxTokens = z.int().min(1, { error: "must be at least 1" });

const fields = {
  model: z.string().min(1, { error: "must not be empty" }),
  messages,
  system: textContent.nullish(),
  stream: z.boolean().nullish(),
  stop_sequences: z
    .array(z.string().min(1, { error: "must not be empty" }))
    .max(MAX_STOP_SEQUENCES, { error: `must hold at most ${MAX_STOP_SEQUENCES} strings` })
    .nullish(),
  tools: z
    .array(tool)
    .max(MAX_TOOLS, { error: `must hold at most ${MAX_TOOLS} tools` })
    .nullish(),
  tool_choice: toolChoice.nullish(),
  thinking: thinking.nullish(),
  output_config: z
    .object({ effort: z.string().nullish(), format: outputFormat.nullish() })
    .nullish(),
  output_format: outputFormat.nullish(),
  ...generationFields,
  ...constraintFields,
  chat_template_kwargs: anyObject.nullish(),
  reasoning_effort: z.string().nullish(),
  metadata: anyObject.nullish(),
  service_tier: z.string().nullish(),
  cache_control: z.unknown().optional(),
  context_management: z.unknown().optional(),
  // Refused behind the schema: the client wants to read a code of its own.
  thread: z.unknown().optional(),
  n: unsupported("must be 1; a message is one reply", (value) => value === 1),
  mcp_servers: unsupported("is not supported; this server calls no others", isEmptyList),
};

/** Body of POST /v1/messages. Fields that are not named here are ignored, in blocks and tools as well. */
export const messagesRequest = z.object({ ...fields, max_tokens: maxTokens });

/** Body of POST /v1/messages/count_tokens: the same, but nothing is generated. */
export const countTokensRequest = z.object({ ...fields, max_tokens: maxTokens.nullish() });

export type CountTokensRequest = z.output<typeof countTokensRequest>;
export type WireTool = z.output<typeof tool>;
export type WireToolChoice = z.output<typeof toolChoice>;
