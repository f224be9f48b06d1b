import * as z from "zod";

import {
  constraintFields,
  fieldsWithoutEffect,
  generationFields,
  streamFields,
} from "../shared/generation-schema.ts";
import { chatMessages } from "../shared/message-schema.ts";
import { unsupported } from "../shared/schema.ts";
import { chatTools, toolChoice } from "../shared/tool-schema.ts";

const MAX_TOP_LOGPROBS = 20;

const maxTokens = z.int().min(1, { error: "must be at least 1" }).nullish();

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
  return_hidden_states: unsupported(
    "is not supported; the engine does not send them",
    (value) => value === false,
  ),
};

/** Body of POST /v1/chat/completions. Fields that are not named here are ignored. */
export const chatCompletionRequest = z.object({
  model: z.string().min(1, { error: "must not be empty" }),
  messages: chatMessages,
  ...streamFields,
  max_tokens: maxTokens,
  max_completion_tokens: maxTokens,
  ...generationFields,
  logprobs: z.boolean().nullish(),
  top_logprobs: z
    .int()
    .min(0, { error: "must be at least 0" })
    .max(MAX_TOP_LOGPROBS, { error: `must be at most ${MAX_TOP_LOGPROBS}` })
    .nullish(),
  tools: chatTools.nullish(),
  tool_choice: toolChoice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  ...constraintFields,
  reasoning_effort: z.string().nullish(),
  separate_reasoning: z.boolean().nullish(),
  stream_reasoning: z.boolean().nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
  continue_final_message: z.boolean().nullish(),
  add_generation_prompt: z.boolean().nullish(),
  ...fieldsWithoutEffect,
  ...refused,
});

export type ChatCompletionRequest = z.output<typeof chatCompletionRequest>;
