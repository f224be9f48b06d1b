import type { GenerationEvent, Usage } from "../../core/generation-event.ts";
import { DONE_FRAME, dataFrame } from "../../sse/frame.ts";
import { renderOpenAiError } from "../shared/openai-error.ts";
import { renderUsage } from "../shared/openai-usage.ts";

export interface ChatStreamOptions {
  /** `chatcmpl-…`, the same in every chunk. */
  readonly id: string;
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
  /** A last chunk without choices tells the usage; every one before it has `usage: null`. */
  readonly includeUsage: boolean;
  /** Every chunk tells the usage so far. */
  readonly continuousUsage: boolean;
}

/** Writes generation events as chat.completion.chunk frames. */
export interface ChatStream {
  /** The chunk with the assistant's role; goes out first. */
  readonly head: string;
  readonly render: (events: readonly GenerationEvent[]) => string;
  /** A chunk that says nothing: the heartbeat of clients that cannot take comments. */
  readonly idle: string;
  readonly tail: string;
}

export function createChatStream(options: ChatStreamOptions): ChatStream {
  const { id, created, model, includeUsage, continuousUsage } = options;
  const open =
    `data: {"id":${JSON.stringify(id)},"object":"chat.completion.chunk","created":${created},` +
    `"model":${JSON.stringify(model)},"choices":[`;
  let usage: Usage | null = null;

  const close = (): string => {
    if (continuousUsage && usage !== null) {
      return `],"usage":${JSON.stringify(renderUsage(usage))}}\n\n`;
    }
    return includeUsage || continuousUsage ? '],"usage":null}\n\n' : "]}\n\n";
  };
  const chunk = (index: number, delta: string, finish: string): string =>
    `${open}{"index":${index},"delta":${delta},"logprobs":null,${finish}}${close()}`;
  const running = '"finish_reason":null';

  const renderEvent = (event: GenerationEvent): string => {
    switch (event.type) {
      case "usage":
        usage = event.usage;
        return "";
      case "text-delta":
        return chunk(event.index, `{"content":${JSON.stringify(event.text)}}`, running);
      case "choice-end":
        return chunk(
          event.index,
          "{}",
          `"finish_reason":"${event.finishReason}","matched_stop":${JSON.stringify(event.matchedStop)}`,
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
    head: chunk(0, '{"role":"assistant","content":""}', running),
    render(events) {
      let frames = "";
      for (const event of events) frames += renderEvent(event);
      return frames;
    },
    idle: chunk(0, "{}", running),
    tail: DONE_FRAME,
  };
}
