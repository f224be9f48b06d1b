import { invalidRequest } from "../core/api-error.ts";
import type { ChatRequest } from "../core/chat-request.ts";
import type { Clock } from "../core/clock.ts";
import type { IdSource } from "../core/ids.ts";
import type { ModelStore } from "../prompt/load-model.ts";
import type { ModelIndexEntry } from "../prompt/model-asset.ts";
import { encodeYielding } from "../prompt/tokenizer/encode-yielding.ts";
import type { Deadlines } from "./engine-attempt.ts";
import { startGeneration, type Generation } from "./generate.ts";
import { loadModel, makePrompt, prepareChat } from "./prepare-chat.ts";
import { mapBounded, type WorkerDirectory } from "./worker-directory.ts";

/** Everything that the surfaces ask of the inside. All calls reject with EdgeError. */
export interface GenerationService {
  /** Makes the prompt and picks the workers; the engine is called when the events are read. */
  startChat(request: ChatRequest): Promise<Generation>;
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

export type PromptRequest = Parameters<typeof makePrompt>[0];

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
}

/** Workers asked at once by `isReady`; the platform lets six calls wait for headers. */
const MAX_PARALLEL_PROBES = 6;

export function createGenerationService(dependencies: ServiceDependencies): GenerationService {
  const { models, directory, clock } = dependencies;
  let turn = 0;
  const now = (): Date => new Date(clock.now());
  return {
    async startChat(request) {
      turn += 1;
      return startGeneration(await prepareChat(request, { ...dependencies, now: now(), turn }));
    },
    async listModels() {
      const index = await models.list();
      const served = await mapBounded(index.models, MAX_PARALLEL_PROBES, async (entry) => ({
        entry,
        workers: await directory.workersOf(entry.id),
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
      const { model, inputIds } = await makePrompt(request, { models, now: now() });
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
