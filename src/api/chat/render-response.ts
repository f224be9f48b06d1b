import type { GenerationResult } from "../../generation/fold.ts";
import { renderUsage } from "../shared/openai-usage.ts";

export interface ChatResponseOptions {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
}

/** A buffered chat.completion. */
export function renderChatResponse(result: GenerationResult, options: ChatResponseOptions) {
  return {
    id: options.id,
    object: "chat.completion",
    created: options.created,
    model: options.model,
    choices: result.choices.map((choice) => ({
      index: choice.index,
      message: { role: "assistant", content: choice.text, refusal: null },
      logprobs: null,
      finish_reason: choice.finishReason,
      matched_stop: choice.matchedStop,
    })),
    usage: renderUsage(result.usage),
  };
}
