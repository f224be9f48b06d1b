import type { GenerationEvent, TokenLogprob, Usage } from "../../core/generation-event.ts";
import { DONE_FRAME, dataFrame } from "../../sse/frame.ts";
import { renderOpenAiError } from "../shared/openai-error.ts";
import { renderUsage } from "../shared/openai-usage.ts";
import type { OpenAiStream } from "../shared/reply.ts";
import { renderLegacyLogprobs } from "./legacy-logprobs.ts";
import { characters, echoOf, type CompletionResponseOptions } from "./render-response.ts";

export interface CompletionStreamOptions extends CompletionResponseOptions {
  /** A last chunk without choices tells the usage; every one before it has `usage: null`. */
  readonly includeUsage: boolean;
  /** Every chunk tells the usage so far. */
  readonly continuousUsage: boolean;
}

/** Writes generation events as text_completion frames. */
export function createCompletionStream(options: CompletionStreamOptions): OpenAiStream {
  return new CompletionStream(options);
}

class CompletionStream implements OpenAiStream {
  readonly #options: CompletionStreamOptions;
  readonly #open: string;
  /** Log probabilities that go out with the next chunk of their choice. */
  readonly #waiting = new Map<number, TokenLogprob[]>();
  /** Choices whose prompt has been told. */
  readonly #echoed = new Set<number>();
  #usage: Usage | null = null;
  readonly head = "";
  readonly idle: string;
  readonly tail = DONE_FRAME;

  constructor(options: CompletionStreamOptions) {
    this.#options = options;
    this.#open =
      `data: {"id":${JSON.stringify(options.id)},"object":"text_completion",` +
      `"created":${options.created},"model":${JSON.stringify(options.model)},"choices":[`;
    this.idle = this.#chunk({ index: 0, text: "", logprobs: [], end: '"finish_reason":null' });
  }

  render = (events: readonly GenerationEvent[]): string => {
    let frames = "";
    for (const event of events) frames += this.#renderEvent(event);
    return frames;
  };

  #renderEvent(event: GenerationEvent): string {
    const { includeUsage } = this.#options;
    switch (event.type) {
      case "usage":
        this.#usage = event.usage;
        return "";
      case "prompt-logprobs":
        return this.#echoAll(event.index, event.entries);
      case "logprobs":
        this.#waiting.set(event.index, [
          ...(this.#waiting.get(event.index) ?? []),
          ...event.entries,
        ]);
        return "";
      case "text-delta":
        return this.#echo(event.index, []) + this.#delta(event.index, event.text);
      case "choice-end":
        return (
          this.#echo(event.index, []) +
          this.#delta(
            event.index,
            "",
            `"finish_reason":"${event.finishReason === "length" ? "length" : "stop"}",` +
              `"matched_stop":${JSON.stringify(event.matchedStop)}`,
          )
        );
      case "generation-end":
        return includeUsage
          ? `${this.#open}],"usage":${JSON.stringify(renderUsage(event.usage))}}\n\n`
          : "";
      case "generation-error":
        return dataFrame(JSON.stringify(renderOpenAiError(event.error)));
      case "reasoning-delta":
      case "tool-call-start":
      case "tool-call-delta":
      case "tool-call-end":
        // This surface reads neither thoughts nor calls.
        return "";
    }
  }

  /** The engine tells about a prompt once, with its first choice; each of its choices repeats it. */
  #echoAll(index: number, entries: readonly TokenLogprob[]): string {
    const { n } = this.#options;
    const first = index - (index % n);
    let frames = "";
    for (let choice = first; choice < first + n; choice++) frames += this.#echo(choice, entries);
    return frames;
  }

  #echo(index: number, entries: readonly TokenLogprob[]): string {
    const text = echoOf(index, this.#options);
    if (text === "" || this.#echoed.has(index)) return "";
    this.#echoed.add(index);
    return this.#chunk({ index, text, logprobs: entries, end: '"finish_reason":null' });
  }

  #delta(index: number, text: string, end = '"finish_reason":null'): string {
    const logprobs = this.#waiting.get(index) ?? [];
    this.#waiting.delete(index);
    const offset = characters(echoOf(index, this.#options));
    return this.#chunk({ index, text, logprobs, offset, end });
  }

  #chunk(choice: {
    readonly index: number;
    readonly text: string;
    readonly logprobs: readonly TokenLogprob[];
    readonly offset?: number;
    readonly end: string;
  }): string {
    const { hasLogprobs } = this.#options;
    const logprobs =
      hasLogprobs && choice.logprobs.length > 0
        ? JSON.stringify(renderLegacyLogprobs(choice.logprobs, choice.offset ?? 0))
        : "null";
    return (
      `${this.#open}{"index":${choice.index},"text":${JSON.stringify(choice.text)},` +
      `"logprobs":${logprobs},${choice.end}}${this.#close()}`
    );
  }

  #close(): string {
    const { includeUsage, continuousUsage } = this.#options;
    if (continuousUsage && this.#usage !== null) {
      return `],"usage":${JSON.stringify(renderUsage(this.#usage))}}\n\n`;
    }
    return includeUsage || continuousUsage ? '],"usage":null}\n\n' : "]}\n\n";
  }
}
