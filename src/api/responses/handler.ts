import type { Handler } from "hono";

import { EdgeError } from "../../core/api-error.ts";
import type { HandlerContext } from "../shared/handler-context.ts";
import { readJson } from "../shared/read-json.ts";
import { toRequestScope } from "../shared/request-scope.ts";
import { parseWire } from "../shared/schema.ts";
import { respond } from "./respond.ts";
import { responseRequest } from "./schema.ts";
import { toChatRequest } from "./to-chat-request.ts";
import { toThrownWireError } from "./wire-error.ts";

/** Names the fields of the request that had to be left out, the first ones of many. */
const IGNORED_HEADER = "x-sgl-edge-ignored";
const MAX_IGNORED = 32;

/** POST /v1/responses */
export function createResponseHandler(context: HandlerContext): Handler {
  return async (c) => {
    const scope = toRequestScope(c);
    const wire = parseWire(responseRequest, await readJson(c.req.raw, context.maxBodyBytes));
    const decoded = toChatRequest(wire);
    const reply = await respond({ scope, wire, decoded }, context).catch((thrown: unknown) => {
      throw toThrownWireError(thrown, decoded);
    });
    if (decoded.ignored.length > 0) {
      const fields = decoded.ignored.slice(0, MAX_IGNORED).join(", ");
      reply.headers.set(IGNORED_HEADER, fields);
      context.log.info("fields ignored", { requestId: scope.requestId, fields });
    }
    return reply;
  };
}

/** GET /v1/responses: clients that ask for a WebSocket here go back to POST when they are told 426. */
export const responseUpgradeHandler: Handler = (c) => {
  if (c.req.header("upgrade")?.toLowerCase() !== "websocket") {
    throw new EdgeError({
      kind: "method-not-allowed",
      method: c.req.method,
      allow: ["POST", "OPTIONS"],
    });
  }
  const message = "WebSockets are not served here; send POST requests.";
  const error = { message, type: "invalid_request_error", param: null, code: "upgrade_required" };
  return c.json({ error }, 426);
};
