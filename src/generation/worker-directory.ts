import type { EdgeError } from "../core/api-error.ts";
import type { Clock } from "../core/clock.ts";
import { createSharedSlot, type SharedSlot } from "../core/shared-slot.ts";
import type { EngineClient } from "../engine/engine-client.ts";
import type { WorkerFacts } from "../engine/engine-message.ts";
import { toWorkerFailure } from "../engine/errors.ts";

/** A worker that the operator configured. */
export interface WorkerEntry {
  /** Its gateway's URL; names the worker in logs. */
  readonly url: string;
  /** The model that it serves; absent: whatever it says itself. */
  readonly model?: string;
  readonly client: EngineClient;
}

export interface Worker {
  readonly url: string;
  readonly client: EngineClient;
  /** What the worker says about itself, at most FACTS_TTL_MS old. Rejects when it cannot be asked and never was. */
  facts(): Promise<WorkerFacts>;
  /** It has refused stop strings although it did not say that it would: its facts tell so from now on. */
  noteRefusedStops(): void;
}

/** Which workers there are, and for which model. */
export interface WorkerDirectory {
  readonly workers: readonly Worker[];
  /** The workers of a model. Those that are configured without one are asked, at most MAX_PARALLEL at once. */
  workersOf(model: string): Promise<readonly Worker[]>;
}

/** How long a worker's facts are good; a refresh that fails keeps the old ones for as long again. */
const FACTS_TTL_MS = 60_000;
/** How long a request waits for another request's question; its answer never comes when that one was cut short. */
const TAKE_OVER_AFTER_MS = 6_000;
/** The platform lets six subrequests wait for headers at once; more would queue. */
const MAX_PARALLEL = 6;

export interface FailureOptions {
  /** How long a worker that could not be asked is left alone, so that it does not slow every request. */
  readonly retryAfterMs: number;
  /** Told of each worker that cannot be asked, at most once in that time. */
  readonly onFailure: (url: string, error: unknown) => void;
}

export function createWorkerDirectory(
  entries: readonly WorkerEntry[],
  clock: Clock,
  failures: FailureOptions,
): WorkerDirectory {
  const workers = entries.map((entry) => ({
    entry,
    worker: createWorker(entry, clock, failures),
  }));
  return {
    workers: workers.map(({ worker }) => worker),
    async workersOf(model) {
      const errors: EdgeError[] = [];
      const found = await mapBounded(workers, MAX_PARALLEL, async ({ entry, worker }) =>
        (await serves(entry, worker, { model, errors })) ? worker : null,
      );
      const serving = found.filter((worker) => worker !== null);
      // A gateway that refuses our credentials is not "no worker": it would look like an outage that passes.
      const refusal = errors.find(({ error }) => error.kind === "engine-error");
      if (serving.length === 0 && refusal !== undefined) throw refusal;
      return serving;
    },
  };
}

async function serves(
  entry: WorkerEntry,
  worker: Worker,
  wanted: { readonly model: string; readonly errors: EdgeError[] },
): Promise<boolean> {
  if (entry.model !== undefined) return entry.model === wanted.model;
  try {
    const facts = await worker.facts();
    return facts.servedModelName === wanted.model || facts.modelPath === wanted.model;
  } catch (thrown) {
    // A worker that does not answer serves nothing now.
    wanted.errors.push(toWorkerFailure(thrown).error);
    return false;
  }
}

function createWorker(
  { url, client }: WorkerEntry,
  clock: Clock,
  { retryAfterMs, onFailure }: FailureOptions,
): Worker {
  let known: { readonly facts: WorkerFacts; readonly expiresAt: number } | null = null;
  let failed: { readonly error: unknown; readonly until: number } | null = null;
  let asking: SharedSlot<WorkerFacts> | null = null;
  let refusesStops = false;
  const ask = async (): Promise<WorkerFacts> => {
    try {
      const facts = await client.facts();
      known = { facts, expiresAt: clock.now() + FACTS_TTL_MS };
      failed = null;
      return facts;
    } catch (error) {
      onFailure(url, error);
      failed = { error, until: clock.now() + retryAfterMs };
      if (known === null) throw error;
      known = { facts: known.facts, expiresAt: clock.now() + FACTS_TTL_MS };
      return known.facts;
    }
  };
  const current = async (): Promise<WorkerFacts> => {
    if (known !== null && clock.now() < known.expiresAt) return known.facts;
    if (failed !== null && known === null && clock.now() < failed.until) throw failed.error;
    const question = (asking ??= createSharedSlot(ask, TAKE_OVER_AFTER_MS));
    try {
      return await question.get();
    } finally {
      if (asking === question) asking = null;
    }
  };
  return {
    url,
    client,
    async facts() {
      const facts = await current();
      return refusesStops ? { ...facts, skipTokenizerInit: true } : facts;
    },
    noteRefusedStops() {
      refusesStops = true;
    },
  };
}

/** Maps with at most `limit` calls running at once; results in the order of the items. */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  limit: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Map<number, Result>();
  let next = 0;
  const run = async (): Promise<void> => {
    for (;;) {
      const index = next++;
      const item = items[index];
      if (item === undefined) return;
      results.set(index, await map(item));
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, run));
  return items.flatMap((_, index) => {
    const result = results.get(index);
    return result === undefined ? [] : [result];
  });
}
