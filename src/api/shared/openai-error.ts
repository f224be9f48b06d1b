import type { ApiError } from "../../core/api-error.ts";
import { ERROR_TRAITS } from "../../core/error-table.ts";

/** The error envelope of all OpenAI surfaces. */
export interface OpenAiError {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

/** `modelNotFoundStatus`: what an unknown model answers with; 404, or 400 as SGLang's own server does. */
export interface ErrorReplyOptions {
  readonly modelNotFoundStatus: number;
}

/** A whole reply that tells an error, with the headers that belong to it. */
export function renderOpenAiErrorResponse(error: ApiError, options: ErrorReplyOptions): Response {
  const status =
    error.kind === "model-not-found"
      ? options.modelNotFoundStatus
      : ERROR_TRAITS[error.kind].status;
  const headers = new Headers();
  if (error.kind === "method-not-allowed") headers.set("allow", error.allow.join(", "));
  if (error.kind === "unauthenticated") headers.set("www-authenticate", "Bearer");
  if (error.kind === "rate-limited" || error.kind === "no-worker-available") {
    headers.set("retry-after", String(Math.max(1, Math.ceil(error.retryAfterMs / 1_000))));
  }
  return Response.json(renderOpenAiError(error), { status, headers });
}

/** The envelope alone, as it also stands inside a stream. */
export function renderOpenAiError(error: ApiError): OpenAiError {
  const { type, code, message, param } = describe(error);
  return { error: { message, type, param: param ?? null, code } };
}

interface Description {
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
  readonly param?: string;
}

function describe(error: ApiError): Description {
  const invalid = "invalid_request_error";
  switch (error.kind) {
    case "invalid-request":
      return {
        type: invalid,
        code: error.code ?? null,
        message: error.detail,
        ...(error.param === undefined ? {} : { param: error.param }),
      };
    case "unauthenticated":
      return { type: "authentication_error", code: "invalid_api_key", message: error.detail };
    case "permission-denied":
      return { type: "permission_error", code: "permission_denied", message: error.detail };
    case "model-not-found":
      return {
        type: invalid,
        code: "model_not_found",
        message: `The model '${error.model}' does not exist or you have no access to it.`,
        param: "model",
      };
    case "route-not-found":
      return {
        type: invalid,
        code: "route_not_found",
        message: `Unknown route: ${error.method} ${error.path}`,
      };
    case "method-not-allowed":
      return {
        type: invalid,
        code: "method_not_allowed",
        message: `${error.method} is not allowed here; use ${error.allow.join(" or ")}.`,
      };
    case "context-length-exceeded":
      return {
        type: invalid,
        code: "context_length_exceeded",
        message: describeContextLength(error),
        param: "messages",
      };
    case "request-too-large":
      return {
        type: invalid,
        code: "request_too_large",
        message: `The request body is larger than ${error.limitBytes} bytes.`,
      };
    case "unsupported-media-type":
      return {
        type: invalid,
        code: "unsupported_media_type",
        message: `Send the body as application/json, not as ${error.got}.`,
      };
    default:
      return describeOther(error);
  }
}

function describeOther(error: ApiError): Description {
  const server = "server_error";
  switch (error.kind) {
    case "rate-limited":
      return { type: "rate_limit_error", code: "rate_limit_exceeded", message: error.detail };
    case "quota-exceeded":
      return { type: "rate_limit_error", code: "insufficient_quota", message: error.detail };
    case "no-worker-available":
      return {
        type: server,
        code: "no_available_workers",
        message: "No worker can take the request now; try again later.",
      };
    case "engine-error":
      return { type: server, code: "upstream_error", message: error.detail };
    case "deadline-exceeded":
      return {
        type: server,
        code: "upstream_timeout",
        message: "The engine did not answer in time.",
      };
    case "client-cancelled":
      return { type: server, code: "client_cancelled", message: "The client went away." };
    default:
      return { type: server, code: "internal_error", message: "The edge failed on this request." };
  }
}

function describeContextLength(
  error: Extract<ApiError, { kind: "context-length-exceeded" }>,
): string {
  const { limit, promptTokens, maxTokens } = error;
  return maxTokens === undefined
    ? `This model takes at most ${limit} tokens, but the prompt alone has ${promptTokens}. Shorten the messages.`
    : `This model's context holds ${limit} tokens, but the request needs ${promptTokens + maxTokens} ` +
        `(${promptTokens} of the prompt, ${maxTokens} for the completion). Shorten the messages or lower max_tokens.`;
}
