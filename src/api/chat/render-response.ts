import type { FinishReason } from "../../core/generation-event.ts";
import type { CallResult, ChoiceResult, GenerationResult } from "../../generation/fold.ts";
import { renderLogprobs } from "../shared/openai-logprobs.ts";
import { renderUsage } from "../shared/openai-usage.ts";

export interface ChatResponseOptions {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
  /** Thoughts are told apart from the text. */
  readonly hasReasoning: boolean;
  readonly hasLogprobs: boolean;
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
      message: renderMessage(choice, options),
      logprobs: options.hasLogprobs ? renderLogprobs(choice.logprobs) : null,
      finish_reason: FINISH_REASONS[choice.finishReason],
      matched_stop: choice.matchedStop,
    })),
    usage: renderUsage(result.usage),
  };
}

export const FINISH_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  length: "length",
  "tool-calls": "tool_calls",
};

function renderMessage(choice: ChoiceResult, { hasReasoning }: ChatResponseOptions) {
  const { text, reasoning, calls } = choice;
  const saysElse = calls.length > 0 || reasoning !== "";
  return {
    role: "assistant",
    content: text === "" && saysElse ? null : text,
    refusal: null,
    ...(hasReasoning ? { reasoning_content: reasoning === "" ? null : reasoning } : {}),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(renderCall) }),
  };
}

function renderCall({ id, name, arguments: text }: CallResult) {
  return { id, type: "function", function: { name, arguments: text } };
}
