import type { GenerationEvent, Usage } from "../../core/generation-event.ts";
import type { MessageEvent } from "./message-events.ts";
import type { MessageWriter } from "./message-writer.ts";

/** Writes a message as server-sent events, each with its name and its JSON. */
export interface MessageStream {
  /** The start of a message whose first step is late. */
  readonly start: (usage: Usage) => string;
  readonly render: (events: readonly GenerationEvent[]) => string;
}

export function createMessageStream(writer: MessageWriter): MessageStream {
  return {
    start: (usage) => toFrames(writer.start(usage)),
    render(events) {
      let frames = "";
      for (const event of events) frames += toFrames(writer.push(event));
      return frames;
    },
  };
}

/** The heartbeat: clients skip it by its name, and may parse its data before. */
export const PING_FRAME = toFrame({ type: "ping" });

function toFrames(events: readonly MessageEvent[]): string {
  let frames = "";
  for (const event of events) frames += toFrame(event);
  return frames;
}

function toFrame(event: MessageEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
