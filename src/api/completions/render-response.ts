import type { ChoiceResult, GenerationResult } from "../../generation/fold.ts";
import { renderUsage } from "../shared/openai-usage.ts";
import { renderLegacyLogprobs } from "./legacy-logprobs.ts";

export interface CompletionResponseOptions {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
  readonly hasLogprobs: boolean;
  /** Choices of each prompt. */
  readonly n: number;
  /** The text of each prompt, for `echo`; null: the reply does not repeat it. */
  readonly echo: readonly string[] | null;
}

/** A buffered text_completion. */
export function renderCompletionResponse(
  result: GenerationResult,
  options: CompletionResponseOptions,
) {
  return {
    id: options.id,
    object: "text_completion",
    created: options.created,
    model: options.model,
    choices: result.choices.map((choice) => renderChoice(choice, result, options)),
    usage: renderUsage(result.usage),
  };
}

function renderChoice(
  choice: ChoiceResult,
  { choices }: GenerationResult,
  options: CompletionResponseOptions,
) {
  const echo = echoOf(choice.index, options);
  // The engine tells about the prompt once, with its first choice.
  const first = choices.find(({ index }) => index === choice.index - (choice.index % options.n));
  const prompt = echo === "" ? [] : (first?.promptLogprobs ?? []);
  return {
    index: choice.index,
    text: echo + choice.text,
    logprobs: options.hasLogprobs
      ? renderLegacyLogprobs([...prompt, ...shiftOffsets(choice, echo)], 0)
      : null,
    // Calls are not read on this surface.
    finish_reason: choice.finishReason === "length" ? "length" : "stop",
    matched_stop: choice.matchedStop,
  };
}

function shiftOffsets({ logprobs }: ChoiceResult, echo: string) {
  const offset = characters(echo);
  return logprobs.map((entry) => ({ ...entry, textOffset: entry.textOffset + offset }));
}

/** The text that a choice starts with. */
export function echoOf(index: number, { echo, n }: CompletionResponseOptions): string {
  return echo?.[Math.floor(index / n)] ?? "";
}

/** Characters, as text offsets count them. */
export function characters(text: string): number {
  return Array.from(text).length;
}
