import { invalidRequest } from "../../core/api-error.ts";
import type { TextRequest } from "../../core/chat-request.ts";
import { toGenerationOptions, toOutputFormat } from "../shared/generation-options.ts";
import { MAX_CHOICES } from "../shared/generation-schema.ts";
import { toTextPrompts } from "../shared/text-prompts.ts";
import type { CompletionRequest } from "./schema.ts";

/** What this surface generates when the client sets no limit. */
const DEFAULT_MAX_TOKENS = 16;

/** The wire request as a TextRequest. Pure. Throws EdgeError `invalid-request` for fields that contradict each other. */
export function toTextRequest(wire: CompletionRequest): TextRequest {
  const prompts = toTextPrompts(wire.prompt);
  const n = wire.n ?? 1;
  const bestOf = wire.best_of ?? n;
  if (bestOf !== n) {
    throw invalidRequest("'best_of' must be equal to 'n': choices are not ranked.", "best_of");
  }
  if (prompts.length * n > MAX_CHOICES) {
    throw invalidRequest(`'n' times the prompts must be at most ${MAX_CHOICES} choices.`, "n");
  }
  const top = wire.logprobs;
  return {
    model: wire.model,
    prompts,
    ...toGenerationOptions(wire, wire.max_tokens ?? DEFAULT_MAX_TOKENS),
    ...(top === null || top === undefined ? {} : { logprobs: { top } }),
    output: toOutputFormat(wire),
    echo: wire.echo ?? false,
  };
}
