import type { Clock } from "../core/clock.ts";
import type { EngineClient } from "../engine/engine-client.ts";
import type { WorkerFacts } from "../engine/engine-message.ts";

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
/** The platform lets six subrequests wait for headers at once; more would queue. */
const MAX_PARALLEL = 6;

export function createWorkerDirectory(
  entries: readonly WorkerEntry[],
  clock: Clock,
): WorkerDirectory {
  const workers = entries.map((entry) => ({ entry, worker: createWorker(entry, clock) }));
  return {
    workers: workers.map(({ worker }) => worker),
    async workersOf(model) {
      const found = await mapBounded(workers, MAX_PARALLEL, async ({ entry, worker }) =>
        (await serves(entry, worker, model)) ? worker : null,
      );
      return found.filter((worker) => worker !== null);
    },
  };
}

async function serves(entry: WorkerEntry, worker: Worker, model: string): Promise<boolean> {
  if (entry.model !== undefined) return entry.model === model;
  try {
    const facts = await worker.facts();
    return facts.servedModelName === model || facts.modelPath === model;
  } catch {
    // A worker that does not answer serves nothing now; it is asked again with the next request.
    return false;
  }
}

function createWorker({ url, client }: WorkerEntry, clock: Clock): Worker {
  let known: { readonly facts: WorkerFacts; readonly expiresAt: number } | null = null;
  let asking: Promise<WorkerFacts> | null = null;
  let refusesStops = false;
  const ask = async (): Promise<WorkerFacts> => {
    try {
      const facts = await client.facts();
      known = { facts, expiresAt: clock.now() + FACTS_TTL_MS };
      return facts;
    } catch (error) {
      if (known === null) throw error;
      known = { facts: known.facts, expiresAt: clock.now() + FACTS_TTL_MS };
      return known.facts;
    } finally {
      asking = null;
    }
  };
  return {
    url,
    client,
    async facts() {
      const isFresh = known !== null && clock.now() < known.expiresAt;
      const facts = isFresh && known !== null ? known.facts : await (asking ??= ask());
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
