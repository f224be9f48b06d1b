import type { GenerationEvent, TokenLogprob, Usage } from "../core/generation-event.ts";
import type {
  EngineChunk,
  EngineComplete,
  EngineCounts,
  EngineLogprob,
  EngineMessage,
} from "../engine/engine-message.ts";
import type { OutputEvent } from "../parsers/output-parser.ts";
import type { ChoiceEnd, ChoiceOutput, ChoiceStep } from "./choice-output.ts";

/** All choices of one engine call. */
export interface ChoiceSet {
  /** The engine's messages of one read, as events; whatever comes behind the end of a choice is left out. */
  push(messages: readonly EngineMessage[]): ChoiceSetStep;
  /** What was held back when the reply broke off. */
  flush(): readonly GenerationEvent[];
  readonly usage: Usage;
}

export interface ChoiceSetStep {
  readonly events: readonly GenerationEvent[];
  /** How all choices ended: the engine has ended them all, or we did without it; null: some still run. */
  readonly end: "engine" | "edge" | "abort" | null;
}

export interface ChoiceSetOptions {
  readonly n: number;
  readonly promptTokens: number;
  readonly createOutput: () => ChoiceOutput;
  readonly toPromptEntries: (rows: readonly EngineLogprob[]) => readonly TokenLogprob[];
  /** An id for a call whose format gives none. */
  readonly createCallId: () => string;
  /** At most one call a choice: it ends with its first. */
  readonly oneCall: boolean;
}

interface Choice {
  readonly output: ChoiceOutput;
  /** What the engine counted last. */
  counts: EngineCounts | null;
  completionTokens: number;
  end: ChoiceEnd | null;
  endedBy: "engine" | "edge" | null;
}

export function createChoiceSet(options: ChoiceSetOptions): ChoiceSet {
  return new EngineChoices(options);
}

class EngineChoices implements ChoiceSet {
  readonly #options: ChoiceSetOptions;
  readonly #choices: readonly Choice[];
  /** Ends are told in the order of the choices: this is the next one to tell. */
  #nextEnd = 0;
  #toldPromptLogprobs = false;

  constructor(options: ChoiceSetOptions) {
    this.#options = options;
    this.#choices = Array.from({ length: options.n }, () => ({
      output: options.createOutput(),
      counts: null,
      completionTokens: 0,
      end: null,
      endedBy: null,
    }));
  }

  get usage(): Usage {
    let promptTokens: number | null = null;
    let completionTokens = 0;
    let cachedTokens = 0;
    let reasoningTokens = 0;
    for (const choice of this.#choices) {
      completionTokens += choice.completionTokens;
      const { counts } = choice;
      if (counts === null) continue;
      reasoningTokens += counts.reasoningTokens;
      // Samples find what the first one has just put into the cache; the least is what the prompt found there itself.
      cachedTokens =
        promptTokens === null ? counts.cachedTokens : Math.min(cachedTokens, counts.cachedTokens);
      promptTokens ??= counts.promptTokens;
    }
    return {
      promptTokens: promptTokens ?? this.#options.promptTokens,
      completionTokens,
      cachedTokens,
      reasoningTokens,
    };
  }

  push(messages: readonly EngineMessage[]): ChoiceSetStep {
    const body: GenerationEvent[] = [];
    for (let position = 0; position < messages.length; position++) {
      const message = messages[position];
      const choice = this.#choices[message?.index ?? -1];
      if (message === undefined || choice === undefined || choice.end !== null) continue;
      choice.counts = message;
      this.#tellPromptLogprobs(message, body);
      if (message.type === "chunk") this.#pushChunk(choice, message, body);
      else if (message.finishReason === "abort") return this.#abort(body);
      else this.#complete(choice, message, body);
    }
    this.#tellEnds(body);
    const events: GenerationEvent[] = [{ type: "usage", usage: this.usage }, ...body];
    return { events, end: this.#howAllEnded() };
  }

  flush(): readonly GenerationEvent[] {
    const body: GenerationEvent[] = [];
    for (const [index, choice] of this.#choices.entries()) {
      if (choice.end !== null) continue;
      appendStep(body, this.#toEvents(choice, index, choice.output.complete(ABORTED)));
    }
    return [{ type: "usage", usage: this.usage }, ...body];
  }

  #abort(body: GenerationEvent[]): ChoiceSetStep {
    return { events: [...body, ...this.flush()], end: "abort" };
  }

  #tellPromptLogprobs(message: EngineMessage, body: GenerationEvent[]): void {
    if (this.#toldPromptLogprobs || message.promptLogprobs === undefined) return;
    this.#toldPromptLogprobs = true;
    const entries = this.#options.toPromptEntries(message.promptLogprobs);
    body.push({ type: "prompt-logprobs", index: 0, entries });
  }

  #pushChunk(choice: Choice, chunk: EngineChunk, body: GenerationEvent[]): void {
    const step = choice.output.push(chunk.tokenIds, chunk.logprobs);
    choice.completionTokens = choice.output.completionTokens;
    this.#apply(choice, chunk.index, { step, body, by: "edge" });
  }

  #complete(choice: Choice, message: EngineComplete, body: GenerationEvent[]): void {
    choice.completionTokens = message.completionTokens;
    const step = choice.output.complete(message);
    this.#apply(choice, message.index, { step, body, by: "engine" });
  }

  #apply(
    choice: Choice,
    index: number,
    change: {
      readonly step: ChoiceStep;
      readonly body: GenerationEvent[];
      readonly by: "engine" | "edge";
    },
  ): void {
    const { step, body, by } = change;
    appendStep(body, this.#toEvents(choice, index, step));
    if (choice.end !== null) choice.endedBy = "edge";
    else if (step.end !== null) {
      choice.end = step.end;
      choice.endedBy = by;
    }
  }

  /** A choice's own events, numbered; sets its end where only one call is allowed. */
  #toEvents(choice: Choice, index: number, step: ChoiceStep): readonly GenerationEvent[] {
    const events: GenerationEvent[] = [];
    if (step.logprobs.length > 0) {
      events.push({ type: "logprobs", index, entries: step.logprobs });
    }
    for (const event of step.events) {
      if (event.type === "tool-call-start" && event.call > 0 && this.#options.oneCall) {
        choice.end = { finishReason: "tool-calls", matchedStop: null };
        return events;
      }
      events.push(this.#toEvent(event, index));
      if (event.type === "tool-call-end" && this.#options.oneCall) {
        choice.end = { finishReason: "tool-calls", matchedStop: null };
        return events;
      }
    }
    return events;
  }

  #toEvent(event: OutputEvent, index: number): GenerationEvent {
    switch (event.type) {
      case "text-delta":
      case "reasoning-delta":
        // Most events by far: without a spread.
        return { type: event.type, index, text: event.text };
      case "tool-call-start":
        return { ...event, index, id: event.id ?? this.#options.createCallId() };
      case "tool-call-delta":
      case "tool-call-end":
        return { ...event, index };
    }
  }

  #tellEnds(body: GenerationEvent[]): void {
    for (;;) {
      const choice = this.#choices[this.#nextEnd];
      if (choice?.end == null) return;
      body.push({ type: "choice-end", index: this.#nextEnd, ...choice.end });
      this.#nextEnd += 1;
    }
  }

  #howAllEnded(): "engine" | "edge" | null {
    if (this.#nextEnd < this.#choices.length) return null;
    return this.#choices.every(({ endedBy }) => endedBy === "engine") ? "engine" : "edge";
  }
}

const ABORTED = { finishReason: "abort", matchedStop: null } as const;

/** Appends events; neighbouring deltas of the same choice and kind become one. */
function appendStep(body: GenerationEvent[], events: readonly GenerationEvent[]): void {
  for (const event of events) {
    const joined = joinTwo(body.at(-1), event);
    if (joined === null) body.push(event);
    else body[body.length - 1] = joined;
  }
}

function joinTwo(last: GenerationEvent | undefined, next: GenerationEvent): GenerationEvent | null {
  if (last?.type === "text-delta" && next.type === "text-delta" && last.index === next.index) {
    return { ...last, text: last.text + next.text };
  }
  if (
    last?.type === "reasoning-delta" &&
    next.type === "reasoning-delta" &&
    last.index === next.index
  ) {
    return { ...last, text: last.text + next.text };
  }
  if (
    last?.type === "tool-call-delta" &&
    next.type === "tool-call-delta" &&
    last.index === next.index &&
    last.call === next.call
  ) {
    return { ...last, arguments: last.arguments + next.arguments };
  }
  return null;
}
