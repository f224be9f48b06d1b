import type { ChatRequest } from "../../core/chat-request.ts";
import type { Usage } from "../../core/generation-event.ts";
import type { Generation } from "../../generation/generate.ts";
import type { GenerationService } from "../../generation/generation-service.ts";
import { toSseResponse } from "../../sse/to-response.ts";
import { toHeartbeat, type HandlerContext } from "../shared/handler-context.ts";
import { openGeneration } from "../shared/open-generation.ts";
import type { MessageWriter } from "./message-writer.ts";
import { createMessageStream, PING_FRAME } from "./render-stream.ts";

export interface StreamReply {
  readonly generation: Generation;
  readonly request: ChatRequest;
  readonly writer: MessageWriter;
  readonly requestId: string;
}

/** A streamed message; a fault before the first token is thrown as EdgeError. */
export async function replyWithMessageStream(
  { generation, request, writer, requestId }: StreamReply,
  context: HandlerContext,
): Promise<Response> {
  const stream = createMessageStream(writer);
  const { first, isLate } = await openGeneration(generation, context.headersHoldMs);
  return toSseResponse({
    first,
    steps: generation.events,
    render: stream.render,
    // Clients want the start of the message before anything else, heartbeats included.
    head: isLate ? stream.start(await countUsage(request, generation, context.service)) : "",
    isHeadAlone: isLate,
    tail: "",
    heartbeat: toHeartbeat(context, { comment: PING_FRAME, emptyChunk: PING_FRAME }),
    onCancel: () => generation.cancel(),
    headers: { "request-id": requestId },
  });
}

/** What is known of the usage before the engine has said anything: the length of the prompt. */
async function countUsage(
  request: ChatRequest,
  generation: Generation,
  service: GenerationService,
): Promise<Usage> {
  try {
    const promptTokens = await countTokens(request, service);
    return { promptTokens, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
  } catch (error) {
    generation.cancel();
    throw error;
  }
}

/** Tokens of the prompt that a request is rendered to. Throws EdgeError. */
export async function countTokens(
  request: ChatRequest,
  service: GenerationService,
): Promise<number> {
  const tools = request.toolChoice.mode === "none" ? [] : request.tools;
  const { tokenIds } = await service.tokenizeChat({ ...request, tools });
  return tokenIds.length;
}
