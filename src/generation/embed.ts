import { EdgeError, invalidRequest } from "../core/api-error.ts";
import type { TextPrompt } from "../core/chat-request.ts";
import { toEngineFailure } from "../engine/errors.ts";
import { roundRobin } from "../routing/round-robin.ts";
import { firstFacts, requireWorkers } from "./make-plan.ts";
import { loadModel, makeTextPrompt } from "./make-prompt.ts";
import type { PrepareContext } from "./prepare-chat.ts";
import { mapBounded, type Worker } from "./worker-directory.ts";

export interface EmbedRequest {
  readonly model: string;
  readonly inputs: readonly TextPrompt[];
}

export interface EmbedResult {
  /** One vector for each input, in their order. */
  readonly vectors: readonly (readonly number[])[];
  readonly promptTokens: number;
}

/** Calls at a time: the platform lets six wait for their headers. */
const MAX_PARALLEL = 5;
/** Workers that are tried for one input. */
const MAX_TRIES = 3;

/** Vectors of texts. Throws EdgeError; a model that writes text is the client's mistake. */
export async function embed(
  request: EmbedRequest,
  context: PrepareContext,
  signal: AbortSignal,
): Promise<EmbedResult> {
  const [model, workers] = await Promise.all([
    loadModel(context.models, request.model),
    context.directory.workersOf(request.model),
  ]);
  requireWorkers(workers);
  const facts = await firstFacts(roundRobin(workers, context.turn));
  if (facts?.isGeneration === true) {
    throw invalidRequest(`The model '${request.model}' makes no embeddings.`, "model");
  }
  const limit = facts?.maxPromptTokens ?? model.manifest.contextLength;
  const inputs: Uint32Array[] = [];
  for (const [index, input] of request.inputs.entries()) {
    const param = request.inputs.length === 1 ? "input" : `input[${index}]`;
    const { inputIds } = await makeTextPrompt(model, input, param);
    if (limit !== null && inputIds.length > limit) {
      throw new EdgeError({
        kind: "context-length-exceeded",
        limit,
        promptTokens: inputIds.length,
        param,
      });
    }
    inputs.push(inputIds);
  }
  const results = await mapBounded(
    inputs.map((inputIds, index) => ({ inputIds, index })),
    MAX_PARALLEL,
    ({ inputIds, index }) =>
      embedOne(inputIds, {
        workers: roundRobin(workers, context.turn + index),
        requestId: context.ids.hex(32),
        signal,
      }),
  );
  return {
    vectors: results.map(({ vector }) => vector),
    promptTokens: results.reduce((sum, { promptTokens }) => sum + promptTokens, 0),
  };
}

async function embedOne(
  inputIds: Uint32Array,
  call: {
    readonly workers: readonly Worker[];
    readonly requestId: string;
    readonly signal: AbortSignal;
  },
): Promise<{ readonly vector: readonly number[]; readonly promptTokens: number }> {
  let failure = new EdgeError({ kind: "no-worker-available", retryAfterMs: 1_000 });
  for (const worker of call.workers.slice(0, MAX_TRIES)) {
    try {
      return await worker.client.embed({ requestId: call.requestId, inputIds }, call.signal);
    } catch (thrown) {
      const { error, retryable } = toEngineFailure(thrown);
      if (!retryable || call.signal.aborted) throw error;
      failure = error;
    }
  }
  throw failure;
}
