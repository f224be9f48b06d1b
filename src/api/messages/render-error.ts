import type { ApiError } from "../../core/api-error.ts";
import { ERROR_TRAITS } from "../../core/error-table.ts";
import { renderOpenAiError } from "../shared/openai-error.ts";

/** Anthropic's error envelope, the same in a reply and inside a stream. */
export interface AnthropicError {
  readonly type: "error";
  readonly error: {
    readonly type: string;
    readonly message: string;
    readonly details?: { readonly error_code: string; readonly unsupported: readonly string[] };
  };
  readonly request_id: string;
}

/** The refusal after which the SDK's tool runner sends whole conversations. */
export const THREAD_UNSUPPORTED = "thread_unsupported_request";

/** Anthropic's own status for "try again later": its SDKs wait for it. */
const OVERLOADED_STATUS = 529;

const TYPES: Readonly<Record<ApiError["kind"], string>> = {
  "invalid-request": "invalid_request_error",
  unauthenticated: "authentication_error",
  "permission-denied": "permission_error",
  "model-not-found": "not_found_error",
  "route-not-found": "not_found_error",
  "method-not-allowed": "invalid_request_error",
  "context-length-exceeded": "invalid_request_error",
  "rate-limited": "rate_limit_error",
  "quota-exceeded": "rate_limit_error",
  "request-too-large": "request_too_large",
  "unsupported-media-type": "invalid_request_error",
  "no-worker-available": "overloaded_error",
  "engine-error": "api_error",
  "deadline-exceeded": "api_error",
  "client-cancelled": "api_error",
  internal: "api_error",
};

export interface ErrorReplyContext {
  readonly requestId: string;
  /** What an unknown model answers with. */
  readonly modelNotFoundStatus: number;
}

/** A whole reply that tells an error, with the headers that belong to it. */
export function renderAnthropicErrorResponse(
  error: ApiError,
  { requestId, modelNotFoundStatus }: ErrorReplyContext,
): Response {
  const headers = new Headers({ "request-id": requestId });
  if (error.kind === "method-not-allowed") headers.set("allow", error.allow.join(", "));
  if (error.kind === "unauthenticated") headers.set("www-authenticate", "Bearer");
  if (error.kind === "rate-limited" || error.kind === "no-worker-available") {
    headers.set("retry-after", String(Math.max(1, Math.ceil(error.retryAfterMs / 1_000))));
  }
  return Response.json(renderAnthropicError(error, requestId), {
    status: statusOf(error, modelNotFoundStatus),
    headers,
  });
}

function statusOf({ kind }: ApiError, modelNotFoundStatus: number): number {
  if (kind === "no-worker-available") return OVERLOADED_STATUS;
  return kind === "model-not-found" ? modelNotFoundStatus : ERROR_TRAITS[kind].status;
}

/** The envelope alone. */
export function renderAnthropicError(error: ApiError, requestId: string): AnthropicError {
  return {
    type: "error",
    error: { type: TYPES[error.kind], message: describe(error), ...detailsOf(error) },
    request_id: requestId,
  };
}

/** Claude Code reads the numbers of both context sentences: they must stay as they are, word for word. */
function describe(error: ApiError): string {
  if (error.kind !== "context-length-exceeded") return renderOpenAiError(error).error.message;
  const { limit, promptTokens, maxTokens } = error;
  return maxTokens === undefined
    ? `prompt is too long: ${promptTokens} tokens > ${limit} maximum`
    : `input length and \`max_tokens\` exceed context limit: ${promptTokens} + ${maxTokens} > ${limit}, ` +
        "decrease input length or `max_tokens` and try again";
}

function detailsOf(error: ApiError): Pick<AnthropicError["error"], "details"> {
  if (error.kind !== "invalid-request" || error.code !== THREAD_UNSUPPORTED) return {};
  return { details: { error_code: error.code, unsupported: [error.param ?? "thread"] } };
}
