import { EdgeError, type ApiError } from "../../core/api-error.ts";
import type { Clock } from "../../core/clock.ts";
import type { FinishReason, GenerationEvent, Usage } from "../../core/generation-event.ts";
import type { IdSource } from "../../core/ids.ts";
import { renderOpenAiError } from "../shared/openai-error.ts";
import type { ItemEvent } from "./item-event.ts";
import { createOutputItems } from "./output-items.ts";
import {
  renderResponse,
  type ResponseOptions,
  type ResponseResource,
  type ResponseState,
} from "./render-response.ts";
import type { ToolOrigin } from "./tool-names.ts";

export interface MachineOptions extends ResponseOptions {
  readonly origins: ReadonlyMap<string, ToolOrigin>;
  /** A fault in the words of this surface. */
  readonly nameError: (error: ApiError) => ApiError;
  readonly ids: IdSource;
  readonly clock: Clock;
}

/** An event of the response's stream, but for its `sequence_number`. */
export type ResponseEvent = ItemEvent | LifecycleEvent;

interface LifecycleEvent {
  readonly type: `response.${"created" | "in_progress" | "completed" | "incomplete" | "failed"}`;
  readonly response: ResponseResource;
}

/**
 * Turns the events of a generation into a response: its events for a stream, and the whole for a buffered reply. The
 * last event holds the whole, which is what folding the events before it gives. Split-invariant.
 */
export interface ResponseMachine {
  /** Before the first token. */
  readonly opening: readonly ResponseEvent[];
  push(event: GenerationEvent): readonly ResponseEvent[];
}

const ITEM_ID_DIGITS = 48;

export function createResponseMachine(options: MachineOptions): ResponseMachine {
  const { ids, clock } = options;
  const items = createOutputItems({
    origins: options.origins,
    createId: (prefix) => `${prefix}_${ids.hex(ITEM_ID_DIGITS)}`,
  });
  const begun = renderResponse(options, IN_PROGRESS);
  let finishReason: FinishReason | null = null;

  const end = (usage: Usage, error: ApiError | null): readonly ResponseEvent[] => {
    const outcome = finishReason === null || error !== null ? "failed" : finishReason;
    const closing = items.end(outcome);
    const status = outcome === "failed" ? outcome : STATUSES[outcome];
    const response = renderResponse(options, {
      status,
      completedAt: status === "completed" ? Math.floor(clock.now() / 1_000) : null,
      output: items.items,
      usage,
      error:
        outcome === "failed"
          ? describeFailure(options.nameError(error ?? { kind: "internal" }))
          : null,
    });
    return [...closing, { type: `response.${status}` as const, response }];
  };
  return {
    opening: [
      { type: "response.created", response: begun },
      { type: "response.in_progress", response: begun },
    ],
    push(event) {
      if (event.type === "generation-end") return end(event.usage, null);
      if (event.type === "generation-error") return end(event.usage, event.error);
      if (event.type !== "choice-end") return items.push(event);
      finishReason = event.finishReason;
      return items.end(finishReason);
    },
  };
}

const IN_PROGRESS: ResponseState = {
  status: "in_progress",
  completedAt: null,
  output: [],
  usage: null,
  error: null,
};

const STATUSES = {
  stop: "completed",
  length: "incomplete",
  "tool-calls": "completed",
} as const satisfies Readonly<Record<FinishReason, string>>;

/** Codes of this protocol; faults of the server have one. */
const FAILURE_CODES: Partial<Readonly<Record<ApiError["kind"], string>>> = {
  "invalid-request": "invalid_prompt",
  "rate-limited": "rate_limit_exceeded",
  "quota-exceeded": "rate_limit_exceeded",
};

function describeFailure(error: ApiError): { readonly code: string; readonly message: string } {
  const ownCode = error.kind === "invalid-request" ? error.code : undefined;
  return {
    code: ownCode ?? FAILURE_CODES[error.kind] ?? "server_error",
    message: renderOpenAiError(error).error.message,
  };
}

/** The whole response of a buffered reply. Throws EdgeError on `generation-error`, which still has a status to tell it. */
export async function foldResponse(
  steps: AsyncIterable<readonly GenerationEvent[]>,
  machine: ResponseMachine,
): Promise<ResponseResource> {
  for await (const events of steps) {
    for (const event of events) {
      if (event.type === "generation-error") throw new EdgeError(event.error);
      for (const told of machine.push(event)) {
        if (event.type === "generation-end" && isLifecycle(told)) return told.response;
      }
    }
  }
  throw new EdgeError({ kind: "internal" });
}

function isLifecycle(event: ResponseEvent): event is LifecycleEvent {
  return "response" in event && !("output_index" in event);
}
