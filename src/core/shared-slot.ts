/** A value made once, on first use, for all who ask; a failure is not kept. */
export interface SharedSlot<T> {
  get(): Promise<T>;
  /** Whether nothing was made and nothing is being made. */
  isEmpty(): boolean;
}

/**
 * The runtime may drop the request that started the work, and then the shared promise never settles: whoever has waited
 * for `takeOverAfterMs` starts the work anew, in its own request.
 */
export function createSharedSlot<T>(
  make: () => Promise<T>,
  takeOverAfterMs: number,
): SharedSlot<T> {
  let made: { readonly value: T } | undefined;
  let making: Promise<T> | undefined;

  const start = (): Promise<T> => {
    const started = make().then(
      (value) => {
        made ??= { value };
        if (making === started) making = undefined;
        return made.value;
      },
      (error: unknown) => {
        if (making === started) making = undefined;
        throw error;
      },
    );
    making = started;
    return started;
  };

  return {
    isEmpty: () => made === undefined && making === undefined,
    async get() {
      for (;;) {
        if (made !== undefined) return made.value;
        if (making === undefined) return start();
        const waitedFor = making;
        const outcome = await waitAtMost(waitedFor, takeOverAfterMs);
        if (outcome !== TIMED_OUT) return outcome;
        if (making === waitedFor) return start();
      }
    },
  };
}

const TIMED_OUT = Symbol("timed out");

async function waitAtMost<T>(promise: Promise<T>, ms: number): Promise<T | typeof TIMED_OUT> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<typeof TIMED_OUT>((resolve) => {
    timer = setTimeout(resolve, ms, TIMED_OUT);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    if (timer !== undefined) clearTimeout(timer);
  }
}
