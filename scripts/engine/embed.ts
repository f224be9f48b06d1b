import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { HandlerContext } from "@connectrpc/connect";

import { EmbedResponseSchema } from "../../src/engine/gen/sglang_scheduler_pb.ts";
import type { EmbedRequest, EmbedResponse } from "../../src/engine/gen/sglang_scheduler_pb.ts";
import type { Engine } from "./engine.ts";
import { checkPrompt } from "./prompt.ts";
import { hashUnit } from "./random.ts";
import type { SequenceOutput, SequenceRequest } from "./sequence.ts";

/** The Embed call: the prompt goes through the same queue and prefill as a generation's. */
export async function answerEmbed(
  engine: Engine,
  request: EmbedRequest,
  context: HandlerContext,
): Promise<EmbedResponse> {
  engine.stats.counts.embeds += 1;
  if (!engine.options.embedding) {
    throw new ConnectError(
      "This model does not appear to be an embedding model.",
      Code.InvalidArgument,
    );
  }
  if (request.tokenized === undefined) {
    throw new ConnectError("Tokenized input must be provided", Code.InvalidArgument);
  }
  const prompt = checkPrompt(engine.model, request.tokenized.inputIds);
  await prefill(engine, { id: request.requestId, prompt }, context.signal);
  return create(EmbedResponseSchema, {
    embeddingDim: engine.options.embeddingDim,
    embedding: embed(prompt, engine.options.embeddingDim),
    promptTokens: prompt.length,
  });
}

async function prefill(
  { scheduler }: Engine,
  { id, prompt }: Pick<SequenceRequest, "id" | "prompt">,
  signal: AbortSignal,
): Promise<void> {
  const last = Promise.withResolvers<SequenceOutput>();
  const onCancel = () => {
    scheduler.abort(id);
    last.resolve({ type: "error", code: Code.Canceled, message: "Request cancelled" });
  };
  signal.addEventListener("abort", onCancel);
  scheduler.submit({
    id,
    index: 0,
    prompt,
    cacheSpace: "",
    cacheLimit: prompt.length - 1,
    speech: SILENT,
    stop: NOTHING,
    emit: last.resolve,
  });
  const output = await last.promise;
  signal.removeEventListener("abort", onCancel);
  if (output.type === "error") throw new ConnectError(output.message, output.code);
}

const SILENT: SequenceRequest["speech"] = {
  ids: [],
  forcedFinish: { reason: "length" },
  chunks: undefined,
  reasoningTokens: 0,
  startDelayMs: 0,
  prefillMs: undefined,
  perTokenMs: 0,
  fault: undefined,
};

const NOTHING: SequenceRequest["stop"] = {
  maxNewTokens: 0,
  minNewTokens: 0,
  stopTokenIds: new Set(),
  stopStrings: [],
  ignoreEos: false,
  streamInterval: 1,
  decode: () => "",
};

/**
 * A unit vector of a prompt: the sum of one pseudo-random vector for each token, so that it depends on the ids alone
 * and texts that share tokens are near each other.
 */
function embed(ids: Uint32Array, dimensions: number): number[] {
  const counts = new Map<number, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  const sum = new Float64Array(dimensions);
  for (const [id, times] of counts) {
    for (let at = 0; at < dimensions; at += 1) {
      sum[at] = (sum[at] ?? 0) + times * (hashUnit(id, at) - 0.5);
    }
  }
  const length = Math.hypot(...sum) || 1;
  return [...sum].map((value) => Math.fround(value / length));
}
