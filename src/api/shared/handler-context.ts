import type { Clock } from "../../core/clock.ts";
import { ERROR_TRAITS } from "../../core/error-table.ts";
import type { IdSource } from "../../core/ids.ts";
import type { Logger } from "../../core/logger.ts";
import { describeError } from "../../core/logger.ts";
import type { Generation } from "../../generation/generate.ts";
import type { GenerationService } from "../../generation/generation-service.ts";
import type { Heartbeat } from "../../sse/to-response.ts";

/** What every handler is given. */
export interface HandlerContext {
  readonly service: GenerationService;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly log: Logger;
  readonly maxBodyBytes: number;
  readonly headersHoldMs: number;
  readonly heartbeat: { readonly mode: "comment" | "chunk" | "off"; readonly intervalMs: number };
}

/** The request as the runtime sees it. */
export interface RequestScope {
  readonly requestId: string;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
  /** Keeps the request's context alive until the work is done. */
  readonly waitUntil: (work: Promise<unknown>) => void;
}

/**
 * Ties a generation to its request: it goes on until it has let go of the engine, even when the client leaves, and
 * leaves one line in the log.
 */
export function superviseGeneration(
  generation: Generation,
  request: RequestScope & { readonly model: string },
  context: HandlerContext,
): void {
  const startedAt = context.clock.now();
  const record = async (): Promise<void> => {
    const outcome = await generation.finished;
    const { usage } = outcome;
    const level = outcome.errorKind === null ? "info" : ERROR_TRAITS[outcome.errorKind].logLevel;
    context.log[level]("generation", {
      requestId: request.requestId,
      model: request.model,
      status: outcome.status,
      error: outcome.errorKind,
      worker: outcome.workerUrl,
      promptTokens: usage.promptTokens,
      cachedTokens: usage.cachedTokens,
      completionTokens: usage.completionTokens,
      firstMessageMs: outcome.firstMessageMs,
      totalMs: context.clock.now() - startedAt,
      cause: outcome.cause == null ? undefined : describeError(outcome.cause),
    });
  };
  request.waitUntil(record());
  if (request.signal.aborted) generation.cancel();
  else request.signal.addEventListener("abort", () => generation.cancel(), { once: true });
}

/** The heartbeat of a surface: a comment, or `emptyChunk` for clients that cannot take comments. */
export function toHeartbeat(
  { heartbeat }: HandlerContext,
  texts: { readonly comment: string; readonly emptyChunk: string },
): Heartbeat | null {
  if (heartbeat.mode === "off") return null;
  return {
    text: heartbeat.mode === "comment" ? texts.comment : texts.emptyChunk,
    intervalMs: heartbeat.intervalMs,
  };
}
