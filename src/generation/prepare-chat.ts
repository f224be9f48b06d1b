import { invalidRequest } from "../core/api-error.ts";
import type { ChatRequest } from "../core/chat-request.ts";
import type { IdSource } from "../core/ids.ts";
import type { ModelSettings } from "../core/model-settings.ts";
import type { WorkerFacts } from "../engine/engine-message.ts";
import { buildConstraint } from "../parsers/constraint/build-constraint.ts";
import { HARMONY_STOP_TOKENS } from "../parsers/harmony/harmony-model.ts";
import type { ModelStore } from "../prompt/load-model.ts";
import { roundRobin } from "../routing/round-robin.ts";
import type { Deadlines } from "./engine-attempt.ts";
import type { GenerationPlan } from "./generate.ts";
import { firstFacts, makePlan, requireWorkers } from "./make-plan.ts";
import { makeChatPrompt } from "./make-prompt.ts";
import { chooseFormats, createOutputReader, requireToolFormat } from "./output-formats.ts";
import type { WorkerDirectory } from "./worker-directory.ts";

export interface PrepareContext {
  readonly models: ModelStore;
  readonly directory: WorkerDirectory;
  readonly ids: IdSource;
  readonly now: Date;
  /** Counts the requests of this isolate; spreads them over the workers. */
  readonly turn: number;
  readonly deadlines: Deadlines;
  readonly settingsOf: (model: string) => ModelSettings;
}

/**
 * Decides everything about a chat before the engine is called: model, prompt, token ids, workers, sampling, constraint,
 * and how the output is read. Throws EdgeError for whatever the client or the configuration got wrong.
 */
export async function prepareChat(
  request: ChatRequest,
  context: PrepareContext,
): Promise<GenerationPlan> {
  await refuseImages(request, context.directory);
  const settings = context.settingsOf(request.model);
  const showsTools =
    request.toolChoice.mode !== "none" || settings.keepsToolsWithoutChoice === true;
  // Workers are looked up (perhaps over the network) while the prompt is made.
  const [prompt, workers] = await Promise.all([
    makeChatPrompt(
      { ...request, tools: showsTools ? request.tools : [] },
      context.models,
      context.now,
    ),
    context.directory.workersOf(request.model),
  ]);
  requireWorkers(workers);
  const ordered = roundRobin(workers, context.turn);
  const facts = await firstFacts(ordered);
  refuseOtherModels(request, facts);
  const formats = chooseFormats(prompt.model, facts, settings);
  if (request.toolChoice.mode === "required") requireToolFormat(formats, request.model);
  const { constraint, reads } = buildConstraint({
    ...request.output,
    toolChoice: request.toolChoice,
    tools: request.tools,
    parallelToolCalls: request.parallelToolCalls,
    toolFormat: formats.isHarmony ? "gpt-oss" : formats.tool?.name,
  });
  const reader = createOutputReader(prompt.model, formats, {
    request,
    prompt: prompt.promptText,
    reads,
    showsSpecialTokens: !request.detokenize.skipSpecialTokens,
  });
  return makePlan(prompt, {
    generation: request,
    workers: ordered,
    facts,
    reader,
    constraint,
    oneCall: !request.parallelToolCalls,
    promptLogprobs: false,
    endTokens: formats.isHarmony ? HARMONY_STOP_TOKENS : [],
    ids: context.ids,
    deadlines: context.deadlines,
  });
}

function refuseOtherModels(request: ChatRequest, facts: WorkerFacts | null): void {
  if (facts === null || facts.isGeneration) return;
  throw invalidRequest(
    `The model '${request.model}' makes embeddings; it cannot chat. Use /v1/embeddings.`,
    "model",
  );
}

/** The engine's wire takes only pixels that were prepared for the model, which the edge does not do. */
async function refuseImages(request: ChatRequest, directory: WorkerDirectory): Promise<void> {
  for (const [index, { content }] of request.messages.entries()) {
    if (typeof content !== "object" || content === null) continue;
    const part = content.findIndex(({ type }) => type !== "text");
    if (part < 0) continue;
    const param = `messages[${index}].content[${part}]`;
    const facts = await firstFacts(await directory.workersOf(request.model));
    const reason =
      facts?.supportsVision === true
        ? "images cannot be sent to the workers of this model yet"
        : "this model takes text only";
    throw invalidRequest(`'${param}': ${reason}.`, param);
  }
}
