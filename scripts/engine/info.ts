import { create } from "@bufbuild/protobuf";
import type { JsonObject } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";

import {
  AggregateMetricsSchema,
  GetLoadsResponseSchema,
  GetModelInfoResponseSchema,
  GetServerInfoResponseSchema,
  SchedulerLoadSchema,
} from "../../src/engine/gen/sglang_scheduler_pb.ts";
import type {
  GetLoadsResponse,
  GetModelInfoResponse,
  GetServerInfoResponse,
} from "../../src/engine/gen/sglang_scheduler_pb.ts";
import { SGLANG_VERSION } from "./engine.ts";
import type { Engine } from "./engine.ts";

export function modelInfo({ model, options }: Engine): GetModelInfoResponse {
  const defaults = model.files?.generationConfig ?? {};
  return create(GetModelInfoResponseSchema, {
    modelPath: model.modelPath,
    tokenizerPath: model.files?.folder ?? "",
    isGeneration: !options.embedding,
    weightVersion: options.weightVersion,
    servedModelName: model.servedModelName,
    // The KV pool's size, as SGLang fills it in.
    maxContextLength: options.maxTotalTokens,
    vocabSize: model.vocabSize(),
    modelType: model.modelType,
    eosTokenIds: [...model.eosTokenIds],
    padTokenId: model.padTokenId,
    bosTokenId: model.bosTokenId,
    maxReqInputLen: model.maxReqInputLen,
    architectures: [...model.architectures],
    defaultSamplingParamsJson: samplingDefaults(defaults),
  });
}

const SAMPLING_DEFAULTS = ["temperature", "top_p", "top_k", "min_p", "repetition_penalty"];

function samplingDefaults(generationConfig: Readonly<Record<string, unknown>>): string {
  const set = SAMPLING_DEFAULTS.filter((name) => typeof generationConfig[name] === "number");
  if (set.length === 0) return "";
  return JSON.stringify(Object.fromEntries(set.map((name) => [name, generationConfig[name]])));
}

export function serverInfo(engine: Engine): GetServerInfoResponse {
  const { options, scheduler, startedAtMs } = engine;
  const load = scheduler.load();
  return create(GetServerInfoResponseSchema, {
    serverArgs: serverArgs(engine),
    schedulerInfo: {
      status: "ready",
      max_total_num_tokens: options.maxTotalTokens,
      max_req_input_len: engine.model.maxReqInputLen,
      is_generation: !options.embedding,
    },
    activeRequests: load.running + load.waiting,
    isPaused: false,
    lastReceiveTimestamp: engine.lastReceiveAtMs / 1000,
    uptimeSeconds: (Date.now() - startedAtMs) / 1000,
    sglangVersion: SGLANG_VERSION,
    serverType: "grpc",
    startTime: timestampFromMs(Math.floor(startedAtMs / 1000) * 1000),
    maxTotalNumTokens: options.maxTotalTokens,
  });
}

/** The server's command line as SGLang names it; null is "not given". */
function serverArgs({ model, options }: Engine): JsonObject {
  return {
    model_path: model.modelPath,
    tokenizer_path: model.files?.folder ?? null,
    served_model_name: model.servedModelName,
    host: options.host,
    port: options.port,
    skip_tokenizer_init: options.skipTokenizerInit,
    context_length: model.contextLength,
    is_embedding: options.embedding,
    weight_version: options.weightVersion,
    tool_call_parser: options.toolCallParser ?? null,
    reasoning_parser: options.reasoningParser ?? null,
    disaggregation_mode: options.disaggregationMode,
    max_running_requests: options.maxRunningRequests,
    max_queued_requests: options.maxQueuedRequests ?? null,
    max_total_tokens: options.maxTotalTokens,
    page_size: options.pageSize,
    disable_radix_cache: !options.prefixCache,
    stream_interval: options.streamInterval,
    kv_events_config: options.kvEvents ? '{"publisher": "zmq"}' : null,
    grpc_mode: true,
    tp_size: 1,
    dp_size: 1,
  };
}

/** The load of the one rank there is; another rank has none. */
export function loads(engine: Engine, dpRank: number | undefined): GetLoadsResponse {
  const { options, scheduler } = engine;
  const now = scheduler.load();
  const { promptTokens, cachedTokens } = scheduler.counts;
  const tokenUsage = round(now.usedTokens / options.maxTotalTokens, 4);
  const utilization = round(now.running / options.maxRunningRequests, 4);
  const load = create(SchedulerLoadSchema, {
    dpRank: 0,
    numRunningReqs: now.running,
    numWaitingReqs: now.waiting,
    numTotalReqs: now.running + now.waiting,
    numUsedTokens: now.usedTokens,
    maxTotalNumTokens: options.maxTotalTokens,
    tokenUsage,
    genThroughput: now.tokensPerSecond,
    cacheHitRate: promptTokens === 0 ? 0 : round(cachedTokens / promptTokens, 4),
    utilization,
    maxRunningRequests: options.maxRunningRequests,
    numWaitingUncachedTokens: now.waitingUncachedTokens,
  });
  const shown = dpRank === undefined || dpRank === 0 ? [load] : [];
  return create(GetLoadsResponseSchema, {
    timestamp: new Date().toISOString(),
    version: SGLANG_VERSION,
    dpRankCount: shown.length,
    loads: shown,
    aggregate: create(
      AggregateMetricsSchema,
      shown.length === 0
        ? {}
        : {
            totalRunningReqs: now.running,
            totalWaitingReqs: now.waiting,
            totalReqs: now.running + now.waiting,
            avgTokenUsage: tokenUsage,
            avgThroughput: now.tokensPerSecond,
            avgUtilization: utilization,
          },
    ),
  });
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
