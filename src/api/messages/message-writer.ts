import type { GenerationEvent, Usage } from "../../core/generation-event.ts";
import type { BlockDelta, MessageEvent, ReplyBlock, WireUsage } from "./message-events.ts";
import { renderAnthropicError } from "./render-error.ts";
import { createThoughtSigner, type ThoughtSigner } from "./thought-signature.ts";
import { toWireCallId } from "./tool-ids.ts";

export interface MessageOptions {
  readonly id: string;
  readonly requestId: string;
  readonly model: string;
  /** Those of the request: only they count as such when one ended the reply. */
  readonly stopSequences: readonly string[];
  /** Thoughts are left out. */
  readonly hidesThinking: boolean;
}

/**
 * Writes generation events as the events of a message. One block is open at a time; what is only white space opens none,
 * unless it is the whole reply. The events do not depend on how the generation's are grouped into steps.
 */
export interface MessageWriter {
  /** `message_start`, once; the first `usage` starts a message that was not started before. */
  start(usage: Usage): readonly MessageEvent[];
  push(event: GenerationEvent): readonly MessageEvent[];
}

export function createMessageWriter(options: MessageOptions): MessageWriter {
  return new BlockWriter(options);
}

type OpenBlock =
  | { readonly type: "text" }
  | { readonly type: "thinking"; readonly signer: ThoughtSigner }
  | { readonly type: "tool_use" };

type TextKind = "text" | "thinking";

class BlockWriter implements MessageWriter {
  readonly #options: MessageOptions;
  #isStarted = false;
  #open: OpenBlock | null = null;
  /** Index of the open block, or of the next one. */
  #index = 0;
  /** White space that waits for a text of its kind; at most as long as the reply. */
  #held = "";
  #heldKind: TextKind = "text";
  #end: Extract<GenerationEvent, { type: "choice-end" }> | null = null;

  constructor(options: MessageOptions) {
    this.#options = options;
  }

  start(usage: Usage): readonly MessageEvent[] {
    if (this.#isStarted) return [];
    this.#isStarted = true;
    const { id, model } = this.#options;
    const message = {
      id,
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      // What was generated so far is told at the end.
      usage: renderUsage({ ...usage, completionTokens: 0 }),
    } as const;
    return [{ type: "message_start", message }, { type: "ping" }];
  }

  push(event: GenerationEvent): readonly MessageEvent[] {
    switch (event.type) {
      case "usage":
        return this.start(event.usage);
      case "prompt-logprobs":
      case "logprobs":
        return [];
      case "text-delta":
        return this.#addText("text", event.text);
      case "reasoning-delta":
        return this.#options.hidesThinking ? [] : this.#addText("thinking", event.text);
      case "tool-call-start":
        return this.#openCall(event.id, event.name);
      case "tool-call-delta":
        return this.#addInput(event.arguments);
      case "tool-call-end":
        return this.#close();
      case "choice-end":
        this.#end = event;
        return this.#endBlocks();
      case "generation-end":
        return [
          {
            type: "message_delta",
            delta: this.#stopReason(),
            usage: renderUsage(event.usage),
          },
          { type: "message_stop" },
        ];
      case "generation-error":
        return [...this.#close(), renderAnthropicError(event.error, this.#options.requestId)];
    }
  }

  #addText(kind: TextKind, text: string): MessageEvent[] {
    const events: MessageEvent[] = [];
    let shown = text;
    if (this.#open?.type !== kind) {
      const held = this.#heldKind === kind ? this.#held : "";
      shown = held + text;
      if (text.trim() === "") {
        this.#held = shown;
        this.#heldKind = kind;
        return [];
      }
      events.push(...this.#openText(kind));
    }
    this.#held = "";
    if (shown !== "") events.push(this.#showText(shown));
    return events;
  }

  #openText(kind: TextKind): MessageEvent[] {
    const closed = this.#close();
    if (kind === "text") {
      this.#open = { type: "text" };
      return [...closed, this.#startBlock({ type: "text", text: "" })];
    }
    this.#open = { type: "thinking", signer: createThoughtSigner() };
    return [...closed, this.#startBlock({ type: "thinking", thinking: "", signature: "" })];
  }

  #showText(text: string): MessageEvent {
    if (this.#open?.type !== "thinking") return this.#delta({ type: "text_delta", text });
    this.#open.signer.push(text);
    return this.#delta({ type: "thinking_delta", thinking: text });
  }

  #openCall(id: string, name: string): MessageEvent[] {
    const closed = this.#close();
    this.#held = "";
    this.#open = { type: "tool_use" };
    return [
      ...closed,
      this.#startBlock({ type: "tool_use", id: toWireCallId(id), name, input: {} }),
    ];
  }

  #addInput(json: string): MessageEvent[] {
    if (this.#open?.type !== "tool_use" || json === "") return [];
    return [this.#delta({ type: "input_json_delta", partial_json: json })];
  }

  #endBlocks(): MessageEvent[] {
    const events = this.#close();
    const isWhole = this.#index === 0 && this.#heldKind === "text" && this.#held !== "";
    if (!isWhole) return events;
    events.push(...this.#openText("text"), this.#showText(this.#held));
    return [...events, ...this.#close()];
  }

  #startBlock(block: ReplyBlock): MessageEvent {
    return { type: "content_block_start", index: this.#index, content_block: block };
  }

  #delta(delta: BlockDelta): MessageEvent {
    return { type: "content_block_delta", index: this.#index, delta };
  }

  #close(): MessageEvent[] {
    const open = this.#open;
    if (open === null) return [];
    const events: MessageEvent[] = [];
    if (open.type === "thinking") {
      const signature = open.signer.signature();
      events.push(this.#delta({ type: "signature_delta", signature }));
    }
    events.push({ type: "content_block_stop", index: this.#index });
    this.#open = null;
    this.#index += 1;
    return events;
  }

  #stopReason(): { readonly stop_reason: string; readonly stop_sequence: string | null } {
    const matched = this.#end?.matchedStop;
    switch (this.#end?.finishReason) {
      case "length":
        return { stop_reason: "max_tokens", stop_sequence: null };
      case "tool-calls":
        return { stop_reason: "tool_use", stop_sequence: null };
      case "stop":
      case undefined:
        return typeof matched === "string" && this.#options.stopSequences.includes(matched)
          ? { stop_reason: "stop_sequence", stop_sequence: matched }
          : { stop_reason: "end_turn", stop_sequence: null };
    }
  }
}

function renderUsage({ promptTokens, cachedTokens, completionTokens }: Usage): WireUsage {
  return {
    input_tokens: promptTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
  };
}
