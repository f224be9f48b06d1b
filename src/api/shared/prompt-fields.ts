import { invalidRequest } from "../../core/api-error.ts";
import type { ChatRequest } from "../../core/chat-request.ts";
import { dropUnset } from "./drop-unset.ts";
import type { WireMessage } from "./message-schema.ts";
import { toMessage } from "./to-message.ts";

/** Wire fields that decide the prompt of a chat. */
export interface WirePrompt {
  readonly messages: readonly WireMessage[];
  readonly continue_final_message?: boolean | null | undefined;
  readonly add_generation_prompt?: boolean | null | undefined;
  readonly chat_template_kwargs?: Record<string, unknown> | null | undefined;
  readonly reasoning_effort?: string | null | undefined;
}

/** What the template needs. Throws EdgeError `invalid-request` for fields that contradict each other. */
export function toPromptFields(
  wire: WirePrompt,
): Pick<
  ChatRequest,
  "messages" | "addGenerationPrompt" | "continueFinalMessage" | "templateKwargs"
> {
  const continueFinalMessage = wire.continue_final_message ?? false;
  checkContinuation(wire, continueFinalMessage);
  return {
    messages: wire.messages.map(toMessage),
    addGenerationPrompt: wire.add_generation_prompt ?? !continueFinalMessage,
    continueFinalMessage,
    templateKwargs: {
      ...dropUnset({ reasoning_effort: wire.reasoning_effort }),
      ...wire.chat_template_kwargs,
    },
  };
}

function checkContinuation(wire: WirePrompt, continueFinalMessage: boolean): void {
  if (!continueFinalMessage) return;
  if (wire.add_generation_prompt === true) {
    throw invalidRequest(
      "'continue_final_message' and 'add_generation_prompt' exclude each other.",
      "continue_final_message",
    );
  }
  if (wire.messages.at(-1)?.role !== "assistant") {
    throw invalidRequest(
      "'continue_final_message' needs the last message to be the assistant's.",
      "continue_final_message",
    );
  }
}
