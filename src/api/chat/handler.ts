import type { Handler } from "hono";

import { foldGeneration } from "../../generation/fold.ts";
import { superviseGeneration, type HandlerContext } from "../shared/handler-context.ts";
import { readJson } from "../shared/read-json.ts";
import { replyWithStream } from "../shared/reply.ts";
import { toRequestScope } from "../shared/request-scope.ts";
import { parseWire } from "../shared/schema.ts";
import { renderChatResponse } from "./render-response.ts";
import { createChatStream } from "./render-stream.ts";
import { chatCompletionRequest } from "./schema.ts";
import { toChatRequest } from "./to-chat-request.ts";

/** POST /v1/chat/completions */
export function createChatHandler(context: HandlerContext): Handler {
  return async (c) => {
    const startedAt = context.clock.now();
    const scope = toRequestScope(c);
    const wire = parseWire(chatCompletionRequest, await readJson(c.req.raw, context.maxBodyBytes));
    const request = toChatRequest(wire);
    const starting = context.service.startChat(request);
    // What is loaded here serves other requests as well: it goes on when this client leaves.
    scope.waitUntil(starting.catch(() => undefined));
    const generation = await starting;
    superviseGeneration(generation, { ...scope, model: wire.model }, context);
    const reply = {
      id: `chatcmpl-${context.ids.hex(32)}`,
      created: Math.floor(context.clock.now() / 1_000),
      model: wire.model,
      hasReasoning: generation.hasReasoning,
      hasLogprobs: request.logprobs !== undefined,
    };
    if (wire.stream !== true) {
      return c.json(renderChatResponse(await foldGeneration(generation.events), reply));
    }
    const stream = createChatStream({
      ...reply,
      n: generation.n,
      includeUsage: wire.stream_options?.include_usage ?? false,
      continuousUsage: wire.stream_options?.continuous_usage_stats ?? false,
    });
    return replyWithStream(generation, stream, { ...context, startedAt });
  };
}
