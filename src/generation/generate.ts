import { EdgeError, type ApiError } from "../core/api-error.ts";
import type { FinishReason, GenerationEvent, Usage } from "../core/generation-event.ts";
import type { EngineMessage } from "../engine/engine-message.ts";
import { toEngineFailure } from "../engine/errors.ts";
import {
  createChoiceOutput,
  type ChoiceOutput,
  type ChoiceOutputOptions,
} from "./choice-output.ts";
import { openAttempt, type AttemptOptions, type EngineAttempt } from "./engine-attempt.ts";

/** Everything that a generation needs, decided before the engine is called. */
export interface GenerationPlan extends Pick<
  AttemptOptions,
  "workers" | "toEngineRequest" | "deadlines"
> {
  readonly promptTokens: number;
  readonly output: Omit<ChoiceOutputOptions, "endTokenIds">;
  /** Ids that end the reply: the model's own (none with `ignore_eos`) and the request's; the worker's are added. */
  readonly endTokenIds: readonly number[];
  readonly ignoreEos: boolean;
}

/** A running generation. */
export interface Generation {
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
  /** The worker that took the request, or null when none did. */
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
  const attemptOptions = {
    ...plan,
    signal: controller.signal,
    inBackground: (work: Promise<void>) => void background.push(work),
  };
  return {
    events: run(plan, attemptOptions, (outcome) =>
      resolve(Promise.all(background).then(() => outcome)),
    ),
    cancel: () => controller.abort(new EdgeError({ kind: "client-cancelled" })),
    finished,
  };
}

/** What is known of a generation so far. */
interface RunState {
  attempt: EngineAttempt | null;
  output: ChoiceOutput | null;
  usage: Usage;
  engineEnded: boolean;
  firstMessageMs: number | null;
  failure: Failure | null;
}

async function* run(
  plan: GenerationPlan,
  attemptOptions: AttemptOptions,
  finish: (outcome: GenerationOutcome) => void,
): AsyncGenerator<readonly GenerationEvent[], void, undefined> {
  const startedAt = Date.now();
  const state: RunState = {
    attempt: null,
    output: null,
    usage: noUsage(plan.promptTokens),
    engineEnded: false,
    firstMessageMs: null,
    failure: null,
  };
  try {
    const attempt = await openAttempt(attemptOptions);
    state.attempt = attempt;
    state.firstMessageMs = Date.now() - startedAt;
    const output = createOutput(plan, attempt);
    state.output = output;
    for (;;) {
      const messages = await attempt.next();
      const step: Step =
        messages === null ? cutOff(state.usage, output) : toStep(messages, output, state.usage);
      state.usage = step.usage;
      state.engineEnded = step.end === "engine";
      state.failure = step.failure;
      yield step.events;
      if (step.end !== null) return;
    }
  } catch (thrown) {
    state.failure = { error: toRunningError(thrown, state.attempt !== null), cause: thrown };
    yield errorEvents(flush(state.output), state.usage, state.failure.error);
  } finally {
    state.attempt?.close(state.engineEnded);
    finish(toOutcome(state, attemptOptions.signal));
  }
}

function createOutput(plan: GenerationPlan, attempt: EngineAttempt): ChoiceOutput {
  const ofWorker = plan.ignoreEos ? [] : attempt.facts.eosTokenIds;
  return createChoiceOutput({
    ...plan.output,
    endTokenIds: new Set([...plan.endTokenIds, ...ofWorker]),
  });
}

/** Text that was held back when the reply broke off. */
function flush(output: ChoiceOutput | null): string {
  return output?.complete({ finishReason: "abort", matchedStop: null }).text ?? "";
}

function toOutcome(state: RunState, signal: AbortSignal): GenerationOutcome {
  const { attempt, failure, usage, firstMessageMs } = state;
  const isCancelled = signal.aborted || failure?.error.kind === "client-cancelled";
  const status = failure === null ? "ok" : "error";
  return {
    status: isCancelled ? "cancelled" : status,
    errorKind: failure?.error.kind ?? null,
    usage,
    workerUrl: attempt?.worker.url ?? null,
    firstMessageMs,
    cause: failure?.cause,
  };
}

interface Step {
  readonly events: readonly GenerationEvent[];
  readonly usage: Usage;
  /** Who ended the reply with this step: the engine, we, or nobody yet. */
  readonly end: "engine" | "edge" | null;
  readonly failure: Failure | null;
}

interface Failure {
  readonly error: ApiError;
  readonly cause: unknown;
}

/** The engine's messages of one read as events; everything behind the end is left out. */
function toStep(messages: readonly EngineMessage[], output: ChoiceOutput, before: Usage): Step {
  let text = "";
  let usage = before;
  for (const message of messages) {
    if (message.type === "chunk") {
      const step = output.push(message.tokenIds);
      text += step.text;
      usage = toUsage(message, output.completionTokens);
      if (step.stoppedBy === null) continue;
      const events = endEvents(text, usage, "stop", step.stoppedBy);
      return { events, usage, end: "edge", failure: null };
    }
    usage = toUsage(message, message.completionTokens);
    const end = output.complete(message);
    text += end.text;
    if (message.finishReason === "abort") {
      return failedStep(text, usage, "engine", "The engine aborted the request.");
    }
    const events = endEvents(text, usage, end.finishReason, end.matchedStop);
    return { events, usage, end: "engine", failure: null };
  }
  return { events: textEvents(text, usage), usage, end: null, failure: null };
}

function cutOff(usage: Usage, output: ChoiceOutput): Step {
  const detail = "The engine's stream ended before the reply did.";
  return failedStep(flush(output), usage, "edge", detail);
}

function failedStep(text: string, usage: Usage, end: "engine" | "edge", detail: string): Step {
  const error: ApiError = { kind: "engine-error", detail };
  return { events: errorEvents(text, usage, error), usage, end, failure: { error, cause: null } };
}

function textEvents(text: string, usage: Usage): GenerationEvent[] {
  return text === ""
    ? [{ type: "usage", usage }]
    : [
        { type: "usage", usage },
        { type: "text-delta", index: 0, text },
      ];
}

function endEvents(
  text: string,
  usage: Usage,
  finishReason: FinishReason,
  matchedStop: number | string | null,
): GenerationEvent[] {
  return [
    ...textEvents(text, usage),
    { type: "choice-end", index: 0, finishReason, matchedStop },
    { type: "generation-end", usage },
  ];
}

function errorEvents(text: string, usage: Usage, error: ApiError): GenerationEvent[] {
  return [...textEvents(text, usage), { type: "generation-error", error, usage }];
}

function toUsage(message: EngineMessage, completionTokens: number): Usage {
  return {
    promptTokens: message.promptTokens,
    completionTokens,
    cachedTokens: message.cachedTokens,
    reasoningTokens: message.reasoningTokens,
  };
}

function noUsage(promptTokens: number): Usage {
  return { promptTokens, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
}

/** Once a worker has answered, "no worker is available" is no longer true: one took the request and was lost. */
function toRunningError(thrown: unknown, hasStarted: boolean): ApiError {
  const { error } = toEngineFailure(thrown);
  return hasStarted && error.error.kind === "no-worker-available"
    ? { kind: "engine-error", detail: "The connection to the engine was lost." }
    : error.error;
}
