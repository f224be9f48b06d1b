import type { AnthropicError } from "./render-error.ts";

/** The events of a streamed message; a buffered one is their fold. */
export type MessageEvent =
  | { readonly type: "message_start"; readonly message: WireReply }
  | { readonly type: "ping" }
  | {
      readonly type: "content_block_start";
      readonly index: number;
      readonly content_block: ReplyBlock;
    }
  | {
      readonly type: "content_block_delta";
      readonly index: number;
      readonly delta: BlockDelta;
    }
  | { readonly type: "content_block_stop"; readonly index: number }
  | {
      readonly type: "message_delta";
      readonly delta: { readonly stop_reason: string; readonly stop_sequence: string | null };
      readonly usage: WireUsage;
    }
  | { readonly type: "message_stop" }
  | AnthropicError;

export interface WireReply {
  readonly id: string;
  readonly type: "message";
  readonly role: "assistant";
  readonly model: string;
  readonly content: readonly ReplyBlock[];
  readonly stop_reason: string | null;
  readonly stop_sequence: string | null;
  readonly usage: WireUsage;
}

export type ReplyBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
    };

export type BlockDelta =
  | { readonly type: "text_delta"; readonly text: string }
  | { readonly type: "thinking_delta"; readonly thinking: string }
  | { readonly type: "signature_delta"; readonly signature: string }
  | { readonly type: "input_json_delta"; readonly partial_json: string };

/** Token counts in Anthropic's sense: `input_tokens` leaves out what the cache had. */
export interface WireUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
}
