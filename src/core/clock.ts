/** The time source; injected, so that tests are repeatable. Inside a Worker it stands still during CPU work. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
