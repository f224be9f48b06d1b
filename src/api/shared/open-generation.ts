import { EdgeError } from "../../core/api-error.ts";
import type { GenerationEvent } from "../../core/generation-event.ts";
import type { Generation } from "../../generation/generate.ts";

type Step = readonly GenerationEvent[];

export interface OpenedGeneration {
  readonly first: Promise<IteratorResult<Step, void>>;
  /** The first step did not come in time: the reply starts without it. */
  readonly isLate: boolean;
}

/**
 * Starts the engine's call and waits for its first step, so that a fault before the first token is a real HTTP error,
 * but no longer than `holdMs`. Throws that fault as EdgeError.
 */
export async function openGeneration(
  generation: Generation,
  holdMs: number,
): Promise<OpenedGeneration> {
  const first = generation.events.next();
  const isLate = await isSlower(first, holdMs);
  if (!isLate) {
    const read = await first;
    const error = read.done === true ? undefined : findEarlyError(read.value);
    if (error !== undefined) {
      await generation.events.return();
      throw new EdgeError(error.error);
    }
  }
  return { first, isLate };
}

async function isSlower(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const { promise: timeUp, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(true), limitMs);
  try {
    return await Promise.race([work.then(() => false), timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

/** Events that the client sees something of. */
const VISIBLE: ReadonlySet<GenerationEvent["type"]> = new Set([
  "text-delta",
  "reasoning-delta",
  "tool-call-start",
]);

/** An error that nothing visible comes before. */
function findEarlyError(
  step: Step,
): Extract<GenerationEvent, { type: "generation-error" }> | undefined {
  if (step.some(({ type }) => VISIBLE.has(type))) return undefined;
  return step.find((event) => event.type === "generation-error");
}
