import { invalidRequest } from "../../core/api-error.ts";
import type { ChatRequest } from "../../core/chat-request.ts";
import { dropUnset } from "../shared/drop-unset.ts";
import { toPromptFields } from "../shared/prompt-fields.ts";
import type { ChatCompletionRequest } from "./schema.ts";

/** The wire request as a ChatRequest. Pure. Throws EdgeError `invalid-request` for fields that contradict each other. */
export function toChatRequest(wire: ChatCompletionRequest): ChatRequest {
  const maxTokens = wire.max_completion_tokens ?? wire.max_tokens;
  const minTokens = wire.min_tokens ?? 0;
  if (maxTokens !== undefined && maxTokens !== null && minTokens > maxTokens) {
    throw invalidRequest(
      "'min_tokens' must not be greater than the largest number of tokens.",
      "min_tokens",
    );
  }
  return {
    model: wire.model,
    ...toPromptFields(wire),
    sampling: dropUnset({
      temperature: wire.temperature,
      topP: wire.top_p,
      topK: wire.top_k,
      minP: wire.min_p,
      frequencyPenalty: wire.frequency_penalty,
      presencePenalty: wire.presence_penalty,
      repetitionPenalty: wire.repetition_penalty,
      logitBias: wire.logit_bias,
    }),
    stop: {
      strings: typeof wire.stop === "string" ? [wire.stop] : (wire.stop ?? []),
      tokenIds: wire.stop_token_ids ?? [],
      minTokens,
      ignoreEos: wire.ignore_eos ?? false,
      noStopTrim: wire.no_stop_trim ?? false,
    },
    detokenize: {
      skipSpecialTokens: wire.skip_special_tokens ?? true,
      spacesBetweenSpecialTokens: wire.spaces_between_special_tokens ?? true,
    },
    ...dropUnset({
      maxTokens,
      streamInterval: wire.stream_interval,
      customParams: wire.custom_params,
      loraId: wire.lora_id,
    }),
  };
}
