import type { GenerationEvent, TokenLogprob, Usage } from "../../core/generation-event.ts";
import { DONE_FRAME, dataFrame } from "../../sse/frame.ts";
import { renderOpenAiError } from "../shared/openai-error.ts";
import { renderLogprobs } from "../shared/openai-logprobs.ts";
import { renderUsage } from "../shared/openai-usage.ts";
import type { OpenAiStream } from "../shared/reply.ts";
import { FINISH_REASONS, type ChatResponseOptions } from "./render-response.ts";

export interface ChatStreamOptions extends ChatResponseOptions {
  /** Choices. */
  readonly n: number;
  /** A last chunk without choices tells the usage; every one before it has `usage: null`. */
  readonly includeUsage: boolean;
  /** Every chunk tells the usage so far. */
  readonly continuousUsage: boolean;
}

/** Writes generation events as chat.completion.chunk frames. */
export function createChatStream(options: ChatStreamOptions): OpenAiStream {
  const { id, created, model, includeUsage, continuousUsage, hasReasoning } = options;
  const open =
    `data: {"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},` +
    `"model":${JSON.stringify(model)},"choices":[`;
  /** Deltas of a model that thinks have the key, also when it is another's turn. */
  const noThought = hasReasoning ? ',"reasoning_content":null' : "";
  /** Log probabilities that go out with the next chunk of their choice. */
  const waiting = new Map<number, TokenLogprob[]>();
  let usage: Usage | null = null;

  const close = (): string => {
    if (continuousUsage && usage !== null) {
      return `],"usage":${JSON.stringify(renderUsage(usage))}}\n\n`;
    }
    return includeUsage || continuousUsage ? '],"usage":null}\n\n' : "]}\n\n";
  };
  const takeLogprobs = (index: number): string => {
    const entries = waiting.get(index);
    if (entries === undefined) return "null";
    waiting.delete(index);
    return JSON.stringify(renderLogprobs(entries));
  };
  const running = '"finish_reason":null';
  const chunk = (index: number, delta: string, finish = running): string =>
    `${open}{"index":${index},"delta":${delta},"logprobs":${takeLogprobs(index)},${finish}}${close()}`;
  const callChunk = (index: number, call: string): string =>
    chunk(index, `{"tool_calls":[${call}]${noThought}}`);

  const renderEvent = (event: GenerationEvent): string => {
    switch (event.type) {
      case "usage":
        usage = event.usage;
        return "";
      case "prompt-logprobs":
      case "tool-call-end":
        return "";
      case "logprobs":
        waiting.set(event.index, [...(waiting.get(event.index) ?? []), ...event.entries]);
        return "";
      case "text-delta":
        return chunk(event.index, `{"content":${JSON.stringify(event.text)}${noThought}}`);
      case "reasoning-delta":
        return chunk(event.index, `{"reasoning_content":${JSON.stringify(event.text)}}`);
      case "tool-call-start":
        return callChunk(
          event.index,
          `{"index":${event.call},"id":${JSON.stringify(event.id)},"type":"function",` +
            `"function":{"name":${JSON.stringify(event.name)},"arguments":""}}`,
        );
      case "tool-call-delta":
        return callChunk(
          event.index,
          `{"index":${event.call},"function":{"arguments":${JSON.stringify(event.arguments)}}}`,
        );
      case "choice-end":
        return chunk(
          event.index,
          "{}",
          `"finish_reason":"${FINISH_REASONS[event.finishReason]}","matched_stop":${JSON.stringify(event.matchedStop)}`,
        );
      case "generation-end":
        return includeUsage
          ? `${open}],"usage":${JSON.stringify(renderUsage(event.usage))}}\n\n`
          : "";
      case "generation-error":
        return dataFrame(JSON.stringify(renderOpenAiError(event.error)));
    }
  };
  return {
    head: Array.from({ length: options.n }, (_, index) =>
      chunk(index, `{"role":"assistant","content":""${noThought}}`),
    ).join(""),
    render(events) {
      let frames = "";
      for (const event of events) frames += renderEvent(event);
      return frames;
    },
    idle: chunk(0, "{}"),
    tail: DONE_FRAME,
  };
}
