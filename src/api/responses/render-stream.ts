import type { GenerationEvent } from "../../core/generation-event.ts";
import { PING_COMMENT } from "../../sse/to-response.ts";
import type { OpenAiStream } from "../shared/reply.ts";
import type { ResponseEvent, ResponseMachine } from "./response-machine.ts";

/** Writes generation events as the events of a response, numbered from 0. The last one ends the stream. */
export function createResponseStream(machine: ResponseMachine): OpenAiStream {
  let sequenceNumber = 0;
  const write = (events: readonly ResponseEvent[]): string => {
    let frames = "";
    for (const { type, ...rest } of events) {
      const data = JSON.stringify({ type, sequence_number: sequenceNumber, ...rest });
      frames += `event: ${type}\ndata: ${data}\n\n`;
      sequenceNumber += 1;
    }
    return frames;
  };
  return {
    head: write(machine.opening),
    render(events: readonly GenerationEvent[]) {
      let frames = "";
      for (const event of events) frames += write(machine.push(event));
      return frames;
    },
    // No event says nothing, and every event has a number: only a comment can be sent in between.
    idle: PING_COMMENT,
    tail: "",
  };
}
