import { EdgeError, type ApiError } from "../core/api-error.ts";
import type { GenerationEvent, TokenLogprob, Usage } from "../core/generation-event.ts";
import type { EngineLogprob } from "../engine/engine-message.ts";
import { toEngineFailure } from "../engine/errors.ts";
import type { OutputParser } from "../parsers/output-parser.ts";
import { createChoiceOutput, type ChoiceOutputOptions } from "./choice-output.ts";
import { createChoiceSet, type ChoiceSet, type ChoiceSetStep } from "./choice-set.ts";
import { openAttempt, type AttemptOptions, type EngineAttempt } from "./engine-attempt.ts";
import type { Worker } from "./worker-directory.ts";

/** Everything that a generation needs, decided before the engine is called. */
export interface GenerationPlan extends Pick<
  AttemptOptions,
  "workers" | "toEngineRequest" | "deadlines"
> {
  readonly promptTokens: number;
  /** Choices. */
  readonly n: number;
  readonly output: Omit<ChoiceOutputOptions, "endTokenIds" | "parser">;
  /** A parser for each choice; null: all is text. */
  readonly createParser: (() => OutputParser) | null;
  /** Thoughts are told apart from the text. */
  readonly hasReasoning: boolean;
  /** At most one call a choice. */
  readonly oneCall: boolean;
  readonly createCallId: () => string;
  readonly toPromptEntries: (rows: readonly EngineLogprob[]) => readonly TokenLogprob[];
  /** Ids that end the reply: the model's own (none with `ignore_eos`) and the request's; the worker's are added. */
  readonly endTokenIds: readonly number[];
  readonly ignoreEos: boolean;
}

/** A running generation. */
export interface Generation {
  /** Thoughts are told apart from the text. */
  readonly hasReasoning: boolean;
  /** Choices in all. */
  readonly n: number;
  /**
   * The events of each step together; the last one is `generation-end` or `generation-error`. Never throws. Nothing
   * runs before the first read, which must come: `finished` waits for it.
   */
  readonly events: AsyncGenerator<readonly GenerationEvent[], void, undefined>;
  /** Ends it now; the engine is told. Idempotent, also after the end. */
  cancel(): void;
  /** Settles when nothing is running any more, the call that aborts the engine's side included. Never rejects. */
  readonly finished: Promise<GenerationOutcome>;
}

/** How a generation went, for logs and accounting. */
export interface GenerationOutcome {
  readonly status: "ok" | "error" | "cancelled";
  readonly errorKind: ApiError["kind"] | null;
  readonly usage: Usage;
  /** The worker that was tried last; null when none was. */
  readonly workerUrl: string | null;
  /** From the start of the generation to the engine's first message; null when none came. */
  readonly firstMessageMs: number | null;
  /** What was thrown inside, for the log only. */
  readonly cause: unknown;
}

export function startGeneration(plan: GenerationPlan): Generation {
  const controller = new AbortController();
  const { promise: finished, resolve } = Promise.withResolvers<GenerationOutcome>();
  const background: Promise<void>[] = [];
  const tried: { url: string | null } = { url: null };
  const attemptOptions = {
    ...plan,
    onTry: ({ url }: Worker): void => {
      tried.url = url;
    },
    signal: controller.signal,
    inBackground: (work: Promise<void>) => void background.push(work),
  };
  return {
    hasReasoning: plan.hasReasoning,
    n: plan.n,
    events: run(plan, attemptOptions, (outcome) =>
      resolve(Promise.all(background).then(() => ({ ...outcome, workerUrl: tried.url }))),
    ),
    cancel: () => controller.abort(new EdgeError({ kind: "client-cancelled" })),
    finished,
  };
}

/** What is known of a generation so far. */
interface RunState {
  attempt: EngineAttempt | null;
  choices: ChoiceSet | null;
  engineEnded: boolean;
  firstMessageMs: number | null;
  failure: Failure | null;
}

interface Failure {
  readonly error: ApiError;
  readonly cause: unknown;
}

async function* run(
  plan: GenerationPlan,
  attemptOptions: AttemptOptions,
  finish: (outcome: Omit<GenerationOutcome, "workerUrl">) => void,
): AsyncGenerator<readonly GenerationEvent[], void, undefined> {
  const startedAt = Date.now();
  const state: RunState = {
    attempt: null,
    choices: null,
    engineEnded: false,
    firstMessageMs: null,
    failure: null,
  };
  try {
    const attempt = await openAttempt(attemptOptions);
    state.attempt = attempt;
    state.firstMessageMs = Date.now() - startedAt;
    const choices = createChoices(plan, attempt);
    state.choices = choices;
    for (;;) {
      const messages = await attempt.next();
      if (messages === null) throw engineError("The engine's stream ended before the reply did.");
      const step = choices.push(messages);
      state.engineEnded = step.end === "engine" || step.end === "abort";
      if (step.end === "abort") state.failure = { error: ABORTED_BY_ENGINE, cause: null };
      yield toEvents(step, choices);
      if (step.end !== null) return;
    }
  } catch (thrown) {
    const error = toRunningError(thrown, state.attempt !== null);
    state.failure = { error, cause: thrown };
    const usage = usageOf(state, plan);
    const flushed = state.choices?.flush() ?? [{ type: "usage", usage }];
    yield [...flushed, { type: "generation-error", error, usage }];
  } finally {
    state.attempt?.close(state.engineEnded);
    finish(toOutcome(state, plan, attemptOptions.signal));
  }
}

const ABORTED_BY_ENGINE: ApiError = {
  kind: "engine-error",
  detail: "The engine aborted the request.",
};

function engineError(detail: string): EdgeError {
  return new EdgeError({ kind: "engine-error", detail });
}

function createChoices(plan: GenerationPlan, attempt: EngineAttempt): ChoiceSet {
  const ofWorker = plan.ignoreEos ? [] : attempt.facts.eosTokenIds;
  const endTokenIds = new Set([...plan.endTokenIds, ...ofWorker]);
  const { n, promptTokens, toPromptEntries, createCallId, oneCall } = plan;
  return createChoiceSet({
    n,
    promptTokens,
    toPromptEntries,
    createCallId,
    oneCall,
    createOutput: () =>
      createChoiceOutput({ ...plan.output, endTokenIds, parser: plan.createParser?.() ?? null }),
  });
}

function toEvents(
  { events, end }: ChoiceSetStep,
  { usage }: ChoiceSet,
): readonly GenerationEvent[] {
  switch (end) {
    case null:
      return events;
    case "abort":
      return [...events, { type: "generation-error", error: ABORTED_BY_ENGINE, usage }];
    case "engine":
    case "edge":
      return [...events, { type: "generation-end", usage }];
  }
}

function usageOf(state: RunState, { promptTokens }: GenerationPlan): Usage {
  return (
    state.choices?.usage ?? {
      promptTokens,
      completionTokens: 0,
      cachedTokens: 0,
      reasoningTokens: 0,
    }
  );
}

function toOutcome(
  state: RunState,
  plan: GenerationPlan,
  signal: AbortSignal,
): Omit<GenerationOutcome, "workerUrl"> {
  const { failure, firstMessageMs } = state;
  const isCancelled = signal.aborted || failure?.error.kind === "client-cancelled";
  const status = failure === null ? "ok" : "error";
  return {
    status: isCancelled ? "cancelled" : status,
    errorKind: failure?.error.kind ?? null,
    usage: usageOf(state, plan),
    firstMessageMs,
    cause: failure?.cause,
  };
}

/** Once a worker has answered, "no worker is available" is no longer true: one took the request and was lost. */
function toRunningError(thrown: unknown, hasStarted: boolean): ApiError {
  const { error } = toEngineFailure(thrown);
  return hasStarted && error.error.kind === "no-worker-available"
    ? { kind: "engine-error", detail: "The connection to the engine was lost." }
    : error.error;
}
