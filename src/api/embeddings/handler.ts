import type { Handler } from "hono";

import type { TextPrompt } from "../../core/chat-request.ts";
import type { HandlerContext } from "../shared/handler-context.ts";
import { readJson } from "../shared/read-json.ts";
import { parseWire } from "../shared/schema.ts";
import { renderEmbeddings } from "./render-response.ts";
import { embeddingRequest, type EmbeddingRequest } from "./schema.ts";

/** POST /v1/embeddings */
export function createEmbeddingHandler(
  context: Pick<HandlerContext, "service" | "maxBodyBytes">,
): Handler {
  return async (c) => {
    const wire = parseWire(embeddingRequest, await readJson(c.req.raw, context.maxBodyBytes));
    const inputs = toInputs(wire.input);
    const result = await context.service.embed({ model: wire.model, inputs }, c.req.raw.signal);
    const encoding = wire.encoding_format ?? "float";
    return c.json(renderEmbeddings(result, { model: wire.model, encoding }));
  };
}

function toInputs(wire: EmbeddingRequest["input"]): readonly TextPrompt[] {
  if (typeof wire === "string") return [wire];
  return isOneInput(wire) ? [wire] : wire;
}

function isOneInput(wire: Exclude<EmbeddingRequest["input"], string>): wire is number[] {
  return typeof wire[0] === "number";
}
