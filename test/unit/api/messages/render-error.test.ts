import { describe, it } from "vitest";

import { renderAnthropicErrorResponse } from "../../../../src/api/messages/render-error.ts";
import type { ApiError } from "../../../../src/core/api-error.ts";

interface Row {
  readonly error: ApiError;
  readonly status: number;
  readonly type: string;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const rows: readonly Row[] = [
  {
    error: { kind: "invalid-request", detail: "'x': is wrong.", param: "x" },
    status: 400,
    type: "invalid_request_error",
    message: "'x': is wrong.",
  },
  {
    error: {
      kind: "context-length-exceeded",
      limit: 100,
      promptTokens: 90,
      maxTokens: 20,
      param: "messages",
    },
    status: 400,
    type: "invalid_request_error",
    message:
      "input length and `max_tokens` exceed context limit: 90 + 20 > 100, decrease input length or `max_tokens` and try again",
  },
  {
    error: { kind: "context-length-exceeded", limit: 100, promptTokens: 101, param: "messages" },
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 101 tokens > 100 maximum",
  },
  {
    error: { kind: "unauthenticated", detail: "No." },
    status: 401,
    type: "authentication_error",
    headers: { "www-authenticate": "Bearer" },
  },
  { error: { kind: "permission-denied", detail: "No." }, status: 403, type: "permission_error" },
  { error: { kind: "model-not-found", model: "m" }, status: 404, type: "not_found_error" },
  {
    error: { kind: "route-not-found", method: "GET", path: "/v1/messages/x" },
    status: 404,
    type: "not_found_error",
  },
  {
    error: { kind: "method-not-allowed", method: "PUT", allow: ["POST", "OPTIONS"] },
    status: 405,
    type: "invalid_request_error",
    headers: { allow: "POST, OPTIONS" },
  },
  { error: { kind: "request-too-large", limitBytes: 5 }, status: 413, type: "request_too_large" },
  {
    error: { kind: "unsupported-media-type", got: "text/plain" },
    status: 415,
    type: "invalid_request_error",
  },
  {
    error: { kind: "rate-limited", detail: "Slower.", retryAfterMs: 1_200 },
    status: 429,
    type: "rate_limit_error",
    headers: { "retry-after": "2" },
  },
  { error: { kind: "quota-exceeded", detail: "Over." }, status: 429, type: "rate_limit_error" },
  {
    error: { kind: "no-worker-available", retryAfterMs: 0 },
    status: 529,
    type: "overloaded_error",
    headers: { "retry-after": "1" },
  },
  { error: { kind: "engine-error", detail: "Broken." }, status: 502, type: "api_error" },
  { error: { kind: "deadline-exceeded" }, status: 504, type: "api_error" },
  { error: { kind: "internal" }, status: 500, type: "api_error" },
];

describe("Anthropic's envelope", () => {
  it.for(rows)("tells $error.kind as $status $type", async (row, { expect }) => {
    const { error, status, type, message, headers = {} } = row;
    const response = renderAnthropicErrorResponse(error, {
      requestId: "req_1",
      modelNotFoundStatus: 404,
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      type: "error",
      error: { type, message: message ?? expect.any(String) },
      request_id: "req_1",
    });
    for (const [name, value] of Object.entries({ "request-id": "req_1", ...headers })) {
      expect(response.headers.get(name)).toBe(value);
    }
  });

  it("names what a refused thread needs", async ({ expect }) => {
    const response = renderAnthropicErrorResponse(
      {
        kind: "invalid-request",
        detail: "No threads.",
        param: "thread",
        code: "thread_unsupported_request",
      },
      { requestId: "req_1", modelNotFoundStatus: 404 },
    );
    expect(await response.json()).toMatchObject({
      error: { details: { error_code: "thread_unsupported_request", unsupported: ["thread"] } },
    });
  });
});
