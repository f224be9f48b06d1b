import { invalidRequest } from "../core/api-error.ts";
import type { ChatRequest, TextRequest } from "../core/chat-request.ts";
import type { Clock } from "../core/clock.ts";
import type { IdSource } from "../core/ids.ts";
import type { ModelSettings } from "../core/model-settings.ts";
import type { ModelStore } from "../prompt/load-model.ts";
import type { ModelIndexEntry } from "../prompt/model-asset.ts";
import { encodeYielding } from "../prompt/tokenizer/encode-yielding.ts";
import { embed, type EmbedRequest, type EmbedResult } from "./embed.ts";
import type { Deadlines } from "./engine-attempt.ts";
import { startGeneration, type Generation } from "./generate.ts";
import { loadModel, makeChatPrompt, type PromptRequest } from "./make-prompt.ts";
import { mergeGenerations } from "./merge-generations.ts";
import { prepareChat, type PrepareContext } from "./prepare-chat.ts";
import { prepareText } from "./prepare-text.ts";
import { mapBounded, type WorkerDirectory } from "./worker-directory.ts";

/** Everything that the surfaces ask of the inside. All calls reject with EdgeError. */
export interface GenerationService {
  /** Makes the prompt and picks the workers; the engine is called when the events are read. */
  startChat(request: ChatRequest): Promise<Generation>;
  /** The same for one or several prompts as they are; the choices of the k-th prompt are numbered from k × n. */
  startText(request: TextRequest): Promise<StartedText>;
  /** Vectors of texts. */
  embed(request: EmbedRequest, signal: AbortSignal): Promise<EmbedResult>;
  /** Models that are compiled and have a worker configured. */
  listModels(): Promise<readonly ModelIndexEntry[]>;
  /** Whether any worker says that it serves. */
  isReady(): Promise<boolean>;
  tokenize(model: string, text: string, addSpecialTokens: boolean): Promise<TokenizedText>;
  tokenizeChat(request: PromptRequest): Promise<TokenizedText>;
  detokenize(
    model: string,
    tokenIds: readonly number[],
    skipSpecialTokens: boolean,
  ): Promise<string>;
}

export interface StartedText {
  readonly generation: Generation;
  /** The text of each prompt. */
  readonly prompts: readonly string[];
}

export interface TokenizedText {
  readonly tokenIds: Uint32Array;
  /** Tokens that the model takes; null: unknown. */
  readonly contextLength: number | null;
}

export interface ServiceDependencies {
  readonly models: ModelStore;
  readonly directory: WorkerDirectory;
  readonly ids: IdSource;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly settingsOf: (model: string) => ModelSettings;
}

/** Workers asked at once by `isReady`; the platform lets six calls wait for headers. */
const MAX_PARALLEL_PROBES = 6;

export function createGenerationService(dependencies: ServiceDependencies): GenerationService {
  const { models, directory, clock } = dependencies;
  let turn = 0;
  const now = (): Date => new Date(clock.now());
  const nextContext = (): PrepareContext => ({ ...dependencies, now: now(), turn: turn++ });
  return {
    async startChat(request) {
      return startGeneration(await prepareChat(request, nextContext()));
    },
    async startText(request) {
      const plans = await prepareText(request, nextContext());
      const starters = plans.map(
        ({ plan }) =>
          () =>
            startGeneration(plan),
      );
      return {
        generation: mergeGenerations(starters, request.n),
        prompts: plans.map(({ promptText }) => promptText),
      };
    },
    embed: (request, signal) => embed(request, nextContext(), signal),
    async listModels() {
      const index = await models.list();
      const served = await mapBounded(index.models, MAX_PARALLEL_PROBES, async (entry) => ({
        entry,
        // One that cannot be asked is not listed; the log says why.
        workers: await directory.workersOf(entry.id).catch(() => []),
      }));
      return served.filter(({ workers }) => workers.length > 0).map(({ entry }) => entry);
    },
    async isReady() {
      const answers = await mapBounded(directory.workers, MAX_PARALLEL_PROBES, ({ client }) =>
        client.isServing().catch(() => false),
      );
      return answers.some(Boolean);
    },
    async tokenize(id, text, addSpecialTokens) {
      const model = await loadModel(models, id);
      const tokenIds = await encodeYielding(model.tokenizer, text, { addSpecialTokens });
      return { tokenIds, contextLength: model.manifest.contextLength };
    },
    async tokenizeChat(request) {
      const { model, inputIds } = await makeChatPrompt(request, models, now());
      return { tokenIds: inputIds, contextLength: model.manifest.contextLength };
    },
    async detokenize(id, tokenIds, skipSpecialTokens) {
      const { tokenizer } = await loadModel(models, id);
      const unknown = tokenIds.findIndex((tokenId) => tokenId >= tokenizer.vocabSize);
      if (unknown >= 0) {
        throw invalidRequest(
          `'tokens[${unknown}]': the model has no such token id.`,
          `tokens[${unknown}]`,
        );
      }
      return tokenizer.decode(tokenIds, { skipSpecialTokens });
    },
  };
}
