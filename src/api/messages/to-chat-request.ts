import { invalidRequest } from "../../core/api-error.ts";
import type { ChatRequest, OutputFormat } from "../../core/chat-request.ts";
import { dropUnset } from "../shared/drop-unset.ts";
import { toGenerationOptions, toOutputFormat } from "../shared/generation-options.ts";
import { THREAD_UNSUPPORTED } from "./render-error.ts";
import type { CountTokensRequest } from "./schema.ts";
import { toConversation } from "./to-messages.ts";
import { toChoice, toTools } from "./to-tools.ts";

/**
 * The wire request as a ChatRequest, for a message and for the count of its tokens alike. Pure. Throws EdgeError
 * `invalid-request` for fields that contradict each other.
 */
export function toChatRequest(wire: CountTokensRequest): ChatRequest {
  if (wire.thread !== undefined && wire.thread !== null) {
    throw invalidRequest(
      "'thread' is not supported; send the whole conversation in messages.",
      "thread",
      THREAD_UNSUPPORTED,
    );
  }
  checkBudget(wire);
  const { messages, continueFinalMessage } = toConversation(wire.system, wire.messages);
  const tools = toTools(wire.tools ?? []);
  const effort = wire.output_config?.effort ?? wire.reasoning_effort;
  return {
    model: wire.model,
    messages,
    addGenerationPrompt: !continueFinalMessage,
    continueFinalMessage,
    templateKwargs: {
      ...thinkingToggles(wire),
      ...dropUnset({ reasoning_effort: effort }),
      ...wire.chat_template_kwargs,
    },
    ...toGenerationOptions(
      { ...wire, n: 1, stop: toStopStrings(wire) },
      wire.max_tokens ?? undefined,
    ),
    tools,
    toolChoice: toChoice(wire.tool_choice, tools),
    parallelToolCalls: !isSerial(wire),
    output: toOutput(wire),
    separateReasoning: true,
    streamReasoning: true,
    ...dropUnset({ reasoningEffort: effort }),
  };
}

/** Whether the client wants to see no thoughts: it turned thinking off, or its display. */
export function hidesThinking({ thinking }: CountTokensRequest): boolean {
  if (thinking === null || thinking === undefined) return false;
  return thinking.type === "disabled" || thinking.display === "omitted";
}

function checkBudget({ thinking, max_tokens: maxTokens }: CountTokensRequest): void {
  if (thinking?.type !== "enabled" || maxTokens === null || maxTokens === undefined) return;
  if (thinking.budget_tokens < maxTokens) return;
  throw invalidRequest(
    "'thinking.budget_tokens' must be less than 'max_tokens'.",
    "thinking.budget_tokens",
  );
}

/** Thinking under every name that a template may read it by. */
function thinkingToggles({ thinking }: CountTokensRequest): Readonly<Record<string, unknown>> {
  if (thinking === null || thinking === undefined) return {};
  const isOn = thinking.type !== "disabled";
  return { enable_thinking: isOn, thinking: isOn, thinking_mode: thinking.type };
}

function toStopStrings(wire: CountTokensRequest): string[] {
  const { stop } = wire;
  const others = typeof stop === "string" ? [stop] : (stop ?? []);
  return [...(wire.stop_sequences ?? []), ...others];
}

function isSerial({ tool_choice: choice }: CountTokensRequest): boolean {
  if (choice === null || choice === undefined || choice.type === "none") return false;
  return choice.disable_parallel_tool_use ?? false;
}

function toOutput(wire: CountTokensRequest): OutputFormat {
  const output = toOutputFormat(wire);
  const format = wire.output_config?.format ?? wire.output_format;
  if (format === null || format === undefined) return output;
  return {
    ...output,
    responseFormat: { type: "json-schema", schema: format.schema, strict: true },
  };
}
