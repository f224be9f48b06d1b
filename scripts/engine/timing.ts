/** Shorter waits than this are not worth a timer, whose grain is a millisecond; the next one makes up for it. */
const NOT_WORTH_WAITING_MS = 0.5;

/** Waits until `dueMs` on the clock of `performance.now()`, or until the signal fires. */
export async function waitUntil(dueMs: number, signal: AbortSignal): Promise<void> {
  const leftMs = dueMs - performance.now();
  if (leftMs < NOT_WORTH_WAITING_MS || signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, leftMs);
    signal.addEventListener("abort", done);
  });
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Events per second over the last second, in tenths. */
export class RateMeter {
  readonly #buckets: { tenth: number; events: number }[] = [];

  add(events: number): void {
    const tenth = Math.floor(performance.now() / 100);
    const last = this.#buckets.at(-1);
    if (last?.tenth === tenth) last.events += events;
    else this.#buckets.push({ tenth, events });
    this.#forget(tenth);
  }

  perSecond(): number {
    this.#forget(Math.floor(performance.now() / 100));
    return this.#buckets.reduce((sum, { events }) => sum + events, 0);
  }

  #forget(tenth: number): void {
    while ((this.#buckets[0]?.tenth ?? tenth) <= tenth - 10) this.#buckets.shift();
  }
}
