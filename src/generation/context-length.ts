import { EdgeError } from "../core/api-error.ts";

export interface ContextLimits {
  /** Tokens that the model takes, prompt and reply together; null: unknown. */
  readonly contextLength: number | null;
  /** Largest prompt that the worker takes; null: unknown. */
  readonly maxPromptTokens: number | null;
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
  const { contextLength, maxPromptTokens } = limits;
  if (maxPromptTokens !== null && promptTokens > maxPromptTokens) {
    throw new EdgeError({ kind: "context-length-exceeded", limit: maxPromptTokens, promptTokens });
  }
  if (contextLength === null) return maxTokens;
  if (promptTokens >= contextLength) {
    throw new EdgeError({ kind: "context-length-exceeded", limit: contextLength, promptTokens });
  }
  if (maxTokens !== undefined && promptTokens + maxTokens > contextLength) {
    throw new EdgeError({
      kind: "context-length-exceeded",
      limit: contextLength,
      promptTokens,
      maxTokens,
    });
  }
  return maxTokens ?? contextLength - promptTokens;
}
