import { create } from "@bufbuild/protobuf";

import type { EngineGenerateRequest, EngineMessage, EngineSampling } from "./engine-message.ts";
import {
  GenerateRequestSchema,
  SamplingParamsSchema,
  type GenerateComplete,
  type GenerateRequest,
  type GenerateResponse,
} from "./gen/sglang_scheduler_pb.ts";

/** The engine's request. Every sampling field is set: proto3 zeros are not the engine's defaults. */
export function toGenerateRequest(request: EngineGenerateRequest): GenerateRequest {
  const { loraId } = request.sampling;
  return create(GenerateRequestSchema, {
    requestId: request.requestId,
    tokenized: { originalText: request.promptText, inputIds: Array.from(request.inputIds) },
    samplingParams: toSamplingParams(request.sampling),
    returnLogprob: false,
    logprobStartLen: -1,
    stream: true,
    ...(loraId === undefined ? {} : { loraId }),
  });
}

function toSamplingParams(sampling: EngineSampling) {
  const { maxNewTokens, streamInterval, customParams } = sampling;
  return create(SamplingParamsSchema, {
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    minP: sampling.minP,
    frequencyPenalty: sampling.frequencyPenalty,
    presencePenalty: sampling.presencePenalty,
    repetitionPenalty: sampling.repetitionPenalty,
    stop: [...sampling.stop],
    stopTokenIds: [...sampling.stopTokenIds],
    minNewTokens: sampling.minNewTokens,
    ignoreEos: sampling.ignoreEos,
    noStopTrim: sampling.noStopTrim,
    skipSpecialTokens: sampling.skipSpecialTokens,
    spacesBetweenSpecialTokens: sampling.spacesBetweenSpecialTokens,
    n: sampling.n,
    logitBias: sampling.logitBias,
    ...(maxNewTokens === undefined ? {} : { maxNewTokens }),
    ...(streamInterval === undefined ? {} : { streamInterval }),
    ...(customParams === undefined ? {} : { customParams: toJsonObject(customParams) }),
  });
}

/** customParams came out of JSON, so this only convinces the type checker; anything else is dropped by JSON itself. */
function toJsonObject(value: Readonly<Record<string, unknown>>): Record<string, never> {
  return JSON.parse(JSON.stringify(value));
}

/** One message in our own words; null for an empty one. */
export function toEngineMessage(response: GenerateResponse): EngineMessage | null {
  const { response: body } = response;
  switch (body.case) {
    case "chunk":
      return {
        type: "chunk",
        index: body.value.index,
        tokenIds: body.value.tokenIds,
        promptTokens: body.value.promptTokens,
        completionTokens: body.value.completionTokens,
        cachedTokens: body.value.cachedTokens,
        reasoningTokens: body.value.reasoningTokens,
      };
    case "complete":
      return {
        type: "complete",
        index: body.value.index,
        finishReason: toFinishReason(body.value.finishReason),
        matchedStop: toMatchedStop(body.value),
        promptTokens: body.value.promptTokens,
        completionTokens: body.value.completionTokens,
        cachedTokens: body.value.cachedTokens,
        reasoningTokens: body.value.reasoningTokens,
      };
    case undefined:
      return null;
  }
}

function toFinishReason(text: string): "stop" | "length" | "abort" {
  return text === "length" || text === "abort" ? text : "stop";
}

function toMatchedStop(complete: GenerateComplete): number | string | null {
  return complete.matchedStop.case === undefined ? null : complete.matchedStop.value;
}
