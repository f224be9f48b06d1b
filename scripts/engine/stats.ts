import { toJson } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";

import { GenerateRequestSchema } from "../../src/engine/gen/sglang_scheduler_pb.ts";
import type { GenerateRequest } from "../../src/engine/gen/sglang_scheduler_pb.ts";

/** How many requests are kept for a look at them. */
const KEPT_REQUESTS = 64;

export interface SeenRequest {
  readonly request: GenerateRequest;
  /** The call's metadata. */
  readonly headers: Readonly<Record<string, string>>;
  readonly atMs: number;
}

/** What happened since the start or the last reset. */
export interface EngineStats {
  /** Generate calls. */
  readonly requests: number;
  /** Those that ended with `complete`. */
  readonly completed: number;
  /** Those that ended with an error status, a cut or without `complete`. */
  readonly failed: number;
  /** Generate calls that their client gave up (or whose deadline passed) before the end. */
  readonly cancelledCalls: number;
  /** Abort calls. */
  readonly aborts: number;
  /** Waiting and running requests (n per call) that an abort or a cancellation ended. */
  readonly abortedRequests: number;
  readonly embeds: number;
  readonly tokensGenerated: number;
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly running: number;
  readonly waiting: number;
  /** Calls by method name, of both services. */
  readonly calls: Readonly<Record<string, number>>;
  /** The last 64 Generate requests, oldest first. */
  readonly lastRequests: readonly SeenRequest[];
  /** The last 64 request ids that Abort was called with. */
  readonly lastAborts: readonly string[];
}

type CallCounter = "requests" | "completed" | "failed" | "cancelledCalls" | "aborts" | "embeds";

/** Counts what the calls do; the scheduler counts tokens itself. */
export class CallStats {
  readonly counts: Record<CallCounter, number> = {
    requests: 0,
    completed: 0,
    failed: 0,
    cancelledCalls: 0,
    aborts: 0,
    embeds: 0,
  };
  readonly calls: Record<string, number> = {};
  readonly lastRequests: SeenRequest[] = [];
  readonly lastAborts: string[] = [];

  sawCall(method: string): void {
    this.calls[method] = (this.calls[method] ?? 0) + 1;
  }

  sawGenerate(request: GenerateRequest, headers: Headers): void {
    this.counts.requests += 1;
    this.lastRequests.push({ request, headers: Object.fromEntries(headers), atMs: Date.now() });
    if (this.lastRequests.length > KEPT_REQUESTS) this.lastRequests.shift();
  }

  sawAbort(requestId: string): void {
    this.counts.aborts += 1;
    this.lastAborts.push(requestId);
    if (this.lastAborts.length > KEPT_REQUESTS) this.lastAborts.shift();
  }
}

/** The statistics as JSON; requests in protobuf's JSON form with the wire's field names. */
export function statsToJson(stats: EngineStats): JsonObject {
  const { lastRequests, lastAborts, calls, ...counts } = stats;
  return {
    ...counts,
    calls: { ...calls },
    lastRequests: lastRequests.map(({ request, headers, atMs }) => ({
      atMs,
      headers: { ...headers },
      request: toJson(GenerateRequestSchema, request, { useProtoFieldName: true }),
    })),
    lastAborts: [...lastAborts],
  };
}
