import { invalidRequest } from "../core/api-error.ts";
import type { TextRequest } from "../core/chat-request.ts";
import { buildConstraint } from "../parsers/constraint/build-constraint.ts";
import { roundRobin } from "../routing/round-robin.ts";
import type { GenerationPlan } from "./generate.ts";
import { firstFacts, makePlan, requireWorkers } from "./make-plan.ts";
import { loadModel, makeTextPrompt } from "./make-prompt.ts";
import type { OutputReader } from "./output-formats.ts";
import type { PrepareContext } from "./prepare-chat.ts";

/** One prompt of a text request, ready to run. */
export interface TextPlan {
  readonly plan: GenerationPlan;
  /** The prompt's text, for `echo`. */
  readonly promptText: string;
}

/** Whatever the model writes is text. */
const PLAIN_TEXT: OutputReader = {
  createParser: null,
  parserTokenIds: new Set(),
  hasReasoning: false,
  expectsReasoning: false,
};

/** The plans of all prompts of a request, in their order. Throws EdgeError; nothing has been sent to an engine then. */
export async function prepareText(
  request: TextRequest,
  context: PrepareContext,
): Promise<readonly TextPlan[]> {
  const [model, workers] = await Promise.all([
    loadModel(context.models, request.model),
    context.directory.workersOf(request.model),
  ]);
  requireWorkers(workers);
  const facts = await firstFacts(roundRobin(workers, context.turn));
  if (facts?.isGeneration === false) {
    throw invalidRequest(
      `The model '${request.model}' makes embeddings; it cannot write. Use /v1/embeddings.`,
      "model",
    );
  }
  const { constraint } = buildConstraint({
    ...request.output,
    toolChoice: { mode: "none" },
    tools: [],
    parallelToolCalls: true,
    toolFormat: undefined,
  });
  const plans: TextPlan[] = [];
  for (const [index, text] of request.prompts.entries()) {
    const param = request.prompts.length === 1 ? "prompt" : `prompt[${index}]`;
    const prompt = await makeTextPrompt(model, text, param);
    const plan = makePlan(prompt, {
      generation: request,
      workers: roundRobin(workers, context.turn + index),
      facts,
      reader: PLAIN_TEXT,
      constraint,
      oneCall: false,
      promptLogprobs: request.echo,
      endTokens: [],
      ids: context.ids,
      deadlines: context.deadlines,
    });
    plans.push({ plan, promptText: prompt.promptText });
  }
  return plans;
}
