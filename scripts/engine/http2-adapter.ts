import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

import {
  Code,
  createConnectRouter,
  createContextKey,
  createContextValues,
} from "@connectrpc/connect";
import type { ConnectRouter, ConnectRouterOptions, HandlerContext } from "@connectrpc/connect";
import {
  universalRequestFromNodeRequest,
  universalResponseToNodeResponse,
} from "@connectrpc/connect-node";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";

import type { Log } from "./log.ts";

type Cut = (what: "stream" | "connection") => void;

/** Reaches below gRPC, to the HTTP/2 stream that a call came in. */
const cutKey = createContextKey<Cut>(() => {});

/**
 * Ends a call without trailers, its stream alone by a reset or the whole connection, when what has been written is out.
 * It destroys the stream because `close()` with unsent data behind it never returns (Node 24).
 */
export function cutCall(context: HandlerContext, what: "stream" | "connection"): void {
  context.values.get(cutKey)(what);
}

interface AdapterOptions {
  readonly routes: (router: ConnectRouter) => void;
  readonly router: ConnectRouterOptions;
  /** Paths whose response headers go out before the first message, for streams that may long be silent. */
  readonly eagerPaths: ReadonlySet<string>;
  readonly log: Log;
}

/** A request listener for node:http2 that serves gRPC and nothing else. */
export function createGrpcListener(options: AdapterOptions) {
  const router = createConnectRouter(options.router);
  options.routes(router);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return async (request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> => {
    const [path = ""] = request.url.split("?", 1);
    const handler = handlers.get(path);
    if (handler === undefined) {
      answerUnimplemented(path, response);
      return;
    }
    try {
      const contextValues = createContextValues().set(cutKey, (what) => {
        setImmediate(() => {
          if (what === "connection") request.stream.session?.destroy();
          else request.stream.destroy(new Error("cut by the scenario"));
        });
      });
      const answer = handler(
        universalRequestFromNodeRequest(request, response, undefined, contextValues),
      );
      await universalResponseToNodeResponse(
        options.eagerPaths.has(path) ? answerNow(answer, contentTypeOf(request)) : await answer,
        response,
      );
    } catch (error) {
      // The client has gone, or the scenario has cut the call: nobody is left to tell.
      options.log.debug("call broken off", { path, error: String(error) });
    }
  };
}

/**
 * An answer whose headers go out at once: Connect gives its own only together with the first message. The empty start
 * makes the adapter write them, and the trailers are filled in when the true answer has ended.
 */
function answerNow(
  answer: Promise<UniversalServerResponse>,
  contentType: string,
): UniversalServerResponse {
  const trailer = new Headers();
  async function* body() {
    yield new Uint8Array(0);
    const { body: messages, trailer: last } = await answer;
    if (messages !== undefined) yield* messages;
    for (const [name, value] of last ?? []) trailer.append(name, value);
  }
  return {
    status: 200,
    header: new Headers({ "content-type": contentType }),
    body: body(),
    trailer,
  };
}

function contentTypeOf(request: Http2ServerRequest): string {
  return request.headers["content-type"] ?? "application/grpc";
}

/** What a gRPC server says to a method that it does not have: headers only, with the status in them. */
function answerUnimplemented(path: string, response: Http2ServerResponse): void {
  response.stream.respond(
    {
      ":status": 200,
      "content-type": "application/grpc",
      "grpc-status": String(Code.Unimplemented),
      "grpc-message": encodeURIComponent(`unknown method ${path}`),
    },
    { endStream: true },
  );
}
