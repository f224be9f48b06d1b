import * as z from "zod";

import { chatMessages } from "../shared/message-schema.ts";
import { unsupported } from "../shared/schema.ts";

/** The engine's limit on stop strings would allow more; OpenAI's own is 4. */
const MAX_STOP_STRINGS = 16;
const MAX_STOP_TOKEN_IDS = 256;

const tokenId = z.int().min(0).max(0xffff_ffff);

const stop = z.union(
  [
    z.string().min(1, { error: "must not be empty" }),
    z
      .array(z.string().min(1, { error: "must not be empty" }))
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

const isFalse = (value: unknown): boolean => value === false;
const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

/** Sampling and output fields that chat shares with SGLang's other surfaces. */
const sampling = {
  max_tokens: z.int().min(1, { error: "must be at least 1" }).nullish(),
  max_completion_tokens: z.int().min(1, { error: "must be at least 1" }).nullish(),
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

/** Fields that are read and checked, and change nothing: the engine's wire has no place for them. */
const withoutEffect = {
  user: z.string().nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  store: z.boolean().nullish(),
  seed: z.int().nullish(),
  service_tier: z.string().nullish(),
  priority: z.int().nullish(),
  rid: z.string().nullish(),
  cache_salt: z.string().nullish(),
};

const refused = {
  functions: unsupported("is not supported; use tools instead"),
  function_call: unsupported("is not supported; use tool_choice instead"),
  prediction: unsupported("is not supported"),
  audio: unsupported("is not supported; this server generates text only"),
  web_search_options: unsupported("is not supported; this server cannot search the web"),
  modalities: unsupported(
    'must be ["text"]; this server generates text only',
    (value) => JSON.stringify(value) === '["text"]',
  ),
  return_hidden_states: unsupported("is not supported; the engine does not send them", isFalse),
  tools: unsupported("is not supported yet", isEmptyList),
  tool_choice: unsupported("is not supported yet", (value) => value === "none" || value === "auto"),
  n: unsupported("must be 1; several choices are not supported yet", (value) => value === 1),
  logprobs: unsupported("is not supported yet", isFalse),
  top_logprobs: unsupported("is not supported yet", (value) => value === 0),
  response_format: unsupported(
    "is not supported yet, but for {type: text}",
    (value) => JSON.stringify(value) === '{"type":"text"}',
  ),
  regex: unsupported("is not supported yet"),
  ebnf: unsupported("is not supported yet"),
  json_schema: unsupported("is not supported yet"),
  structural_tag: unsupported("is not supported yet"),
  separate_reasoning: unsupported("is not supported yet", isFalse),
  stream_reasoning: unsupported("is not supported yet", isFalse),
};

/** Body of POST /v1/chat/completions. Fields that are not named here are ignored. */
export const chatCompletionRequest = z.object({
  model: z.string().min(1, { error: "must not be empty" }),
  messages: chatMessages,
  stream: z.boolean().nullish(),
  stream_options: z
    .object({
      include_usage: z.boolean().nullish(),
      continuous_usage_stats: z.boolean().nullish(),
    })
    .nullish(),
  ...sampling,
  reasoning_effort: z.string().nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
  continue_final_message: z.boolean().nullish(),
  add_generation_prompt: z.boolean().nullish(),
  ...withoutEffect,
  ...refused,
});

export type ChatCompletionRequest = z.output<typeof chatCompletionRequest>;
