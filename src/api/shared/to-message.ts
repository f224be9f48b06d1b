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
          toolCalls: wire.tool_calls?.map(toToolCall),
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
  return content.map((part): ContentPart => ({
    type: "text",
    text: part.type === "text" ? part.text : part.refusal,
  }));
}

function toToolCall(
  call: NonNullable<Extract<WireMessage, { role: "assistant" }>["tool_calls"]>[number],
): ToolCall {
  const { name, arguments: args } = call.function;
  return {
    id: call.id ?? "",
    name,
    arguments: typeof args === "object" && args !== null ? JSON.stringify(args) : (args ?? "{}"),
  };
}
