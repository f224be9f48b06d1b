import { EdgeError } from "../core/api-error.ts";
import type { ChatRequest, Message } from "../core/chat-request.ts";
import type { ChatTemplate, TemplateMessage } from "../prompt/template/chat-template.ts";
import { TemplateFailure } from "../prompt/template/jinja/failure.ts";
import { prepareMessages } from "../prompt/template/messages.ts";

/** The prompt text of a chat. Throws EdgeError `invalid-request` with the template's own message. */
export function renderPrompt(
  request: Pick<
    ChatRequest,
    "messages" | "addGenerationPrompt" | "continueFinalMessage" | "templateKwargs" | "tools"
  >,
  template: ChatTemplate,
  now: Date,
): string {
  const { tools } = request;
  const hasTools = tools.length > 0;
  const render = (messages: readonly TemplateMessage[]): string =>
    template.render({
      messages: prepareMessages(messages, template, { hasTools }),
      ...(hasTools ? { tools: tools.map(({ forTemplate }) => forTemplate) } : {}),
      addGenerationPrompt: request.addGenerationPrompt,
      continueFinalMessage: request.continueFinalMessage,
      kwargs: request.templateKwargs,
      now,
    });
  const messages = request.messages.map(toTemplateMessage);
  try {
    return render(messages);
  } catch (error) {
    // Some templates take a missing content (beside tool calls) for text without looking: for them it is empty text.
    const isMissing = messages.some(({ content }) => content === null);
    if (!isMissing || !isTemplateFault(error)) throw error;
    return render(
      messages.map((message) =>
        message.content === null ? Object.assign({}, message, { content: "" }) : message,
      ),
    );
  }
}

/** The template failed by itself; not one of its own messages about the request. */
function isTemplateFault(error: unknown): boolean {
  return (
    error instanceof EdgeError &&
    error.cause instanceof TemplateFailure &&
    error.cause.kind !== "raised"
  );
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
