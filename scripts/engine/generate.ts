import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { HandlerContext } from "@connectrpc/connect";

import {
  GenerateCompleteSchema,
  GenerateResponseSchema,
  GenerateStreamChunkSchema,
  SamplingParamsSchema,
} from "../../src/engine/gen/sglang_scheduler_pb.ts";
import type {
  GenerateComplete,
  GenerateRequest,
  GenerateResponse,
  SamplingParams,
} from "../../src/engine/gen/sglang_scheduler_pb.ts";
import type { Engine } from "./engine.ts";
import { cutCall } from "./http2-adapter.ts";
import { inputLogprobs, outputLogprobs } from "./logprobs.ts";
import { OutputQueue } from "./output-queue.ts";
import { checkPrompt, refuse } from "./prompt.ts";
import { samplingProblem } from "./sampling.ts";
import type { Finish, SequenceOutput, SequenceRequest, Speech, StopRules } from "./sequence.ts";
import { speechesOf } from "./speech.ts";
import { aborted } from "./timing.ts";

type TokenOutput = Extract<SequenceOutput, { type: "tokens" }>;

/** A request that passed the checks. */
interface Accepted {
  readonly request: GenerateRequest;
  readonly params: SamplingParams;
  readonly prompt: Uint32Array;
  readonly context: HandlerContext;
  readonly progress: Progress;
}

interface Progress {
  completes: number;
  /** The scenario has cut the call. */
  cut: boolean;
}

/** The Generate call, as SGLang's gRPC server runs it around its scheduler. */
export async function* generate(
  engine: Engine,
  request: GenerateRequest,
  context: HandlerContext,
): AsyncGenerator<GenerateResponse, void, undefined> {
  const { counts } = engine.stats;
  engine.stats.sawGenerate(request, context.requestHeader);
  const progress: Progress = { completes: 0, cut: false };
  const wanted = Math.max(1, request.samplingParams?.n ?? 1);
  try {
    const accepted = { ...accept(engine, request), context, progress };
    for await (const response of respond(engine, accepted)) {
      if (response.response.case === "complete") progress.completes += 1;
      yield response;
    }
  } catch (error) {
    engine.log.warn("generate failed", { rid: request.requestId, error: String(error) });
    throw error;
  } finally {
    // Whoever hangs up after the last message has cancelled nothing.
    if (progress.completes === wanted) counts.completed += 1;
    else if (context.signal.aborted && !progress.cut) counts.cancelledCalls += 1;
    else counts.failed += 1;
    engine.log.info("generate", {
      rid: request.requestId,
      prompt: request.tokenized?.inputIds.length ?? 0,
      completes: progress.completes,
      cancelled: context.signal.aborted,
    });
  }
}

function accept(
  engine: Engine,
  request: GenerateRequest,
): Pick<Accepted, "request" | "params" | "prompt"> {
  const { tokenized, samplingParams: params } = request;
  if (engine.options.embedding) refuse("This model does not appear to be a generation model.");
  if (tokenized === undefined) refuse("Tokenized input must be provided");
  const problem = samplingProblem(params ?? create(SamplingParamsSchema), {
    vocabSize: engine.model.vocabSize(),
    skipTokenizerInit: engine.options.skipTokenizerInit,
    hasTokenizer: engine.model.files !== undefined,
  });
  if (params === undefined || problem !== undefined)
    refuse(problem ?? "sampling_params is missing");
  return { request, params, prompt: checkPrompt(engine.model, tokenized.inputIds) };
}

async function* respond(engine: Engine, accepted: Accepted) {
  const { request, params } = accepted;
  const speeches = speechesOf(request, {
    model: engine.model,
    scenario: engine.scenario,
    tokenMs: engine.options.tokenMs,
  });
  const rid = request.requestId;
  const answer = request.stream ? streamed : buffered;
  if (params.n === 1) {
    yield* answer(engine, accepted, follow(engine, accepted, [{ id: rid, speeches, index: 0 }]));
    return;
  }
  // First the prompt alone, so that every sample finds it in the cache.
  const prefix = follow(engine, accepted, [
    { id: `${rid}-prefix`, speeches, index: 0, prefillOnly: true },
  ]);
  for await (const output of prefix) await tokensOf(output, accepted);
  const samples = speeches.map((_, index) => ({ id: `${rid}-${index}`, speeches, index }));
  if (request.stream) {
    yield* streamed(engine, accepted, follow(engine, accepted, samples));
    return;
  }
  // Buffered samples run one after another, come all at once at the end, and every one says that it is the first.
  const completes: GenerateResponse[] = [];
  for (const sample of samples) {
    const outputs = follow(engine, accepted, [sample]);
    for await (const response of buffered(engine, accepted, outputs)) completes.push(response);
  }
  yield* completes;
}

interface Sample {
  readonly id: string;
  readonly index: number;
  readonly speeches: readonly Speech[];
  /** Computes the prompt and says nothing. */
  readonly prefillOnly?: boolean;
}

/** Runs samples beside each other until each has ended; a cancelled call stops listening. */
async function* follow(engine: Engine, accepted: Accepted, samples: readonly Sample[]) {
  const { context, params, request } = accepted;
  const queue = new OutputQueue<SequenceOutput>();
  const onCancel = () => {
    // Only the single request is aborted with its call; the samples of an n > 1 call run on.
    if (params.n === 1) engine.scheduler.abort(request.requestId);
    queue.close();
  };
  if (context.signal.aborted) return;
  context.signal.addEventListener("abort", onCancel);
  try {
    let running = samples.length;
    for (const sample of samples) {
      engine.scheduler.submit(
        sequenceRequest(engine, accepted, sample, (output) => {
          queue.push(output);
          if (output.type !== "tokens" || output.finish !== undefined) running -= 1;
          if (running === 0) queue.close();
        }),
      );
    }
    yield* queue.drain();
  } finally {
    context.signal.removeEventListener("abort", onCancel);
  }
  if (context.signal.aborted) throw new ConnectError("Request cancelled", Code.Canceled);
}

function sequenceRequest(
  engine: Engine,
  { params, prompt, request }: Accepted,
  { id, index, speeches, prefillOnly = false }: Sample,
  emit: SequenceRequest["emit"],
): SequenceRequest {
  const { model, options } = engine;
  const speech = speeches[index];
  if (speech === undefined) throw new Error(`no reply for sample ${index}`);
  const room = Math.max(0, model.maxReqLen - prompt.length - 1);
  // Prompt logprobs are computed, not remembered, so they shorten what the cache may give.
  const computedFrom =
    request.returnLogprob && request.logprobStartLen >= 0 ? request.logprobStartLen : prompt.length;
  const stop: StopRules = {
    maxNewTokens: prefillOnly ? 0 : Math.min(params.maxNewTokens ?? room, room),
    minNewTokens: params.minNewTokens,
    stopTokenIds: new Set([...model.eosTokenIds, ...params.stopTokenIds]),
    stopStrings: params.stop,
    ignoreEos: params.ignoreEos,
    streamInterval: Math.max(1, params.streamInterval ?? options.streamInterval),
    decode: (ids) => model.codec()?.decode(ids) ?? "",
  };
  return {
    id,
    index,
    prompt,
    cacheSpace: request.loraId,
    // The last token is always computed: it gives the first new one.
    cacheLimit: Math.min(prompt.length - 1, computedFrom),
    speech: prefillOnly ? { ...speech, startDelayMs: 0, fault: undefined } : speech,
    stop,
    emit,
  };
}

/** Each output a chunk, and the last one again as `complete`. */
async function* streamed(
  engine: Engine,
  accepted: Accepted,
  outputs: AsyncIterable<SequenceOutput>,
) {
  const started = new Set<number>();
  for await (const output of outputs) {
    const tokens = await tokensOf(output, accepted);
    const fields = sharedFields(engine, accepted, tokens, !started.has(tokens.index));
    started.add(tokens.index);
    yield responseOf(accepted, {
      case: "chunk",
      value: create(GenerateStreamChunkSchema, { ...fields, tokenIds: [...tokens.ids] }),
    });
    if (tokens.finish !== undefined && !tokens.withoutComplete) {
      yield completeOf(accepted, fields, tokens);
    }
  }
}

/** One `complete` with everything. */
async function* buffered(
  engine: Engine,
  accepted: Accepted,
  outputs: AsyncIterable<SequenceOutput>,
) {
  const ids: number[] = [];
  for await (const output of outputs) {
    const tokens = await tokensOf(output, accepted);
    ids.push(...tokens.ids);
    if (tokens.finish === undefined || tokens.withoutComplete) continue;
    const whole = { ...tokens, index: 0, ids, position: 0 };
    yield completeOf(accepted, sharedFields(engine, accepted, whole, true), whole);
  }
}

/** The output's tokens, or the end of the call that it asks for. */
async function tokensOf(output: SequenceOutput, accepted: Accepted): Promise<TokenOutput> {
  if (output.type === "tokens") return output;
  if (output.type === "error") throw new ConnectError(output.message, output.code);
  accepted.progress.cut = true;
  cutCall(accepted.context, output.what);
  // Nothing more is said until the stream is gone, so that no trailers get out.
  await aborted(accepted.context.signal);
  throw new ConnectError("cut by the scenario", Code.Aborted);
}

/** What chunk and complete have in common. */
function sharedFields(
  engine: Engine,
  { request, prompt }: Accepted,
  tokens: TokenOutput,
  isFirst: boolean,
) {
  const source = { vocabSize: engine.model.vocabSize(), topCount: request.topLogprobsNum };
  const { returnLogprob, logprobStartLen } = request;
  return {
    promptTokens: prompt.length,
    completionTokens: tokens.position + tokens.ids.length,
    cachedTokens: tokens.cachedTokens,
    index: tokens.index,
    reasoningTokens: tokens.reasoningTokens,
    ...(returnLogprob
      ? { outputLogprobs: outputLogprobs(tokens.ids, tokens.position, source) }
      : {}),
    ...(returnLogprob && logprobStartLen >= 0 && isFirst
      ? { inputLogprobs: inputLogprobs(prompt, logprobStartLen, source) }
      : {}),
  };
}

function completeOf(
  accepted: Accepted,
  fields: ReturnType<typeof sharedFields>,
  { ids, finish }: TokenOutput,
): GenerateResponse {
  return responseOf(accepted, {
    case: "complete",
    value: create(GenerateCompleteSchema, {
      ...fields,
      outputIds: [...ids],
      finishReason: finish?.reason ?? "stop",
      matchedStop: matchedStopOf(finish),
    }),
  });
}

function matchedStopOf(finish: Finish | undefined): GenerateComplete["matchedStop"] {
  const matched = finish?.matched;
  if (matched === undefined) return { case: undefined };
  return typeof matched === "number"
    ? { case: "matchedTokenId", value: matched }
    : { case: "matchedStopStr", value: matched };
}

function responseOf(
  { request }: Accepted,
  response: GenerateResponse["response"],
): GenerateResponse {
  return create(GenerateResponseSchema, { requestId: request.requestId, response });
}
