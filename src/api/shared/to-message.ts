import type { ContentPart, Message, ToolCall } from "../../core/chat-request.ts";
import { dropUnset } from "./drop-unset.ts";
import type { WireMessage } from "./message-schema.ts";

/** A chat message of the wire. Refusals count as the assistant's text. */
export function toMessage(wire: WireMessage): Message {
  const common = {
    role: wire.role,
    content: toContent(wire.content),
    ...dropUnset({ name: wire.name }),
  };
  switch (wire.role) {
    case "assistant":
      return {
        ...common,
        ...dropUnset({
          toolCalls: toToolCalls(wire.tool_calls),
          reasoning: wire.reasoning_content ?? wire.reasoning,
        }),
      };
    case "tool":
      return { ...common, ...dropUnset({ toolCallId: wire.tool_call_id }) };
    case "system":
    case "developer":
    case "user":
      return common;
  }
}

function toContent(content: WireMessage["content"]): Message["content"] {
  if (typeof content === "string" || content === null || content === undefined)
    return content ?? null;
  return content.map(toContentPart);
}

type WirePart = Extract<WireMessage["content"], readonly unknown[]>[number];

function toContentPart(part: WirePart): ContentPart {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "refusal":
      return { type: "text", text: part.refusal };
    case "image_url": {
      const { url, detail } = part.image_url;
      return { type: "image", url, ...dropUnset({ detail }) };
    }
  }
}

type WireCalls = Extract<WireMessage, { role: "assistant" }>["tool_calls"];

/** An empty list says the same as none; templates would take it for calls. */
function toToolCalls(wire: WireCalls): readonly ToolCall[] | undefined {
  return wire == null || wire.length === 0 ? undefined : wire.map(toToolCall);
}

function toToolCall(call: NonNullable<WireCalls>[number]): ToolCall {
  const { name, arguments: args } = call.function;
  return {
    id: call.id ?? "",
    name,
    arguments: typeof args === "object" && args !== null ? JSON.stringify(args) : (args ?? "{}"),
  };
}
