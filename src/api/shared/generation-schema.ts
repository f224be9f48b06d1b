import * as z from "zod";

/** The engine's limit on stop strings would allow more; OpenAI's own is 4. */
const MAX_STOP_STRINGS = 16;
const MAX_STOP_TOKEN_IDS = 256;
/** Choices of one request, over all its prompts. */
export const MAX_CHOICES = 128;

const tokenId = z.int().min(0).max(0xffff_ffff);

const stopString = z.string().min(1, { error: "must not be empty" });
const stop = z.union(
  [
    stopString,
    z
      .array(stopString)
      .max(MAX_STOP_STRINGS, { error: `must hold at most ${MAX_STOP_STRINGS} strings` }),
  ],
  { error: "must be a string or an array of strings" },
);

const range = (low: number, high: number) =>
  z
    .number()
    .min(low, { error: `must be at least ${low}` })
    .max(high, { error: `must be at most ${high}` })
    .nullish();

/** Sampling and output fields that all surfaces of generated text share. */
export const generationFields = {
  temperature: range(0, 2),
  top_p: z
    .number()
    .gt(0, { error: "must be greater than 0" })
    .max(1, { error: "must be at most 1" })
    .nullish(),
  top_k: z.int().min(-1, { error: "must be -1, 0 or more" }).max(0x7fff_ffff).nullish(),
  min_p: range(0, 1),
  frequency_penalty: range(-2, 2),
  presence_penalty: range(-2, 2),
  repetition_penalty: z
    .number()
    .gt(0, { error: "must be greater than 0" })
    .max(2, { error: "must be at most 2" })
    .nullish(),
  logit_bias: z
    .record(
      z.string().regex(/^\d{1,10}$/, { error: "keys must be token ids" }),
      z.number().min(-100).max(100),
    )
    .nullish(),
  n: z
    .int()
    .min(1, { error: "must be at least 1" })
    .max(MAX_CHOICES, { error: `must be at most ${MAX_CHOICES}` })
    .nullish(),
  stop: stop.nullish(),
  stop_token_ids: z.array(tokenId).max(MAX_STOP_TOKEN_IDS).nullish(),
  min_tokens: z.int().min(0, { error: "must be at least 0" }).nullish(),
  ignore_eos: z.boolean().nullish(),
  no_stop_trim: z.boolean().nullish(),
  skip_special_tokens: z.boolean().nullish(),
  spaces_between_special_tokens: z.boolean().nullish(),
  stream_interval: z.int().min(1, { error: "must be at least 1" }).nullish(),
  custom_params: z.record(z.string(), z.unknown()).nullish(),
  lora_id: z.string().nullish(),
};

const anyObject = z.record(z.string(), z.unknown());
const schemaText = z.union([z.string().min(1, { error: "must not be empty" }), anyObject], {
  error: "must be an object, or JSON text of one",
});

const responseFormat = z.discriminatedUnion(
  "type",
  [
    z.object({ type: z.literal("text") }),
    z.object({ type: z.literal("json_object") }),
    z.object({
      type: z.literal("json_schema"),
      json_schema: z.object({
        name: z.string().nullish(),
        description: z.string().nullish(),
        schema: anyObject.nullish(),
        strict: z.boolean().nullish(),
      }),
    }),
    z.looseObject({ type: z.literal("structural_tag") }),
  ],
  { error: "must be one of text, json_object, json_schema, structural_tag" },
);

/** Fields that tell the engine what may be written; at most one of them at a time. */
export const constraintFields = {
  response_format: responseFormat.nullish(),
  regex: z.string().min(1, { error: "must not be empty" }).nullish(),
  ebnf: z.string().min(1, { error: "must not be empty" }).nullish(),
  json_schema: schemaText.nullish(),
  structural_tag: schemaText.nullish(),
};

export const streamFields = {
  stream: z.boolean().nullish(),
  stream_options: z
    .object({
      include_usage: z.boolean().nullish(),
      continuous_usage_stats: z.boolean().nullish(),
    })
    .nullish(),
};

/** Fields that are read and checked, and change nothing: the engine's wire has no place for them. */
export const fieldsWithoutEffect = {
  user: z.string().nullish(),
  metadata: anyObject.nullish(),
  store: z.boolean().nullish(),
  seed: z.int().nullish(),
  service_tier: z.string().nullish(),
  priority: z.int().nullish(),
  rid: z.string().nullish(),
  cache_salt: z.string().nullish(),
};

export type GenerationFields = z.output<z.ZodObject<typeof generationFields>>;
export type ConstraintFields = z.output<z.ZodObject<typeof constraintFields>>;
