import { EdgeError } from "../../core/api-error.ts";
import type { GenerationEvent } from "../../core/generation-event.ts";
import type { BlockDelta, MessageEvent, ReplyBlock, WireReply } from "./message-events.ts";
import type { MessageWriter } from "./message-writer.ts";
import { parseInput } from "./parse-input.ts";

/** A buffered message: the fold of what the stream would say. Throws EdgeError on `generation-error`. */
export async function renderMessage(
  steps: AsyncIterable<readonly GenerationEvent[]>,
  writer: MessageWriter,
): Promise<WireReply> {
  const fold = createMessageFold();
  for await (const events of steps) {
    for (const event of events) {
      if (event.type === "generation-error") throw new EdgeError(event.error);
      for (const written of writer.push(event)) fold.push(written);
    }
  }
  const message = fold.message();
  if (message === null) throw new EdgeError({ kind: "internal" });
  return message;
}

/** Adds the events of a message up. */
interface MessageFold {
  push(event: MessageEvent): void;
  /** The whole message; null before `message_stop`. */
  message(): WireReply | null;
}

interface OpenBlock {
  readonly start: ReplyBlock;
  text: string;
  signature: string;
}

function createMessageFold(): MessageFold {
  const content: ReplyBlock[] = [];
  let message: WireReply | null = null;
  let open: OpenBlock | null = null;
  let isWhole = false;
  return {
    push(event) {
      switch (event.type) {
        case "message_start":
          message = event.message;
          break;
        case "content_block_start":
          open = { start: event.content_block, text: "", signature: "" };
          break;
        case "content_block_delta":
          if (open !== null) addDelta(open, event.delta);
          break;
        case "content_block_stop":
          if (open !== null) content.push(toBlock(open));
          open = null;
          break;
        case "message_delta":
          if (message !== null) message = { ...message, ...event.delta, usage: event.usage };
          break;
        case "message_stop":
          isWhole = true;
          break;
        case "ping":
        case "error":
          break;
      }
    },
    message: () => (isWhole && message !== null ? { ...message, content } : null),
  };
}

function addDelta(open: OpenBlock, delta: BlockDelta): void {
  switch (delta.type) {
    case "text_delta":
      open.text += delta.text;
      break;
    case "thinking_delta":
      open.text += delta.thinking;
      break;
    case "signature_delta":
      open.signature = delta.signature;
      break;
    case "input_json_delta":
      open.text += delta.partial_json;
      break;
  }
}

function toBlock({ start, text, signature }: OpenBlock): ReplyBlock {
  switch (start.type) {
    case "text":
      return { type: "text", text };
    case "thinking":
      return { type: "thinking", thinking: text, signature };
    case "tool_use":
      return { ...start, input: parseInput(text) };
  }
}
