import type { Handler } from "hono";

import type { GenerationService } from "../../generation/generation-service.ts";

/** GET /health: the edge itself runs. */
export const healthHandler: Handler = (c) => c.json({ status: "ok" });

/** GET /ready: at least one worker answers; 503 otherwise. */
export function createReadyHandler(context: {
  readonly service: Pick<GenerationService, "isReady">;
}): Handler {
  return async (c) => {
    const isReady = await context.service.isReady();
    return c.json({ status: isReady ? "ready" : "no worker answers" }, isReady ? 200 : 503);
  };
}
