import { EdgeError } from "../core/api-error.ts";
import type { FinishReason, GenerationEvent, Usage } from "../core/generation-event.ts";

/** A whole reply: what a stream of events adds up to. */
export interface GenerationResult {
  readonly choices: readonly ChoiceResult[];
  readonly usage: Usage;
}

export interface ChoiceResult {
  readonly index: number;
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly matchedStop: number | string | null;
}

/** Folds a generation to its result; the only way to a buffered reply. Throws EdgeError on `generation-error`. */
export async function foldGeneration(
  steps: AsyncIterable<readonly GenerationEvent[]>,
): Promise<GenerationResult> {
  const texts = new Map<number, string>();
  const choices: ChoiceResult[] = [];
  for await (const events of steps) {
    for (const event of events) {
      switch (event.type) {
        case "usage":
          break;
        case "text-delta":
          texts.set(event.index, (texts.get(event.index) ?? "") + event.text);
          break;
        case "choice-end": {
          const { index, finishReason, matchedStop } = event;
          choices.push({ index, text: texts.get(index) ?? "", finishReason, matchedStop });
          break;
        }
        case "generation-end":
          choices.sort((one, other) => one.index - other.index);
          return { choices, usage: event.usage };
        case "generation-error":
          throw new EdgeError(event.error);
      }
    }
  }
  throw new EdgeError({ kind: "internal" });
}
