import type { GenerationEvent } from "../../core/generation-event.ts";
import type { Generation } from "../../generation/generate.ts";
import { PING_COMMENT, toSseResponse } from "../../sse/to-response.ts";
import { toHeartbeat, type HandlerContext } from "./handler-context.ts";
import { openGeneration } from "./open-generation.ts";

/** Writes generation events as frames of an OpenAI stream. */
export interface OpenAiStream {
  /** Goes out before everything else. */
  readonly head: string;
  readonly render: (events: readonly GenerationEvent[]) => string;
  /** A frame that says nothing: the heartbeat of clients that cannot take comments. */
  readonly idle: string;
  readonly tail: string;
}

/** A streamed reply; a fault before the first token is thrown as EdgeError. */
export async function replyWithStream(
  generation: Generation,
  stream: OpenAiStream,
  context: HandlerContext & { readonly startedAt?: number },
): Promise<Response> {
  // What the preparation took is part of the wait.
  const now = context.clock.now();
  const holdMs = context.headersHoldMs - (now - (context.startedAt ?? now));
  const { first, isLate } = await openGeneration(generation, Math.max(0, holdMs));
  return toSseResponse({
    first,
    steps: generation.events,
    render: stream.render,
    head: stream.head,
    isHeadAlone: isLate,
    tail: stream.tail,
    heartbeat: toHeartbeat(context, { comment: PING_COMMENT, emptyChunk: stream.idle }),
    onCancel: () => generation.cancel(),
    headers: {},
  });
}
