import { EdgeError, invalidRequest } from "../core/api-error.ts";
import type { GenerationOptions, OutputConstraint } from "../core/chat-request.ts";
import type { IdSource } from "../core/ids.ts";
import type { WorkerFacts } from "../engine/engine-message.ts";
import type { LoadedModel } from "../prompt/load-model.ts";
import { fitIntoContext, type ContextLimits } from "./context-length.ts";
import type { Deadlines } from "./engine-attempt.ts";
import type { GenerationPlan } from "./generate.ts";
import type { OutputReader } from "./output-formats.ts";
import { createPromptEntries } from "./prompt-entries.ts";
import { toEngineSampling } from "./sampling.ts";
import type { Worker } from "./worker-directory.ts";

export interface PreparedPrompt {
  readonly model: LoadedModel;
  readonly promptText: string;
  readonly inputIds: Uint32Array;
  /** The field that holds the prompt. */
  readonly param: string;
  /** How many of the first ids the tokenizer added by itself: they are no part of the client's text. */
  readonly addedIds: number;
}

export interface PlanOptions {
  readonly generation: GenerationOptions;
  /** Workers of the model in the order in which they are tried. */
  readonly workers: readonly Worker[];
  /** What the first worker that answers says; null when none can be asked now. */
  readonly facts: WorkerFacts | null;
  readonly reader: OutputReader;
  readonly constraint: OutputConstraint | undefined;
  readonly oneCall: boolean;
  /** Log probabilities of the prompt's tokens as well. */
  readonly promptLogprobs: boolean;
  /** Texts of tokens that end a reply, besides the model's own. */
  readonly endTokens: readonly string[];
  readonly ids: IdSource;
  readonly deadlines: Deadlines;
}

/**
 * Everything that is decided before the engine is called. Throws EdgeError for a prompt that cannot fit and for token ids
 * that the model does not have.
 */
export function makePlan(prompt: PreparedPrompt, options: PlanOptions): GenerationPlan {
  const { model, promptText, inputIds } = prompt;
  const { generation, reader, constraint, ids } = options;
  const { stop, detokenize, logprobs, maxTokens } = generation;
  checkTokenIds(generation, model.tokenizer.vocabSize);
  // A prompt that cannot fit is refused here, before any engine call.
  const limits = limitsOf(prompt, options.facts);
  const mostTokens = fitIntoContext(inputIds.length, maxTokens, limits);
  if (mostTokens !== undefined && stop.minTokens > mostTokens) {
    throw invalidRequest(
      `'min_tokens' must not be greater than the ${mostTokens} tokens that fit.`,
      "min_tokens",
    );
  }
  const endTokenIds = [...model.manifest.eosTokenIds, ...findTokens(model, options.endTokens)];
  return {
    promptTokens: inputIds.length,
    n: generation.n,
    workers: options.workers,
    deadlines: options.deadlines,
    output: {
      tokenizer: model.tokenizer,
      stopStrings: stop.strings,
      skipSpecialTokens: detokenize.skipSpecialTokens,
      noStopTrim: stop.noStopTrim,
      parserTokenIds: reader.parserTokenIds,
    },
    createParser: reader.createParser,
    hasReasoning: reader.hasReasoning,
    oneCall: options.oneCall,
    createCallId: () => `call_${ids.hex(24)}`,
    toPromptEntries: createPromptEntries(model.tokenizer, prompt.addedIds),
    endTokenIds: stop.ignoreEos ? [] : [...endTokenIds, ...stop.tokenIds],
    ignoreEos: stop.ignoreEos,
    toEngineRequest(facts) {
      const maxNewTokens = fitIntoContext(inputIds.length, maxTokens, limitsOf(prompt, facts));
      return {
        // Ours alone: a client's own id could name, and abort, another client's request.
        requestId: ids.hex(32),
        inputIds,
        promptText,
        requireReasoning: reader.expectsReasoning,
        ...(logprobs === undefined
          ? {}
          : { logprobs: { top: logprobs.top, prompt: options.promptLogprobs } }),
        sampling: toEngineSampling(
          {
            ...generation,
            stop: {
              ...stop,
              tokenIds: [...stop.tokenIds, ...findTokens(model, options.endTokens)],
            },
          },
          {
            defaults: facts.samplingDefaults,
            acceptsStopStrings: !facts.skipTokenizerInit,
            ...(maxNewTokens === undefined ? {} : { maxNewTokens }),
            ...(constraint === undefined ? {} : { constraint }),
          },
        ),
      };
    },
  };
}

/** What the first worker that can be asked says. */
export async function firstFacts(workers: readonly Worker[]): Promise<WorkerFacts | null> {
  for (const worker of workers) {
    try {
      return await worker.facts();
    } catch {
      // The generation tries the workers in turn and tells what is wrong with them.
    }
  }
  return null;
}

/** Throws EdgeError when nobody serves the model. */
export function requireWorkers(workers: readonly Worker[]): void {
  if (workers.length > 0) return;
  throw new EdgeError({ kind: "no-worker-available", retryAfterMs: 5_000 });
}

function findTokens({ tokenizer }: LoadedModel, texts: readonly string[]): number[] {
  return texts.flatMap((text) => tokenizer.idOf(text) ?? []);
}

function checkTokenIds(generation: GenerationOptions, vocabSize: number): void {
  for (const [index, id] of generation.stop.tokenIds.entries()) {
    if (id >= vocabSize) {
      const param = `stop_token_ids[${index}]`;
      throw invalidRequest(`'${param}': the model has no such token id.`, param);
    }
  }
  for (const key of Object.keys(generation.sampling.logitBias ?? {})) {
    if (Number(key) >= vocabSize) {
      throw invalidRequest(
        `'logit_bias.${key}': the model has no such token id.`,
        `logit_bias.${key}`,
      );
    }
  }
}

function limitsOf({ model, param }: PreparedPrompt, facts: WorkerFacts | null): ContextLimits {
  return {
    param,
    contextLength: facts?.contextLength ?? model.manifest.contextLength,
    maxPromptTokens: facts?.maxPromptTokens ?? null,
  };
}
