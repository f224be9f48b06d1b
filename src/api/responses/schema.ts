import * as z from "zod";

import { constraintFields, generationFields } from "../shared/generation-schema.ts";
import { unsupported } from "../shared/schema.ts";
import { responseInput } from "./input-schema.ts";
import { responseToolChoice, responseTools } from "./tool-schema.ts";

const MAX_TOP_LOGPROBS = 20;
const MAX_METADATA_KEYS = 16;

const anyObject = z.record(z.string(), z.unknown());

const textFormat = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("text") }),
    z.looseObject({ type: z.literal("json_object") }),
    z.looseObject({
      type: z.literal("json_schema"),
      name: z.string(),
      description: z.string().nullish(),
      schema: anyObject,
      strict: z.boolean().nullish(),
    }),
  ],
  { error: "must be one of text, json_object, json_schema" },
);

const stateless = {
  previous_response_id: unsupported(
    "is not supported: responses are not stored; send the earlier items in input",
  ),
  conversation: unsupported(
    "is not supported: conversations are not stored; send the earlier items in input",
  ),
  background: unsupported(
    "is not supported: responses are not stored; leave it out and use stream",
    (value) => value === false,
  ),
  prompt: unsupported(
    "is not supported: prompts are not stored; send their text in instructions and input",
  ),
};

const refused = {
  ...stateless,
  n: unsupported("must be 1: a response has one choice", (value) => value === 1),
  response_format: unsupported("is not supported; use text.format instead"),
  context_management: unsupported("is not supported; shorten the input instead"),
};

/** Read and checked, and told again in the reply at most. */
const fieldsWithoutEffect = {
  metadata: z
    .record(z.string(), z.string({ error: "values must be strings" }))
    .refine((value) => Object.keys(value).length <= MAX_METADATA_KEYS, {
      error: `must have at most ${MAX_METADATA_KEYS} keys`,
    })
    .nullish(),
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
  service_tier: z.string().nullish(),
  store: z.boolean().nullish(),
  max_tool_calls: z.int().min(1, { error: "must be at least 1" }).nullish(),
  seed: z.int().nullish(),
  priority: z.int().nullish(),
  rid: z.string().nullish(),
  cache_salt: z.string().nullish(),
};

const { n: _one, ...samplingFields } = generationFields;
const { response_format: _format, ...grammarFields } = constraintFields;

/** Body of POST /v1/responses. Fields that are not named here are ignored. */
export const responseRequest = z.object({
  model: z.string().min(1, { error: "must not be empty" }),
  input: responseInput,
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_obfuscation: z.boolean().nullish() }).nullish(),
  include: z.array(z.string()).nullish(),
  max_output_tokens: z.int().min(1, { error: "must be at least 1" }).nullish(),
  ...samplingFields,
  top_logprobs: z
    .int()
    .min(0, { error: "must be at least 0" })
    .max(MAX_TOP_LOGPROBS, { error: `must be at most ${MAX_TOP_LOGPROBS}` })
    .nullish(),
  tools: responseTools.nullish(),
  tool_choice: responseToolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z
    .looseObject({
      format: textFormat.nullish(),
      verbosity: z.enum(["low", "medium", "high"]).nullish(),
    })
    .nullish(),
  reasoning: z
    .looseObject({
      effort: z.string().nullish(),
      summary: z.enum(["auto", "concise", "detailed"]).nullish(),
    })
    .nullish(),
  truncation: z.enum(["auto", "disabled"], { error: "must be auto or disabled" }).nullish(),
  ...grammarFields,
  chat_template_kwargs: anyObject.nullish(),
  ...fieldsWithoutEffect,
  ...refused,
});

export type ResponseRequest = z.output<typeof responseRequest>;
