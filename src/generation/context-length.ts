import { EdgeError } from "../core/api-error.ts";

export interface ContextLimits {
  /** Tokens that the model takes, prompt and reply together; null: unknown. */
  readonly contextLength: number | null;
  /** A prompt must be shorter than this for the worker, as SGLang counts `max_req_input_len`; null: unknown. */
  readonly maxPromptTokens: number | null;
  /** The field that holds the prompt, for the error. */
  readonly param: string;
}

/**
 * How many tokens may be generated: what the client asked for, or the rest of the context (undefined when that is
 * unknown). Throws EdgeError `context-length-exceeded` when prompt and reply cannot fit.
 */
export function fitIntoContext(
  promptTokens: number,
  maxTokens: number | undefined,
  limits: ContextLimits,
): number | undefined {
  const { contextLength, maxPromptTokens, param } = limits;
  if (maxPromptTokens !== null && promptTokens >= maxPromptTokens) {
    const limit = maxPromptTokens - 1;
    throw new EdgeError({ kind: "context-length-exceeded", limit, promptTokens, param });
  }
  if (contextLength === null) return maxTokens;
  if (promptTokens >= contextLength) {
    throw new EdgeError({
      kind: "context-length-exceeded",
      limit: contextLength,
      promptTokens,
      param,
    });
  }
  if (maxTokens !== undefined && promptTokens + maxTokens > contextLength) {
    throw new EdgeError({
      kind: "context-length-exceeded",
      limit: contextLength,
      promptTokens,
      maxTokens,
      param,
    });
  }
  return maxTokens ?? contextLength - promptTokens;
}
