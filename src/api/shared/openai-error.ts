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

const INVALID = "invalid_request_error";
const SERVER = "server_error";

/** How each kind is told. */
const DESCRIPTIONS: { readonly [Kind in ApiError["kind"]]: (error: Of<Kind>) => Description } = {
  "invalid-request": ({ detail, param, code }) => ({
    type: INVALID,
    code: code ?? null,
    message: detail,
    ...(param === undefined ? {} : { param }),
  }),
  unauthenticated: ({ detail }) => ({
    type: "authentication_error",
    code: "invalid_api_key",
    message: detail,
  }),
  "permission-denied": ({ detail }) => ({
    type: "permission_error",
    code: "permission_denied",
    message: detail,
  }),
  "model-not-found": ({ model }) => ({
    type: INVALID,
    code: "model_not_found",
    message: `The model '${model}' does not exist or you have no access to it.`,
    param: "model",
  }),
  "route-not-found": ({ method, path }) => ({
    type: INVALID,
    code: "route_not_found",
    message: `Unknown route: ${method} ${path}`,
  }),
  "method-not-allowed": ({ method, allow }) => ({
    type: INVALID,
    code: "method_not_allowed",
    message: `${method} is not allowed here; use ${allow.join(" or ")}.`,
  }),
  "context-length-exceeded": (error) => ({
    type: INVALID,
    code: "context_length_exceeded",
    message: describeContextLength(error),
    param: error.param,
  }),
  "request-too-large": ({ limitBytes }) => ({
    type: INVALID,
    code: "request_too_large",
    message: `The request body is larger than ${limitBytes} bytes.`,
  }),
  "unsupported-media-type": ({ got }) => ({
    type: INVALID,
    code: "unsupported_media_type",
    message: `Send the body as application/json, not as ${got}.`,
  }),
  "rate-limited": ({ detail }) => ({
    type: "rate_limit_error",
    code: "rate_limit_exceeded",
    message: detail,
  }),
  "quota-exceeded": ({ detail }) => ({
    type: "rate_limit_error",
    code: "insufficient_quota",
    message: detail,
  }),
  "no-worker-available": () => ({
    type: SERVER,
    code: "no_available_workers",
    message: "No worker can take the request now; try again later.",
  }),
  "engine-error": ({ detail }) => ({ type: SERVER, code: "upstream_error", message: detail }),
  "deadline-exceeded": () => ({
    type: SERVER,
    code: "upstream_timeout",
    message: "The engine did not answer in time.",
  }),
  "client-cancelled": () => ({
    type: SERVER,
    code: "client_cancelled",
    message: "The client went away.",
  }),
  internal: () => ({
    type: SERVER,
    code: "internal_error",
    message: "The edge failed on this request.",
  }),
};

type Of<Kind extends ApiError["kind"]> = Extract<ApiError, { readonly kind: Kind }>;

function describe<Kind extends ApiError["kind"]>(error: Of<Kind>): Description {
  const kind: Kind = error.kind;
  return DESCRIPTIONS[kind](error);
}

function describeContextLength(error: Of<"context-length-exceeded">): string {
  const { limit, promptTokens, maxTokens } = error;
  return maxTokens === undefined
    ? `This model takes at most ${limit} tokens, but the prompt alone has ${promptTokens}. Shorten it.`
    : `This model's context holds ${limit} tokens, but the request needs ${promptTokens + maxTokens} ` +
        `(${promptTokens} of the prompt, ${maxTokens} for the completion). Shorten the prompt or lower max_tokens.`;
}
