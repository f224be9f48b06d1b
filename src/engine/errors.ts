import { Code, ConnectError } from "@connectrpc/connect";

import { EdgeError } from "../core/api-error.ts";

/** A gateway that does not answer, answers with a redirect, or drops the connection; raised by the fetch wrapper. */
export class TransportError extends Error {
  override readonly name = "TransportError";
}

/**
 * How a failed engine call ends for the request. `retryable`: another worker may do better, as long as no token was
 * seen. Engine text is shown only when it speaks about the request itself (INVALID_ARGUMENT and its kin).
 */
export interface EngineFailure {
  readonly error: EdgeError;
  readonly retryable: boolean;
}

/** Seconds that a client is asked to wait when every worker is full or away. */
const RETRY_AFTER_MS = 2_000;

/** Turns whatever an engine call threw into the request's error. Never throws. */
export function toEngineFailure(thrown: unknown): EngineFailure {
  if (thrown instanceof EdgeError) {
    return {
      error: thrown,
      retryable:
        thrown.error.kind === "no-worker-available" || thrown.error.kind === "deadline-exceeded",
    };
  }
  if (!(thrown instanceof ConnectError) || thrown.cause instanceof TransportError) {
    return unavailable(thrown);
  }
  switch (thrown.code) {
    case Code.InvalidArgument:
    case Code.FailedPrecondition:
    case Code.OutOfRange:
      return {
        error: new EdgeError(
          { kind: "invalid-request", detail: firstLine(thrown.rawMessage) },
          thrown,
        ),
        retryable: false,
      };
    case Code.Unavailable:
    case Code.ResourceExhausted:
      return unavailable(thrown);
    case Code.DeadlineExceeded:
      return { error: new EdgeError({ kind: "deadline-exceeded" }, thrown), retryable: true };
    default:
      return {
        error: new EdgeError(
          { kind: "engine-error", detail: `The engine failed (${Code[thrown.code]}).` },
          thrown,
        ),
        retryable: false,
      };
  }
}

function unavailable(cause: unknown): EngineFailure {
  return {
    error: new EdgeError({ kind: "no-worker-available", retryAfterMs: RETRY_AFTER_MS }, cause),
    retryable: true,
  };
}

/** Engine messages can carry a Python traceback after the first line. */
function firstLine(message: string): string {
  const line = message.split("\n", 1)[0]?.trim() ?? "";
  return line === "" ? "The engine refused the request." : line.slice(0, 500);
}
