import { Code, ConnectError } from "@connectrpc/connect";

import { EdgeError, type ApiError } from "../core/api-error.ts";

/** No reply: the gateway is not there, or the connection broke. */
export class TransportError extends Error {
  override readonly name = "TransportError";
}

/** A reply that is no gRPC-Web: a web page, a redirect, broken frames. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/**
 * How a failed engine call ends for the request. `retryable`: another worker may do better, as long as no token was
 * seen. Engine text is shown only when it speaks about the request itself (INVALID_ARGUMENT and its kin).
 */
export interface EngineFailure {
  readonly error: EdgeError;
  readonly retryable: boolean;
}

const RETRY_AFTER_MS = 2_000;

/** Statuses that speak about the request: no worker would take it. */
const REQUEST_FAULTS: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.FailedPrecondition,
  Code.OutOfRange,
]);

/** Turns what a Generate call threw into the request's error. Never throws. */
export function toEngineFailure(thrown: unknown): EngineFailure {
  if (thrown instanceof ConnectError && REQUEST_FAULTS.has(thrown.code)) {
    const detail = firstLine(thrown.rawMessage);
    return failure(readTooLong(detail) ?? { kind: "invalid-request", detail }, thrown, false);
  }
  const { error, retryable } = toWorkerFailure(thrown);
  // The engine has looked at the request and failed on it: the next one would look at it too.
  return {
    error,
    retryable:
      retryable && !(thrown instanceof ConnectError && error.error.kind === "engine-error"),
  };
}

/** SGLang's words for a prompt that is too long for it; its advice speaks to operators, not to clients. */
function readTooLong(detail: string): ApiError | undefined {
  const numbers = /input length \((\d+) tokens\) exceeds .*\((\d+) tokens\)/i.exec(detail);
  if (numbers === null) return undefined;
  return {
    kind: "context-length-exceeded",
    promptTokens: Number(numbers[1]),
    limit: Number(numbers[2]),
    param: "messages",
  };
}

/** Turns what any other call of a worker threw into the request's error: the client had no part in it. */
export function toWorkerFailure(thrown: unknown): EngineFailure {
  if (thrown instanceof EdgeError) {
    const { kind } = thrown.error;
    return {
      error: thrown,
      retryable: kind === "no-worker-available" || kind === "deadline-exceeded",
    };
  }
  const cause = thrown instanceof ConnectError ? thrown.cause : thrown;
  if (cause instanceof ProtocolError) {
    return failure(
      { kind: "engine-error", detail: "The engine's gateway gave no valid reply." },
      thrown,
      true,
    );
  }
  if (!(thrown instanceof ConnectError) || cause instanceof TransportError) {
    return failure({ kind: "no-worker-available", retryAfterMs: RETRY_AFTER_MS }, thrown, true);
  }
  if (thrown.code === Code.Unavailable || thrown.code === Code.ResourceExhausted) {
    return failure({ kind: "no-worker-available", retryAfterMs: RETRY_AFTER_MS }, thrown, true);
  }
  if (thrown.code === Code.DeadlineExceeded) {
    return failure({ kind: "deadline-exceeded" }, thrown, true);
  }
  return failure(
    { kind: "engine-error", detail: `The engine failed (${Code[thrown.code]}).` },
    thrown,
    true,
  );
}

function failure(error: ApiError, cause: unknown, retryable: boolean): EngineFailure {
  return { error: new EdgeError(error, cause), retryable };
}

/** Engine messages can carry a Python traceback after the first line. */
function firstLine(message: string): string {
  const line = message.split("\n", 1)[0]?.trim() ?? "";
  return line === "" ? "The engine refused the request." : line.slice(0, 500);
}
