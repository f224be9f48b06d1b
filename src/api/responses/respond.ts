import {
  superviseGeneration,
  type HandlerContext,
  type RequestScope,
} from "../shared/handler-context.ts";
import { replyWithStream } from "../shared/reply.ts";
import { createResponseStream } from "./render-stream.ts";
import { createResponseMachine, foldResponse } from "./response-machine.ts";
import type { ResponseRequest } from "./schema.ts";
import type { DecodedRequest } from "./to-chat-request.ts";
import { truncate } from "./truncate.ts";
import { toWireError } from "./wire-error.ts";

interface ResponseCall {
  readonly scope: RequestScope;
  readonly wire: ResponseRequest;
  readonly decoded: DecodedRequest;
}

/** Generates a response, streamed or whole. Throws EdgeError for a fault that still has a status to tell it. */
export async function respond(
  { scope, wire, decoded: whole }: ResponseCall,
  context: HandlerContext,
): Promise<Response> {
  const { service, ids, clock } = context;
  const decoded = wire.truncation === "auto" ? await truncate(whole, service) : whole;
  const starting = service.startChat(decoded.request);
  // What is loaded here serves other requests as well: it goes on when this client leaves.
  scope.waitUntil(starting.catch(() => undefined));
  const generation = await starting;
  superviseGeneration(generation, { ...scope, model: wire.model }, context);
  const machine = createResponseMachine({
    id: `resp_${ids.hex(48)}`,
    createdAt: Math.floor(clock.now() / 1_000),
    wire,
    origins: decoded.origins,
    nameError: (error) => toWireError(error, decoded),
    ids,
    clock,
  });
  if (wire.stream === true) {
    return replyWithStream(generation, createResponseStream(machine), context);
  }
  return Response.json(await foldResponse(generation.events, machine));
}
