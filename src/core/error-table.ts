import type { ApiError } from "./api-error.ts";

export interface ErrorTraits {
  readonly status: number;
  readonly logLevel: "info" | "warn" | "error";
}

/** HTTP status and log level of each kind of error; the one place where they are decided. */
export const ERROR_TRAITS: Readonly<Record<ApiError["kind"], ErrorTraits>> = {
  "invalid-request": { status: 400, logLevel: "info" },
  unauthenticated: { status: 401, logLevel: "info" },
  "permission-denied": { status: 403, logLevel: "info" },
  "model-not-found": { status: 404, logLevel: "info" },
  "route-not-found": { status: 404, logLevel: "info" },
  "method-not-allowed": { status: 405, logLevel: "info" },
  "context-length-exceeded": { status: 400, logLevel: "info" },
  "rate-limited": { status: 429, logLevel: "info" },
  "quota-exceeded": { status: 429, logLevel: "info" },
  "request-too-large": { status: 413, logLevel: "info" },
  "unsupported-media-type": { status: 415, logLevel: "info" },
  "no-worker-available": { status: 503, logLevel: "warn" },
  "engine-error": { status: 502, logLevel: "error" },
  "deadline-exceeded": { status: 504, logLevel: "error" },
  // Nobody reads this one; the number is the one that web servers log for it.
  "client-cancelled": { status: 499, logLevel: "info" },
  internal: { status: 500, logLevel: "error" },
};
