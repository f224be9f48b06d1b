import type { Handler } from "hono";

import type { HandlerContext } from "../shared/handler-context.ts";
import { readJson } from "../shared/read-json.ts";
import { parseWire } from "../shared/schema.ts";
import { toTextPrompts } from "../shared/text-prompts.ts";
import { renderEmbeddings } from "./render-response.ts";
import { embeddingRequest } from "./schema.ts";

/** POST /v1/embeddings */
export function createEmbeddingHandler(
  context: Pick<HandlerContext, "service" | "maxBodyBytes">,
): Handler {
  return async (c) => {
    const wire = parseWire(embeddingRequest, await readJson(c.req.raw, context.maxBodyBytes));
    const inputs = toTextPrompts(wire.input);
    const result = await context.service.embed({ model: wire.model, inputs }, c.req.raw.signal);
    const encoding = wire.encoding_format ?? "float";
    return c.json(renderEmbeddings(result, { model: wire.model, encoding }));
  };
}
