import { EdgeError, invalidRequest } from "../core/api-error.ts";
import type { ChatRequest } from "../core/chat-request.ts";
import type { IdSource } from "../core/ids.ts";
import type { WorkerFacts } from "../engine/engine-message.ts";
import type { LoadedModel, ModelStore } from "../prompt/load-model.ts";
import { encodeYielding } from "../prompt/tokenizer/encode-yielding.ts";
import { roundRobin } from "../routing/round-robin.ts";
import { fitIntoContext, type ContextLimits } from "./context-length.ts";
import type { Deadlines } from "./engine-attempt.ts";
import type { GenerationPlan } from "./generate.ts";
import { renderPrompt } from "./render-prompt.ts";
import { toEngineSampling } from "./sampling.ts";
import type { Worker, WorkerDirectory } from "./worker-directory.ts";

export interface PrepareContext {
  readonly models: ModelStore;
  readonly directory: WorkerDirectory;
  readonly ids: IdSource;
  readonly now: Date;
  /** Counts the requests of this isolate; spreads them over the workers. */
  readonly turn: number;
  readonly deadlines: Deadlines;
}

/**
 * Decides everything about a chat before the engine is called: model, prompt, token ids, workers, sampling. Throws
 * EdgeError for whatever the client or the configuration got wrong.
 */
export async function prepareChat(
  request: ChatRequest,
  context: PrepareContext,
): Promise<GenerationPlan> {
  // Workers are looked up (perhaps over the network) while the prompt is made.
  const [{ model, promptText, inputIds }, workers] = await Promise.all([
    makePrompt(request, context),
    context.directory.workersOf(request.model),
  ]);
  if (workers.length === 0) {
    throw new EdgeError({ kind: "no-worker-available", retryAfterMs: 5_000 });
  }
  const ordered = roundRobin(workers, context.turn);
  const { manifest, tokenizer } = model;
  checkTokenIds(request, tokenizer.vocabSize);
  // A prompt that cannot fit is refused here, before any engine call.
  fitIntoContext(inputIds.length, request.maxTokens, await knownLimits(model, ordered));
  const { stop, detokenize } = request;
  return {
    promptTokens: inputIds.length,
    workers: ordered,
    deadlines: context.deadlines,
    output: {
      tokenizer,
      stopStrings: stop.strings,
      skipSpecialTokens: detokenize.skipSpecialTokens,
      noStopTrim: stop.noStopTrim,
    },
    endTokenIds: stop.ignoreEos ? [] : [...manifest.eosTokenIds, ...stop.tokenIds],
    ignoreEos: stop.ignoreEos,
    toEngineRequest(facts) {
      const maxNewTokens = fitIntoContext(
        inputIds.length,
        request.maxTokens,
        limitsOf(model, facts),
      );
      return {
        // Ours alone: a client's own id could name, and abort, another client's request.
        requestId: context.ids.hex(32),
        inputIds,
        promptText,
        sampling: toEngineSampling(request, {
          defaults: facts.samplingDefaults,
          acceptsStopStrings: !facts.skipTokenizerInit,
          ...(maxNewTokens === undefined ? {} : { maxNewTokens }),
        }),
      };
    },
  };
}

/** Model, prompt text and token ids; also what /tokenize answers from. */
export async function makePrompt(
  request: Pick<
    ChatRequest,
    "model" | "messages" | "addGenerationPrompt" | "continueFinalMessage" | "templateKwargs"
  >,
  context: Pick<PrepareContext, "models" | "now">,
): Promise<{
  readonly model: LoadedModel;
  readonly promptText: string;
  readonly inputIds: Uint32Array;
}> {
  const model = await loadModel(context.models, request.model);
  if (model.template === null) {
    throw invalidRequest(`The model '${request.model}' has no chat template.`, "model");
  }
  const promptText = renderPrompt(request, model.template, context.now);
  // The template has written the special tokens already.
  const inputIds = await encodeYielding(model.tokenizer, promptText, { addSpecialTokens: false });
  if (inputIds.length === 0) throw invalidRequest("The prompt is empty.", "messages");
  return { model, promptText, inputIds };
}

export async function loadModel(models: ModelStore, id: string): Promise<LoadedModel> {
  const model = await models.load(id);
  if (model === null) throw new EdgeError({ kind: "model-not-found", model: id });
  return model;
}

function checkTokenIds(request: ChatRequest, vocabSize: number): void {
  for (const key of Object.keys(request.sampling.logitBias ?? {})) {
    if (Number(key) >= vocabSize) {
      throw invalidRequest(
        `'logit_bias.${key}': the model has no such token id.`,
        `logit_bias.${key}`,
      );
    }
  }
}

/** The limits of the first worker; those of the model's files when it cannot be asked. */
async function knownLimits(model: LoadedModel, workers: readonly Worker[]): Promise<ContextLimits> {
  try {
    const facts = await workers[0]?.facts();
    if (facts !== undefined) return limitsOf(model, facts);
  } catch {
    // The generation tries the workers in turn and tells what is wrong with them.
  }
  return { contextLength: model.manifest.contextLength, maxPromptTokens: null };
}

function limitsOf(model: LoadedModel, facts: WorkerFacts): ContextLimits {
  return {
    contextLength: facts.contextLength ?? model.manifest.contextLength,
    maxPromptTokens: facts.maxPromptTokens,
  };
}
