import { setTimeout as sleep } from "node:timers/promises";

import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { ConnectRouter, Interceptor } from "@connectrpc/connect";

import {
  FlushCacheResponseSchema,
  GetTokenizerChunkSchema,
} from "../../src/engine/gen/common_pb.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus,
  HealthCheckResponseSchema as ServingResponseSchema,
} from "../../src/engine/gen/grpc_health_pb.ts";
import {
  AbortResponseSchema,
  HealthCheckResponseSchema,
  SglangScheduler,
} from "../../src/engine/gen/sglang_scheduler_pb.ts";
import { answerEmbed } from "./embed.ts";
import type { Engine } from "./engine.ts";
import { generate } from "./generate.ts";
import { loads, modelInfo, serverInfo } from "./info.ts";
import type { RpcFault } from "./scenario.ts";
import { ARCHIVE_PIECE_BYTES, packTokenizer } from "./tokenizer-archive.ts";
import type { TokenizerArchive } from "./tokenizer-archive.ts";

const LOAD_SECTIONS = new Set(["core", "memory", "spec", "lora", "disagg", "queues", "all"]);
const FLUSH_POLL_MS = 10;

/** The path whose response headers SGLang sends at once. */
export const KV_EVENTS_PATH = `/${SglangScheduler.typeName}/SubscribeKvEvents`;

/** Both services of the engine. */
export function registerServices(engine: Engine): (router: ConnectRouter) => void {
  let archive: TokenizerArchive | undefined;
  return (router) => {
    router.service(SglangScheduler, {
      generate: (request, context) => generate(engine, request, context),
      embed: (request, context) => answerEmbed(engine, request, context),
      healthCheck: async (_request, context) => {
        await sleep(engine.options.healthCheckMs, undefined, { signal: context.signal });
        return create(HealthCheckResponseSchema, { healthy: true, message: "Health check passed" });
      },
      abort: ({ requestId }) => {
        engine.stats.sawAbort(requestId);
        engine.scheduler.abort(requestId);
        return create(AbortResponseSchema, {
          success: true,
          message: `Request ${requestId} aborted`,
        });
      },
      getModelInfo: () => modelInfo(engine),
      getServerInfo: () => serverInfo(engine),
      getLoads: ({ include, dpRank }) => {
        const unknown = include.find((section) => !LOAD_SECTIONS.has(section));
        if (unknown !== undefined) {
          throw new ConnectError(`Invalid include section: ${unknown}`, Code.InvalidArgument);
        }
        return loads(engine, dpRank);
      },
      flushCache: ({ timeoutS }) => flushCache(engine, timeoutS * 1000),
      async *getTokenizer() {
        const folder = engine.model.files?.folder;
        if (folder === undefined) {
          throw new ConnectError("No local tokenizer directory", Code.FailedPrecondition);
        }
        archive ??= packTokenizer(folder);
        yield* pieces(archive);
      },
      async *subscribeKvEvents(_request, context) {
        if (engine.kvEvents === undefined) {
          throw new ConnectError("KV cache events not enabled.", Code.Unimplemented);
        }
        yield* engine.kvEvents.subscribe(context.signal);
      },
    });
    router.service(Health, { check: ({ service }) => serving(engine, service) });
  };
}

/** Counts calls and plays the faults that the scenario gives to whole methods. */
export function callInterceptor(engine: Engine): Interceptor {
  return (next) => async (request) => {
    engine.lastReceiveAtMs = Date.now();
    engine.stats.sawCall(request.method.name);
    engine.log.debug("call", { method: request.method.name });
    const fault = engine.scenario.rpcFault(request.method.name);
    if (fault !== undefined) await playRpcFault(fault, request.signal);
    return next(request);
  };
}

async function playRpcFault(fault: RpcFault, signal: AbortSignal): Promise<void> {
  if (fault.delayMs !== undefined) await sleep(fault.delayMs, undefined, { signal });
  if (fault.status !== undefined) throw new ConnectError(fault.status.message, fault.status.code);
  if (fault.silence === true) {
    await new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve());
    });
    throw new ConnectError("cancelled", Code.Canceled);
  }
}

function serving(engine: Engine, service: string) {
  if (service !== "" && service !== SglangScheduler.typeName) {
    throw new ConnectError(`unknown service ${service}`, Code.NotFound);
  }
  const warm = Date.now() - engine.startedAtMs >= engine.options.warmupMs;
  return create(ServingResponseSchema, {
    status:
      warm && engine.scenario.health === "serving"
        ? HealthCheckResponse_ServingStatus.SERVING
        : HealthCheckResponse_ServingStatus.NOT_SERVING,
  });
}

async function flushCache(engine: Engine, timeoutMs: number) {
  const untilMs = performance.now() + timeoutMs;
  while (!engine.scheduler.idle && performance.now() < untilMs) await sleep(FLUSH_POLL_MS);
  const success = engine.scheduler.flushCache();
  return create(FlushCacheResponseSchema, {
    success,
    message: success ? "Cache flushed" : "Cache not flushed: there are running or waiting requests",
  });
}

function* pieces({ bytes, sha256 }: TokenizerArchive) {
  for (let at = 0; at < bytes.length; at += ARCHIVE_PIECE_BYTES) {
    const end = Math.min(at + ARCHIVE_PIECE_BYTES, bytes.length);
    yield create(GetTokenizerChunkSchema, {
      data: bytes.subarray(at, end),
      ...(end === bytes.length ? { sha256 } : {}),
    });
  }
}
