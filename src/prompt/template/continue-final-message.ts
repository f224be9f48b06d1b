import { invalidRequest } from "../../core/api-error.ts";
import type { EdgeError } from "../../core/api-error.ts";
import type { TemplateContentPart, TemplateMessage } from "./chat-template.ts";
import { strip } from "./jinja/string-methods.ts";

/** What Hugging Face appends to the final message, to find its end in the rendered text. */
const TAG = "CONTINUE_FINAL_MESSAGE_TAG ";

export interface MarkedMessages {
  readonly messages: readonly TemplateMessage[];
  readonly finalText: string;
}

/**
 * The messages with a tag after the text of the last one. Throws EdgeError `invalid-request` where Hugging Face raises:
 * the last message has no text, or the template never reads `content`.
 */
export function markFinalMessage(
  messages: readonly TemplateMessage[],
  templateSource: string,
): MarkedMessages {
  const last = messages.at(-1);
  const content = last?.content ?? null;
  if (last === undefined || content === null) {
    throw invalid("the final message has no content to continue");
  }
  if (!templateSource.includes("content")) {
    throw invalid("the model's chat template does not read the messages' content");
  }
  const before = messages.slice(0, -1);
  if (typeof content === "string") {
    return { messages: [...before, { ...last, content: content + TAG }], finalText: content };
  }
  const index = content.findLastIndex((part) => "text" in part);
  const part = content[index];
  const text = part?.["text"];
  if (part === undefined || typeof text !== "string") {
    throw invalid("the final message has no text to continue");
  }
  const marked: TemplateContentPart = { ...part, text: text + TAG };
  return {
    messages: [...before, { ...last, content: content.with(index, marked) }],
    finalText: text,
  };
}

/** The rendered text up to the end of the final message; trailing white space stays as far as the template kept it. */
export function cutAfterFinalMessage(rendered: string, finalText: string): string {
  const end = rendered.lastIndexOf(TAG.trimEnd());
  if (end === -1 || !rendered.includes(strip(finalText, undefined, "both"))) {
    throw invalid("the model's chat template does not print the final message as it is");
  }
  const text = rendered.slice(0, end);
  return rendered.startsWith(TAG, end) ? text : strip(text, undefined, "right");
}

function invalid(reason: string): EdgeError {
  return invalidRequest(
    `continue_final_message cannot be used: ${reason}.`,
    "continue_final_message",
  );
}
