import type { ChatRequest, Message } from "../core/chat-request.ts";
import type { ChatTemplate, TemplateMessage } from "../prompt/template/chat-template.ts";
import { prepareMessages } from "../prompt/template/messages.ts";

/** The prompt text of a chat. Throws EdgeError `invalid-request` with the template's own message. */
export function renderPrompt(
  request: Pick<
    ChatRequest,
    "messages" | "addGenerationPrompt" | "continueFinalMessage" | "templateKwargs"
  >,
  template: ChatTemplate,
  now: Date,
): string {
  const messages = prepareMessages(request.messages.map(toTemplateMessage), template);
  return template.render({
    messages,
    addGenerationPrompt: request.addGenerationPrompt,
    continueFinalMessage: request.continueFinalMessage,
    kwargs: request.templateKwargs,
    now,
  });
}

/** A message in the words that templates know. */
function toTemplateMessage(message: Message): TemplateMessage {
  const { role, content, name, toolCallId, toolCalls, reasoning } = message;
  return {
    role,
    content:
      typeof content === "object" ? (content?.map((part) => ({ ...part })) ?? null) : content,
    ...(name === undefined ? {} : { name }),
    ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(toolCalls === undefined
      ? {}
      : {
          tool_calls: toolCalls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: call.arguments },
          })),
        }),
  };
}
