/**
 * Everything that can go wrong with a request, made at the place that knows and written by each protocol's own
 * renderer. `detail` is shown to the client and must be safe to show; what is not goes into `EdgeError.cause`, which
 * only the log sees.
 */
export type ApiError =
  /** A field is wrong or the body is not JSON. `param` is the field's path, e.g. `messages[2].content[0].type`. */
  | {
      readonly kind: "invalid-request";
      readonly detail: string;
      readonly param?: string;
      readonly code?: string;
    }
  | { readonly kind: "unauthenticated"; readonly detail: string }
  | { readonly kind: "permission-denied"; readonly detail: string }
  | { readonly kind: "model-not-found"; readonly model: string }
  | { readonly kind: "route-not-found"; readonly method: string; readonly path: string }
  | {
      readonly kind: "method-not-allowed";
      readonly method: string;
      readonly allow: readonly string[];
    }
  /** `promptTokens + maxTokens` does not fit into `limit` tokens; `maxTokens` absent: the prompt alone is too long. */
  | {
      readonly kind: "context-length-exceeded";
      readonly limit: number;
      readonly promptTokens: number;
      readonly maxTokens?: number;
      /** The field that holds the prompt. */
      readonly param: string;
    }
  | { readonly kind: "rate-limited"; readonly detail: string; readonly retryAfterMs: number }
  | { readonly kind: "quota-exceeded"; readonly detail: string }
  | { readonly kind: "request-too-large"; readonly limitBytes: number }
  | { readonly kind: "unsupported-media-type"; readonly got: string }
  /** No worker can take the request now. */
  | { readonly kind: "no-worker-available"; readonly retryAfterMs: number }
  /** The engine or its gateway broke the call. */
  | { readonly kind: "engine-error"; readonly detail: string }
  /** The engine gave no first token, or stopped giving tokens, in time. */
  | { readonly kind: "deadline-exceeded" }
  /** The client went away; nobody reads the answer. */
  | { readonly kind: "client-cancelled" }
  | { readonly kind: "internal" };

/** The one error that is thrown on purpose. */
export class EdgeError extends Error {
  override readonly name = "EdgeError";
  readonly error: ApiError;

  constructor(error: ApiError, cause?: unknown) {
    super(error.kind, cause === undefined ? undefined : { cause });
    this.error = error;
  }
}

/** A wrong field: `param` is its path on the wire, e.g. `messages[0].role`. */
export function invalidRequest(detail: string, param?: string, code?: string): EdgeError {
  return new EdgeError({
    kind: "invalid-request",
    detail,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { code }),
  });
}

/** Any thrown value as an ApiError; what is not an EdgeError is our own fault. */
export function toApiError(thrown: unknown): ApiError {
  return thrown instanceof EdgeError ? thrown.error : { kind: "internal" };
}
