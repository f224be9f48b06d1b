import { invalidRequest } from "../../core/api-error.ts";
import type { TextPrompt, TextRequest } from "../../core/chat-request.ts";
import { toGenerationOptions, toOutputFormat } from "../shared/generation-options.ts";
import { MAX_CHOICES } from "../shared/generation-schema.ts";
import type { CompletionRequest } from "./schema.ts";

/** What this surface generates when the client sets no limit. */
const DEFAULT_MAX_TOKENS = 16;

/** The wire request as a TextRequest. Pure. Throws EdgeError `invalid-request` for fields that contradict each other. */
export function toTextRequest(wire: CompletionRequest): TextRequest {
  const prompts = toPrompts(wire.prompt);
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

function toPrompts(wire: CompletionRequest["prompt"]): readonly TextPrompt[] {
  if (typeof wire === "string") return [wire];
  return isOnePrompt(wire) ? [wire] : wire;
}

function isOnePrompt(wire: Exclude<CompletionRequest["prompt"], string>): wire is number[] {
  return typeof wire[0] === "number";
}
