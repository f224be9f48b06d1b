import type { MiddlewareHandler } from "hono";

import type { IdSource } from "../core/ids.ts";

/** Longest and only characters that a client's own id may have; anything else could forge log lines. */
const SANE_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** Gives every request an id (the client's own when it is sane) and every reply its `x-request-id`. */
export function requestId(ids: IdSource): MiddlewareHandler<{ Variables: { requestId: string } }> {
  return async (c, next) => {
    const given = c.req.header("x-request-id");
    const id = given !== undefined && SANE_ID.test(given) ? given : `req_${ids.hex(24)}`;
    c.set("requestId", id);
    await next();
    c.res.headers.set("x-request-id", id);
  };
}
