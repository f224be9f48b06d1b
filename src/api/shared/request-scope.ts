import type { RequestScope } from "./handler-context.ts";

/** The part of Hono's context that the surfaces use. */
interface HonoContext {
  readonly req: { readonly raw: Request };
  readonly executionCtx: { waitUntil(work: Promise<unknown>): void };
  get(key: "requestId"): string;
}

export function toRequestScope(c: HonoContext): RequestScope {
  return {
    requestId: c.get("requestId"),
    signal: c.req.raw.signal,
    waitUntil: (work) => c.executionCtx.waitUntil(work),
  };
}
