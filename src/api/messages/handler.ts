import type { Handler } from "hono";

import { superviseGeneration, type HandlerContext } from "../shared/handler-context.ts";
import { readJson } from "../shared/read-json.ts";
import { toRequestScope } from "../shared/request-scope.ts";
import { parseWire } from "../shared/schema.ts";
import { createMessageWriter } from "./message-writer.ts";
import { renderMessage } from "./render-response.ts";
import { countTokens, replyWithMessageStream } from "./reply.ts";
import { countTokensRequest, messagesRequest } from "./schema.ts";
import { hidesThinking, toChatRequest } from "./to-chat-request.ts";

/** POST /v1/messages */
export function createMessagesHandler(context: HandlerContext): Handler {
  return async (c) => {
    const scope = toRequestScope(c);
    const { requestId } = scope;
    const wire = parseWire(messagesRequest, await readJson(c.req.raw, context.maxBodyBytes));
    const request = toChatRequest(wire);
    const starting = context.service.startChat(request);
    // What is loaded here serves other requests as well: it goes on when this client leaves.
    scope.waitUntil(starting.catch(() => undefined));
    const generation = await starting;
    superviseGeneration(generation, { ...scope, model: wire.model }, context);
    const writer = createMessageWriter({
      id: `msg_${context.ids.hex(24)}`,
      requestId,
      model: wire.model,
      stopSequences: request.stop.strings,
      hidesThinking: hidesThinking(wire),
    });
    if (wire.stream === true) {
      return replyWithMessageStream({ generation, request, writer, requestId }, context);
    }
    const message = await renderMessage(generation.events, writer);
    return c.json(message, 200, { "request-id": requestId });
  };
}

/** POST /v1/messages/count_tokens */
export function createCountTokensHandler({
  service,
  maxBodyBytes,
}: Pick<HandlerContext, "service" | "maxBodyBytes">): Handler {
  return async (c) => {
    const wire = parseWire(countTokensRequest, await readJson(c.req.raw, maxBodyBytes));
    const inputTokens = await countTokens(toChatRequest(wire), service);
    const { requestId } = toRequestScope(c);
    return c.json({ input_tokens: inputTokens }, 200, { "request-id": requestId });
  };
}
