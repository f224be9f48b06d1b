import type { Handler } from "hono";

import { foldGeneration } from "../../generation/fold.ts";
import { superviseGeneration, type HandlerContext } from "../shared/handler-context.ts";
import { readJson } from "../shared/read-json.ts";
import { replyWithStream } from "../shared/reply.ts";
import { toRequestScope } from "../shared/request-scope.ts";
import { parseWire } from "../shared/schema.ts";
import { renderCompletionResponse } from "./render-response.ts";
import { createCompletionStream } from "./render-stream.ts";
import { completionRequest } from "./schema.ts";
import { toTextRequest } from "./to-text-request.ts";

/** POST /v1/completions */
export function createCompletionHandler(context: HandlerContext): Handler {
  return async (c) => {
    const startedAt = context.clock.now();
    const scope = toRequestScope(c);
    const wire = parseWire(completionRequest, await readJson(c.req.raw, context.maxBodyBytes));
    const request = toTextRequest(wire);
    const starting = context.service.startText(request);
    // What is loaded here serves other requests as well: it goes on when this client leaves.
    scope.waitUntil(starting.catch(() => undefined));
    const { generation, prompts } = await starting;
    superviseGeneration(generation, { ...scope, model: wire.model }, context);
    const reply = {
      id: `cmpl-${context.ids.hex(32)}`,
      created: Math.floor(context.clock.now() / 1_000),
      model: wire.model,
      hasLogprobs: request.logprobs !== undefined,
      n: request.n,
      echo: request.echo ? prompts : null,
    };
    if (wire.stream !== true) {
      return c.json(renderCompletionResponse(await foldGeneration(generation.events), reply));
    }
    const stream = createCompletionStream({
      ...reply,
      includeUsage: wire.stream_options?.include_usage ?? false,
      continuousUsage: wire.stream_options?.continuous_usage_stats ?? false,
    });
    return replyWithStream(generation, stream, { ...context, startedAt });
  };
}
