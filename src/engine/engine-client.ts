import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";

import { createEngineFetch, type GatewayEndpoint } from "./engine-fetch.ts";
import type {
  EngineEmbedding,
  EngineEmbedRequest,
  EngineGenerateRequest,
  WorkerFacts,
} from "./engine-message.ts";
import { Health, HealthCheckResponse_ServingStatus } from "./gen/grpc_health_pb.ts";
import {
  AbortRequestSchema,
  EmbedRequestSchema,
  SglangScheduler,
} from "./gen/sglang_scheduler_pb.ts";
import { toGenerateRequest } from "./generate-call.ts";
import { openGenerateStream, type GenerateStream } from "./generate-stream.ts";
import { guardUnary } from "./unary-guard.ts";
import { toWorkerFacts } from "./worker-facts.ts";

/** One worker, seen through its gateway. All calls reject with ConnectError or TransportError; see toEngineFailure. */
export interface EngineClient {
  /** Starts generating when it is first read. Always streams. Ends when `signal` aborts. */
  generate(request: EngineGenerateRequest, signal: AbortSignal): GenerateStream;
  /** The vector of one input. */
  embed(request: EngineEmbedRequest, signal: AbortSignal): Promise<EngineEmbedding>;
  /** Stops a request; also right for one that has ended or was never known. */
  abort(requestId: string, reason: string): Promise<void>;
  facts(): Promise<WorkerFacts>;
  /** Whether the worker says that it serves (the standard, cheap health check). */
  isServing(): Promise<boolean>;
}

/** How long the small calls may take. */
const CALL_TIMEOUT_MS = 5_000;
/** An embedding may wait in the engine's queue. */
const EMBED_TIMEOUT_MS = 60_000;

/** The client of one worker; holds no connection of its own. */
export function createEngineClient(endpoint: GatewayEndpoint): EngineClient {
  const engineFetch = createEngineFetch(endpoint);
  const unaryFetch = guardUnary(engineFetch);
  const transport = createGrpcWebTransport({
    baseUrl: endpoint.url.replace(/\/+$/, ""),
    useBinaryFormat: true,
    fetch: (input, init) =>
      unaryFetch(input instanceof Request ? input.url : String(input), init ?? {}),
    defaultTimeoutMs: CALL_TIMEOUT_MS,
  });
  const scheduler = createClient(SglangScheduler, transport);
  const health = createClient(Health, transport);
  return {
    generate: (request, signal) =>
      openGenerateStream(engineFetch, toGenerateRequest(request), signal),
    async embed({ requestId, inputIds }, signal) {
      const { embedding, promptTokens } = await scheduler.embed(
        create(EmbedRequestSchema, {
          requestId,
          tokenized: { inputIds: Array.from(inputIds) },
          samplingParams: { maxNewTokens: 0 },
        }),
        { signal, timeoutMs: EMBED_TIMEOUT_MS },
      );
      return { vector: embedding, promptTokens };
    },
    async abort(requestId, reason) {
      await scheduler.abort(create(AbortRequestSchema, { requestId, reason }));
    },
    async facts() {
      const [model, server] = await Promise.all([
        scheduler.getModelInfo({}),
        scheduler.getServerInfo({}),
      ]);
      return toWorkerFacts(model, server);
    },
    async isServing() {
      const { status } = await health.check({});
      return status === HealthCheckResponse_ServingStatus.SERVING;
    },
  };
}
