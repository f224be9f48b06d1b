import type { MiddlewareHandler } from "hono";

import type { Clock } from "../core/clock.ts";
import type { Logger } from "../core/logger.ts";

/** One line for each reply, when its headers go out. Query strings are left out: they are the client's. */
export function accessLog(
  log: Logger,
  clock: Clock,
): MiddlewareHandler<{ Variables: { requestId: string } }> {
  return async (c, next) => {
    const startedAt = clock.now();
    await next();
    log.info("request", {
      requestId: c.get("requestId"),
      method: c.req.method,
      path: c.req.path,
      status: c.res.status,
      ms: clock.now() - startedAt,
    });
  };
}
