/** A chat message as the templates of Hugging Face models read it (wire names on purpose). */
export interface TemplateMessage {
  readonly role: string;
  /** A string, content parts for templates of the "openai" content format, or null. */
  readonly content: string | readonly TemplateContentPart[] | null;
  /** Further keys: name, tool_calls, tool_call_id, reasoning_content … */
  readonly [key: string]: unknown;
}

export interface TemplateContentPart {
  readonly type: string;
  readonly [key: string]: unknown;
}

export interface TemplateInput {
  readonly messages: readonly TemplateMessage[];
  /** Tools in the chat wire shape `{type: "function", function: {...}}`; absent when there are none. */
  readonly tools?: readonly unknown[];
  readonly addGenerationPrompt: boolean;
  /** Leave the last assistant message open, as Hugging Face's `continue_final_message`. */
  readonly continueFinalMessage: boolean;
  /** `chat_template_kwargs` and the like; they win over everything else. */
  readonly kwargs: Readonly<Record<string, unknown>>;
  /** What `strftime_now` reads. */
  readonly now: Date;
}

export interface ChatTemplate {
  /** "openai": the template walks over content parts; "string": it takes strings, text parts are joined with "\n". */
  contentFormat(options: { readonly hasTools: boolean }): "string" | "openai";
  /** The prompt text. Throws EdgeError `invalid-request` with the template's own message on `raise_exception`. */
  render(input: TemplateInput): string;
}

/** Where a template comes from; part of a compiled model. */
export interface ChatTemplateSource {
  /** By name: always `default`, often `tool_use` (chosen when tools are given), others by request. */
  readonly templates: Readonly<Record<string, string>>;
  /** bos_token, eos_token … by name, as the template's variables. */
  readonly specialTokens: Readonly<Record<string, string>>;
}
