import type { Usage } from "../../core/generation-event.ts";
import { dropUnset } from "../shared/drop-unset.ts";
import type { OutputItem } from "./item-event.ts";
import type { ResponseRequest } from "./schema.ts";
import type { WireResponseTool } from "./tool-schema.ts";

export type ResponseStatus = "in_progress" | "completed" | "incomplete" | "failed";

export interface ResponseOptions {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly createdAt: number;
  /** What was asked; the reply tells it again. */
  readonly wire: ResponseRequest;
}

export interface ResponseState {
  readonly status: ResponseStatus;
  /** Seconds since the epoch; null: not completed. */
  readonly completedAt: number | null;
  readonly output: readonly OutputItem[];
  /** null: not known yet. */
  readonly usage: Usage | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

export type ResponseResource = ReturnType<typeof renderResponse>;

/** The response resource with every key, whatever its state. */
export function renderResponse(options: ResponseOptions, state: ResponseState) {
  return {
    id: options.id,
    object: "response",
    created_at: options.createdAt,
    completed_at: state.completedAt,
    status: state.status,
    incomplete_details: state.status === "incomplete" ? { reason: "max_output_tokens" } : null,
    error: state.error,
    ...renderEcho(options.wire),
    output: state.output,
    usage: state.usage === null ? null : renderResponseUsage(state.usage),
  };
}

/** What the client did not set. */
const ECHO_DEFAULTS = {
  instructions: null,
  previous_response_id: null,
  background: false,
  store: false,
  tool_choice: "auto",
  parallel_tool_calls: true,
  max_tool_calls: null,
  max_output_tokens: null,
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  truncation: "disabled",
  service_tier: "default",
  metadata: {},
  user: null,
  safety_identifier: null,
  prompt_cache_key: null,
} as const;

/** The request's own fields, with defaults for what it left out. */
function renderEcho(wire: ResponseRequest) {
  return {
    model: wire.model,
    ...ECHO_DEFAULTS,
    ...dropUnset({
      instructions: wire.instructions,
      tool_choice: wire.tool_choice,
      parallel_tool_calls: wire.parallel_tool_calls,
      max_tool_calls: wire.max_tool_calls,
      max_output_tokens: wire.max_output_tokens,
      temperature: wire.temperature,
      top_p: wire.top_p,
      presence_penalty: wire.presence_penalty,
      frequency_penalty: wire.frequency_penalty,
      top_logprobs: wire.top_logprobs,
      truncation: wire.truncation,
      metadata: wire.metadata,
      user: wire.user,
      safety_identifier: wire.safety_identifier,
      prompt_cache_key: wire.prompt_cache_key,
    }),
    tools: (wire.tools ?? []).map(renderTool),
    text: {
      ...wire.text,
      format: renderFormat(wire),
      verbosity: wire.text?.verbosity ?? "medium",
    },
    reasoning: { effort: null, summary: null, ...dropUnset(wire.reasoning ?? {}) },
  };
}

function renderTool(tool: WireResponseTool) {
  if (tool.type !== "function") return tool;
  return {
    ...tool,
    description: tool.description ?? null,
    parameters: tool.parameters ?? null,
    strict: tool.strict ?? false,
  };
}

function renderFormat({ text }: ResponseRequest) {
  const format = text?.format ?? { type: "text" as const };
  if (format.type !== "json_schema") return format;
  const { description, ...rest } = format;
  return { ...rest, ...dropUnset({ description }), strict: format.strict ?? false };
}

function renderResponseUsage(usage: Usage) {
  return {
    input_tokens: usage.promptTokens,
    // The engine does not say what it wrote to its cache.
    input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: 0 },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}
