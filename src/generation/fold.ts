import { EdgeError } from "../core/api-error.ts";
import type {
  FinishReason,
  GenerationEvent,
  TokenLogprob,
  Usage,
} from "../core/generation-event.ts";

/** A whole reply: what a stream of events adds up to. */
export interface GenerationResult {
  readonly choices: readonly ChoiceResult[];
  readonly usage: Usage;
}

export interface ChoiceResult {
  readonly index: number;
  readonly text: string;
  /** "" for none. */
  readonly reasoning: string;
  readonly calls: readonly CallResult[];
  /** Of all tokens that the choice shows; empty when none were asked for. */
  readonly logprobs: readonly TokenLogprob[];
  /** Of the prompt's tokens; empty when none were asked for. */
  readonly promptLogprobs: readonly TokenLogprob[];
  readonly finishReason: FinishReason;
  readonly matchedStop: number | string | null;
}

export interface CallResult {
  readonly id: string;
  readonly name: string;
  /** JSON text; a part of it for a call that was cut off. */
  readonly arguments: string;
}

/** Folds a generation to its result; the only way to a buffered reply. Throws EdgeError on `generation-error`. */
export async function foldGeneration(
  steps: AsyncIterable<readonly GenerationEvent[]>,
): Promise<GenerationResult> {
  const choices = new Map<number, OpenChoice>();
  for await (const events of steps) {
    for (const event of events) {
      if (event.type === "generation-end") {
        return { choices: toResults(choices), usage: event.usage };
      }
      if (event.type === "generation-error") throw new EdgeError(event.error);
      if (event.type !== "usage") foldEvent(choiceOf(choices, event.index), event);
    }
  }
  throw new EdgeError({ kind: "internal" });
}

interface OpenChoice {
  text: string;
  reasoning: string;
  readonly calls: { id: string; name: string; arguments: string }[];
  readonly logprobs: TokenLogprob[];
  readonly promptLogprobs: TokenLogprob[];
  end: { readonly finishReason: FinishReason; readonly matchedStop: number | string | null } | null;
}

function choiceOf(choices: Map<number, OpenChoice>, index: number): OpenChoice {
  const known = choices.get(index);
  if (known !== undefined) return known;
  const choice = {
    text: "",
    reasoning: "",
    calls: [],
    logprobs: [],
    promptLogprobs: [],
    end: null,
  };
  choices.set(index, choice);
  return choice;
}

type ChoiceEvent = Extract<GenerationEvent, { readonly index: number }>;

function foldEvent(choice: OpenChoice, event: ChoiceEvent): void {
  switch (event.type) {
    case "prompt-logprobs":
      choice.promptLogprobs.push(...event.entries);
      break;
    case "logprobs":
      choice.logprobs.push(...event.entries);
      break;
    case "text-delta":
      choice.text += event.text;
      break;
    case "reasoning-delta":
      choice.reasoning += event.text;
      break;
    case "tool-call-start":
      choice.calls.push({ id: event.id, name: event.name, arguments: "" });
      break;
    case "tool-call-delta": {
      const call = choice.calls[event.call];
      if (call !== undefined) call.arguments += event.arguments;
      break;
    }
    case "tool-call-end":
      break;
    case "choice-end":
      choice.end = event;
      break;
  }
}

function toResults(choices: ReadonlyMap<number, OpenChoice>): ChoiceResult[] {
  const results: ChoiceResult[] = [];
  for (const [index, { end, ...choice }] of choices) {
    const { finishReason, matchedStop } = end ?? { finishReason: "stop", matchedStop: null };
    results.push({ index, ...choice, finishReason, matchedStop });
  }
  return results.sort((one, other) => one.index - other.index);
}
