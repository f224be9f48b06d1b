import type { GenerationEvent, Usage } from "../core/generation-event.ts";
import type { Generation, GenerationOutcome } from "./generate.ts";

/** Engine calls of one request at a time: the platform lets six calls wait for their headers, and others need some. */
const MAX_PARALLEL = 5;

/**
 * Several generations as one, at most MAX_PARALLEL at a time: the choices of the k-th are numbered from k × n. The first
 * fault ends all of them. `start` is called when a generation's turn comes.
 */
export function mergeGenerations(starters: readonly (() => Generation)[], n: number): Generation {
  const [only] = starters;
  if (only !== undefined && starters.length === 1) return only();
  const merged = new MergedGenerations(starters, n);
  return {
    hasReasoning: false,
    n: n * starters.length,
    events: merged.run(),
    cancel: () => merged.cancel(),
    finished: merged.finished,
  };
}

type Step = readonly GenerationEvent[];

interface Slot {
  readonly position: number;
  readonly generation: Generation;
  usage: Usage;
}

interface Arrival {
  readonly slot: Slot;
  readonly read: IteratorResult<Step, void>;
}

const NO_USAGE: Usage = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
};

class MergedGenerations {
  readonly #starters: readonly (() => Generation)[];
  readonly #n: number;
  readonly #slots: Slot[] = [];
  /** Steps that have come and were not yet told; each generation has at most one here. */
  #arrived: Arrival[] = [];
  #wake: () => void = () => undefined;
  #running = 0;
  #isCancelled = false;
  #resolve: (outcome: Promise<GenerationOutcome>) => void = () => undefined;
  readonly finished = new Promise<GenerationOutcome>((resolve) => {
    this.#resolve = resolve;
  });

  constructor(starters: readonly (() => Generation)[], n: number) {
    this.#starters = starters;
    this.#n = n;
  }

  cancel(): void {
    this.#isCancelled = true;
    for (const { generation } of this.#slots) generation.cancel();
  }

  async *run(): AsyncGenerator<Step, void, undefined> {
    try {
      this.#startMore();
      while (this.#running > 0) {
        const arrived = await this.#nextArrivals();
        const { events, fault } = this.#toStep(arrived);
        if (fault !== undefined) {
          yield [...events, { ...fault, usage: this.#usage() }];
          return;
        }
        if (events.length > 0) yield [{ type: "usage", usage: this.#usage() }, ...events];
        for (const { slot, read } of arrived) if (read.done !== true) void this.#pull(slot);
        this.#startMore();
      }
      yield [{ type: "generation-end", usage: this.#usage() }];
    } finally {
      for (const { generation } of this.#slots) {
        generation.cancel();
        void generation.events.return();
      }
      this.#resolve(this.#outcome());
    }
  }

  #startMore(): void {
    while (this.#running < MAX_PARALLEL && !this.#isCancelled) {
      const position = this.#slots.length;
      const generation = this.#starters[position]?.();
      if (generation === undefined) return;
      const slot = { position, generation, usage: NO_USAGE };
      this.#slots.push(slot);
      this.#running += 1;
      void this.#pull(slot);
    }
  }

  /** The events of a generation never reject. */
  async #pull(slot: Slot): Promise<void> {
    const read = await slot.generation.events.next();
    this.#arrived.push({ slot, read });
    this.#wake();
  }

  async #nextArrivals(): Promise<readonly Arrival[]> {
    if (this.#arrived.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const arrived = this.#arrived;
    this.#arrived = [];
    return arrived;
  }

  #toStep(arrived: readonly Arrival[]): {
    readonly events: GenerationEvent[];
    readonly fault: Extract<GenerationEvent, { type: "generation-error" }> | undefined;
  } {
    const events: GenerationEvent[] = [];
    for (const { slot, read } of arrived) {
      if (read.done === true) {
        this.#running -= 1;
        continue;
      }
      for (const event of read.value) {
        if (event.type === "generation-error") return { events, fault: event };
        if (event.type === "usage" || event.type === "generation-end") slot.usage = event.usage;
        else events.push({ ...event, index: slot.position * this.#n + event.index });
      }
    }
    return { events, fault: undefined };
  }

  #usage(): Usage {
    return this.#slots.map(({ usage }) => usage).reduce(addUsage, NO_USAGE);
  }

  async #outcome(): Promise<GenerationOutcome> {
    const outcomes = await Promise.all(this.#slots.map(({ generation }) => generation.finished));
    const failed = outcomes.find(({ status }) => status === "error");
    const first = outcomes[0];
    return {
      status: failed?.status ?? (this.#isCancelled ? "cancelled" : "ok"),
      errorKind: failed?.errorKind ?? null,
      usage: outcomes.map(({ usage }) => usage).reduce(addUsage, NO_USAGE),
      workerUrl: failed?.workerUrl ?? first?.workerUrl ?? null,
      firstMessageMs: first?.firstMessageMs ?? null,
      cause: failed?.cause,
    };
  }
}

function addUsage(one: Usage, other: Usage): Usage {
  return {
    promptTokens: one.promptTokens + other.promptTokens,
    completionTokens: one.completionTokens + other.completionTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
  };
}
