import { invalidRequest } from "../../core/api-error.ts";
import type { ChatRequest, GenerationOptions } from "../../core/chat-request.ts";
import { dropUnset } from "../shared/drop-unset.ts";
import { toGenerationOptions, toOutputFormat } from "../shared/generation-options.ts";
import { toPromptFields } from "../shared/prompt-fields.ts";
import { toToolChoice, toTools } from "../shared/to-tools.ts";
import type { ChatCompletionRequest } from "./schema.ts";

/** The wire request as a ChatRequest. Pure. Throws EdgeError `invalid-request` for fields that contradict each other. */
export function toChatRequest(wire: ChatCompletionRequest): ChatRequest {
  const tools = toTools(wire.tools);
  const maxTokens = wire.max_completion_tokens ?? wire.max_tokens ?? undefined;
  return {
    model: wire.model,
    ...toPromptFields(wire),
    ...toGenerationOptions(wire, maxTokens),
    ...toLogprobs(wire),
    tools,
    toolChoice: toToolChoice(wire.tool_choice, tools),
    parallelToolCalls: wire.parallel_tool_calls ?? true,
    output: toOutputFormat(wire),
    separateReasoning: wire.separate_reasoning ?? true,
    streamReasoning: wire.stream_reasoning ?? true,
    ...dropUnset({ reasoningEffort: wire.reasoning_effort }),
  };
}

function toLogprobs(wire: ChatCompletionRequest): Pick<GenerationOptions, "logprobs"> {
  const top = wire.top_logprobs ?? 0;
  if (wire.logprobs === true) return { logprobs: { top } };
  if (top === 0) return {};
  throw invalidRequest("'top_logprobs' needs 'logprobs' to be true.", "top_logprobs");
}
