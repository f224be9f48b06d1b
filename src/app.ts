import { Hono, type Handler } from "hono";
import { cors } from "hono/cors";

import { createChatHandler } from "./api/chat/handler.ts";
import { createCompletionHandler } from "./api/completions/handler.ts";
import { createEmbeddingHandler } from "./api/embeddings/handler.ts";
import { createReadyHandler, healthHandler } from "./api/health/handler.ts";
import { createCountTokensHandler, createMessagesHandler } from "./api/messages/handler.ts";
import { renderAnthropicErrorResponse } from "./api/messages/render-error.ts";
import { createModelHandler, createModelListHandler } from "./api/models/handler.ts";
import { createResponseHandler, responseUpgradeHandler } from "./api/responses/handler.ts";
import type { HandlerContext } from "./api/shared/handler-context.ts";
import { renderOpenAiErrorResponse } from "./api/shared/openai-error.ts";
import { createDetokenizeHandler, createTokenizeHandler } from "./api/tokenize/handler.ts";
import type { Config } from "./config.ts";
import { EdgeError, toApiError, type ApiError } from "./core/api-error.ts";
import { ERROR_TRAITS } from "./core/error-table.ts";
import { describeError } from "./core/logger.ts";
import { accessLog } from "./middleware/access-log.ts";
import { requireKey } from "./middleware/auth.ts";
import { requestId } from "./middleware/request-id.ts";

interface Route {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly handler: Handler;
  /** Answers without a key. */
  readonly isPublic?: true;
}

/** Writes an error as one protocol does. */
type ErrorRenderer = (error: ApiError, context: ErrorContext) => Response;

interface ErrorContext {
  readonly requestId: string;
  readonly modelNotFoundStatus: number;
}

/** Surfaces with an envelope of their own, by the start of their paths; all others have OpenAI's. */
const ERROR_RENDERERS: readonly { readonly path: string; readonly render: ErrorRenderer }[] = [
  { path: "/v1/messages", render: renderAnthropicErrorResponse },
];

function errorRendererOf(path: string): ErrorRenderer {
  return (
    ERROR_RENDERERS.find((entry) => path.startsWith(entry.path))?.render ??
    renderOpenAiErrorResponse
  );
}

function createRoutes(context: HandlerContext): readonly Route[] {
  const tokenize = createTokenizeHandler(context);
  const detokenize = createDetokenizeHandler(context);
  return [
    { method: "POST", path: "/v1/chat/completions", handler: createChatHandler(context) },
    { method: "POST", path: "/v1/completions", handler: createCompletionHandler(context) },
    { method: "POST", path: "/v1/responses", handler: createResponseHandler(context) },
    { method: "GET", path: "/v1/responses", handler: responseUpgradeHandler },
    { method: "POST", path: "/v1/messages", handler: createMessagesHandler(context) },
    {
      method: "POST",
      path: "/v1/messages/count_tokens",
      handler: createCountTokensHandler(context),
    },
    { method: "POST", path: "/v1/embeddings", handler: createEmbeddingHandler(context) },
    { method: "GET", path: "/v1/models", handler: createModelListHandler(context) },
    { method: "GET", path: "/v1/models/:id{.+}", handler: createModelHandler(context) },
    { method: "POST", path: "/tokenize", handler: tokenize },
    { method: "POST", path: "/v1/tokenize", handler: tokenize },
    { method: "POST", path: "/detokenize", handler: detokenize },
    { method: "POST", path: "/v1/detokenize", handler: detokenize },
    { method: "GET", path: "/health", handler: healthHandler, isPublic: true },
    { method: "GET", path: "/ready", handler: createReadyHandler(context), isPublic: true },
  ];
}

/** The whole HTTP surface. Every error, wherever it was thrown, is written here and nowhere else. */
export function createApp(context: HandlerContext, config: Config) {
  const app = new Hono<{ Variables: { requestId: string } }>();
  const { log, clock, ids } = context;

  app.use(requestId(ids));
  app.use(accessLog(log, clock));
  app.use(
    cors({
      origin: config.corsOrigins.includes("*") ? "*" : [...config.corsOrigins],
      exposeHeaders: ["x-request-id", "request-id", "retry-after", "x-sgl-edge-ignored"],
      maxAge: 86_400,
    }),
  );
  const auth = requireKey(config.apiKey);
  const methodsByPath = new Map<string, string[]>();
  for (const { method, path, handler, isPublic } of createRoutes(context)) {
    if (isPublic === true) app.on(method, path, handler);
    else app.on(method, path, auth, handler);
    methodsByPath.set(path, [...(methodsByPath.get(path) ?? []), method]);
  }
  for (const [path, methods] of methodsByPath) {
    const allow = methods.includes("GET")
      ? [...methods, "HEAD", "OPTIONS"]
      : [...methods, "OPTIONS"];
    app.all(path, (c) => {
      throw new EdgeError({ kind: "method-not-allowed", method: c.req.method, allow });
    });
  }
  app.notFound((c) => {
    throw new EdgeError({ kind: "route-not-found", method: c.req.method, path: c.req.path });
  });
  app.onError((thrown, c) => {
    const error = toApiError(thrown);
    const { logLevel } = ERROR_TRAITS[error.kind];
    log[logLevel]("request failed", {
      requestId: c.get("requestId"),
      error: error.kind,
      cause: describeError(thrown),
    });
    return errorRendererOf(c.req.path)(error, {
      requestId: c.get("requestId"),
      modelNotFoundStatus: config.unknownModelStatus,
    });
  });
  return app;
}
