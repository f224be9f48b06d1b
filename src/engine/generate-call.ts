import { create } from "@bufbuild/protobuf";

import type { OutputConstraint } from "../core/chat-request.ts";
import type {
  EngineChunk,
  EngineGenerateRequest,
  EngineLogprob,
  EngineMessage,
  EngineSampling,
} from "./engine-message.ts";
import {
  GenerateRequestSchema,
  SamplingParamsSchema,
  type GenerateComplete,
  type GenerateRequest,
  type GenerateResponse,
  type GenerateStreamChunk,
  type InputLogProbs,
  type OutputLogProbs,
  type SamplingParams,
  type TopLogProbs,
} from "./gen/sglang_scheduler_pb.ts";

/** The engine's request. Every sampling field is set: proto3 zeros are not the engine's defaults. */
export function toGenerateRequest(request: EngineGenerateRequest): GenerateRequest {
  const { loraId } = request.sampling;
  const { logprobs } = request;
  return create(GenerateRequestSchema, {
    requestId: request.requestId,
    tokenized: { originalText: request.promptText, inputIds: Array.from(request.inputIds) },
    samplingParams: toSamplingParams(request.sampling),
    returnLogprob: logprobs !== undefined,
    logprobStartLen: logprobs?.prompt === true ? 0 : -1,
    topLogprobsNum: logprobs?.top ?? 0,
    requireReasoning: request.requireReasoning,
    stream: true,
    ...(loraId === undefined ? {} : { loraId }),
  });
}

function toSamplingParams(sampling: EngineSampling) {
  const { maxNewTokens, streamInterval, customParams, constraint } = sampling;
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
    ...(constraint === undefined ? {} : { constraint: toConstraint(constraint) }),
    ...(maxNewTokens === undefined ? {} : { maxNewTokens }),
    ...(streamInterval === undefined ? {} : { streamInterval }),
    ...(customParams === undefined ? {} : { customParams: toJsonObject(customParams) }),
  });
}

function toConstraint({ type, text }: OutputConstraint): SamplingParams["constraint"] {
  switch (type) {
    case "regex":
      return { case: "regex", value: text };
    case "json-schema":
      return { case: "jsonSchema", value: text };
    case "ebnf":
      return { case: "ebnfGrammar", value: text };
    case "structural-tag":
      return { case: "structuralTag", value: text };
  }
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
      return toChunk(body.value);
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
        ...readPromptLogprobs(body.value.inputLogprobs),
      };
    case undefined:
      return null;
  }
}

function toChunk(chunk: GenerateStreamChunk): EngineChunk {
  const { outputLogprobs, inputLogprobs } = chunk;
  return {
    type: "chunk",
    index: chunk.index,
    tokenIds: chunk.tokenIds,
    promptTokens: chunk.promptTokens,
    completionTokens: chunk.completionTokens,
    cachedTokens: chunk.cachedTokens,
    reasoningTokens: chunk.reasoningTokens,
    ...(outputLogprobs === undefined ? {} : { logprobs: toLogprobs(outputLogprobs) }),
    ...readPromptLogprobs(inputLogprobs),
  };
}

function toLogprobs({ tokenIds, tokenLogprobs, topLogprobs }: OutputLogProbs): EngineLogprob[] {
  return tokenIds.map((tokenId, position) => ({
    tokenId,
    logprob: tokenLogprobs[position] ?? null,
    top: toTop(topLogprobs[position]),
  }));
}

function readPromptLogprobs(rows: InputLogProbs | undefined): {
  readonly promptLogprobs?: readonly EngineLogprob[];
} {
  if (rows === undefined || rows.tokenIds.length === 0) return {};
  const { tokenIds, tokenLogprobs, topLogprobs } = rows;
  const promptLogprobs = tokenIds.map((tokenId, position) => ({
    tokenId,
    logprob: tokenLogprobs[position]?.value ?? null,
    top: toTop(topLogprobs[position]),
  }));
  return { promptLogprobs };
}

function toTop(row: TopLogProbs | undefined): EngineLogprob["top"] {
  if (row === undefined) return [];
  return row.tokenIds.map((tokenId, rank) => ({ tokenId, logprob: row.values[rank] ?? -Infinity }));
}

function toFinishReason(text: string): "stop" | "length" | "abort" {
  return text === "length" || text === "abort" ? text : "stop";
}

function toMatchedStop(complete: GenerateComplete): number | string | null {
  return complete.matchedStop.case === undefined ? null : complete.matchedStop.value;
}
