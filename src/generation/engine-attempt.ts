import { EdgeError } from "../core/api-error.ts";
import type {
  EngineGenerateRequest,
  EngineMessage,
  WorkerFacts,
} from "../engine/engine-message.ts";
import { toEngineFailure, toWorkerFailure, type EngineFailure } from "../engine/errors.ts";
import { startWatchdog } from "./watchdog.ts";
import type { Worker } from "./worker-directory.ts";

export interface Deadlines {
  /** From the call to the first message, for each try. */
  readonly firstTokenMs: number;
  /** Between two messages after that. */
  readonly stallMs: number;
}

/** One engine call that has given its first messages. */
export interface EngineAttempt {
  readonly worker: Worker;
  readonly facts: WorkerFacts;
  /** The messages of the next network read; null at the end of the call. Rejects with EdgeError. */
  next(): Promise<readonly EngineMessage[] | null>;
  /**
   * Lets go of the call. Unless `engineEnded`, the engine is also told by Abort (in the background): some gateways do
   * not pass a cancellation on.
   */
  close(engineEnded: boolean): void;
}

export interface AttemptOptions {
  /** Workers in the order in which they are tried. */
  readonly workers: readonly Worker[];
  /** The engine's request for one worker; called again for each try. */
  readonly toEngineRequest: (facts: WorkerFacts) => EngineGenerateRequest;
  readonly deadlines: Deadlines;
  /** The client's own end. */
  readonly signal: AbortSignal;
  /** Told of each worker that is tried. */
  readonly onTry: (worker: Worker) => void;
  /** Takes work that nobody waits for but that must not be cut short. It never rejects. */
  readonly inBackground: (work: Promise<void>) => void;
}

/** Tries after the first, each on another worker. */
const MAX_RETRIES = 2;

const RETRY_AFTER_MS = 1_000;

/**
 * Calls one worker after the other until one gives its first messages. Only failures that another worker may not have
 * are retried. Throws EdgeError with the last failure.
 */
export async function openAttempt(options: AttemptOptions): Promise<EngineAttempt> {
  let failure = new EdgeError({ kind: "no-worker-available", retryAfterMs: RETRY_AFTER_MS });
  for (const worker of options.workers.slice(0, 1 + MAX_RETRIES)) {
    options.onTry(worker);
    const opened = await tryWorker(worker, options);
    if ("next" in opened) return opened;
    if (options.signal.aborted || !opened.retryable) throw opened.error;
    failure = opened.error;
  }
  throw failure;
}

async function tryWorker(
  worker: Worker,
  options: AttemptOptions,
): Promise<EngineAttempt | EngineFailure> {
  let facts: WorkerFacts;
  try {
    facts = await worker.facts();
  } catch (thrown) {
    return toWorkerFailure(thrown);
  }
  try {
    options.signal.throwIfAborted();
    return await open(worker, facts, options);
  } catch (thrown) {
    if (facts.skipTokenizerInit || !refusesStopStrings(thrown)) return toEngineFailure(thrown);
  }
  // Once more without: they are matched here as well.
  worker.noteRefusedStops();
  return tryWorker(worker, options);
}

/** Servers that run without a tokenizer refuse every request with stop strings, and name the reason. */
function refusesStopStrings(thrown: unknown): boolean {
  const { error } = toEngineFailure(thrown).error;
  return error.kind === "invalid-request" && error.detail.includes("skip_tokenizer_init");
}

async function open(
  worker: Worker,
  facts: WorkerFacts,
  options: AttemptOptions,
): Promise<EngineAttempt> {
  const { signal, deadlines } = options;
  const request = options.toEngineRequest(facts);

  const controller = new AbortController();
  const cancel = (): void => controller.abort(signal.reason);
  signal.addEventListener("abort", cancel, { once: true });
  const watchdog = startWatchdog(deadlines.firstTokenMs, () =>
    controller.abort(new EdgeError({ kind: "deadline-exceeded" })),
  );
  const stream = worker.client.generate(request, controller.signal);

  const close = (engineEnded: boolean): void => {
    watchdog.stop();
    signal.removeEventListener("abort", cancel);
    controller.abort(new EdgeError({ kind: "client-cancelled" }));
    stream.cancel();
    if (!engineEnded) options.inBackground(abortQuietly(worker, request.requestId));
  };
  const next = async (): Promise<readonly EngineMessage[] | null> => {
    try {
      const messages = await stream.next();
      watchdog.touch(deadlines.stallMs);
      return messages;
    } catch (thrown) {
      // An aborted fetch does not always reject with the reason that it was given.
      throw controller.signal.aborted ? controller.signal.reason : thrown;
    }
  };

  try {
    let pending = await next();
    if (pending === null)
      throw new EdgeError({ kind: "no-worker-available", retryAfterMs: RETRY_AFTER_MS });
    return {
      worker,
      facts,
      close,
      next: () => {
        if (pending === null) return next();
        const first = pending;
        pending = null;
        return Promise.resolve(first);
      },
    };
  } catch (thrown) {
    // After a refusal nothing runs; after silence or a lost connection something may.
    close(!toEngineFailure(thrown).retryable && !signal.aborted);
    throw thrown;
  }
}

async function abortQuietly(worker: Worker, requestId: string): Promise<void> {
  try {
    await worker.client.abort(requestId, "the reply is no longer needed");
  } catch {
    // The call itself was cancelled as well; Abort is the second road to the same end.
  }
}
