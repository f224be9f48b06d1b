import * as z from "zod";

import {
  constraintFields,
  fieldsWithoutEffect,
  generationFields,
  MAX_CHOICES,
  streamFields,
} from "../shared/generation-schema.ts";
import { unsupported } from "../shared/schema.ts";

const MAX_LOGPROBS = 5;

const ids = z.array(z.int().min(0).max(0xffff_ffff));
const empty = { error: "must not be empty" };
const tooMany = { error: `must hold at most ${MAX_CHOICES} prompts` };

const prompt = z.union(
  [
    z.string().min(1, empty),
    z.array(z.string().min(1, empty)).min(1, empty).max(MAX_CHOICES, tooMany),
    ids.min(1, empty),
    z.array(ids.min(1, empty)).min(1, empty).max(MAX_CHOICES, tooMany),
  ],
  { error: "must be a string, an array of strings, token ids, or an array of token ids" },
);

/** Body of POST /v1/completions. Fields that are not named here are ignored. */
export const completionRequest = z.object({
  model: z.string().min(1, empty),
  prompt,
  ...streamFields,
  max_tokens: z.int().min(0, { error: "must be at least 0" }).nullish(),
  ...generationFields,
  logprobs: z
    .int()
    .min(0, { error: "must be at least 0" })
    .max(MAX_LOGPROBS, { error: `must be at most ${MAX_LOGPROBS}` })
    .nullish(),
  echo: z.boolean().nullish(),
  best_of: z.int().min(1, { error: "must be at least 1" }).nullish(),
  ...constraintFields,
  suffix: unsupported("is not supported by this model", (value) => value === ""),
  ...fieldsWithoutEffect,
  return_hidden_states: unsupported(
    "is not supported; the engine does not send them",
    (value) => value === false,
  ),
});

export type CompletionRequest = z.output<typeof completionRequest>;
