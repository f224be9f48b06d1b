import type { ChatTemplate, TemplateContentPart, TemplateMessage } from "./chat-template.ts";
import { PyFloat } from "./jinja/values.ts";

export interface PrepareOptions {
  readonly hasTools: boolean;
  /** Leave the arguments of calls as the text they are. */
  readonly keepsArgumentText?: boolean;
}

/**
 * Messages as a template reads them: a missing content is null, parts are joined for templates that take strings, the
 * arguments of tool calls are objects where they parse as one, and a tool's result names its function where an earlier
 * call tells it. Pure; messages that need no change stay the same objects.
 */
export function prepareMessages(
  messages: readonly TemplateMessage[],
  template: Pick<ChatTemplate, "contentFormat">,
  options: PrepareOptions = { hasTools: false },
): readonly TemplateMessage[] {
  const format = template.contentFormat(options);
  const namesByCallId = new Map<string, string>();
  return messages.map((message) => {
    const calls = toolCalls(message, options.keepsArgumentText ?? false);
    for (const call of calls ?? []) {
      if (call.id !== undefined && call.name !== undefined) namesByCallId.set(call.id, call.name);
    }
    const content = prepareContent(message.content, format);
    const name = functionName(message, namesByCallId);
    if (content === message.content && calls === undefined && name === undefined) return message;
    return {
      ...message,
      content,
      ...(calls === undefined ? {} : { tool_calls: calls.map(({ wire }) => wire) }),
      ...(name === undefined ? {} : { name }),
    };
  });
}

function prepareContent(
  content: TemplateMessage["content"] | undefined,
  format: "string" | "openai",
): TemplateMessage["content"] {
  if (content === undefined || content === null) return null;
  if (typeof content === "string" || format === "openai") return content;
  return content
    .filter(isTextPart)
    .map(({ text }) => text)
    .join("\n");
}

function isTextPart(
  part: TemplateContentPart,
): part is TemplateContentPart & { readonly text: string } {
  return typeof part["text"] === "string";
}

interface PreparedCall {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly wire: unknown;
}

function toolCalls(
  message: TemplateMessage,
  keepsText: boolean,
): readonly PreparedCall[] | undefined {
  const calls = message["tool_calls"];
  return Array.isArray(calls) ? calls.map((call) => prepareCall(call, keepsText)) : undefined;
}

function prepareCall(call: unknown, keepsText: boolean): PreparedCall {
  if (!isRecord(call)) return { id: undefined, name: undefined, wire: call };
  const called = call["function"];
  const id = asString(call["id"]);
  if (!isRecord(called)) return { id, name: undefined, wire: call };
  return {
    id,
    name: asString(called["name"]),
    wire: {
      ...call,
      function: {
        ...called,
        arguments: keepsText ? called["arguments"] : parseArguments(called["arguments"]),
      },
    },
  };
}

/** The object that the text stands for; anything else stays as it is. */
function parseArguments(text: unknown): unknown {
  if (typeof text !== "string") return text ?? {};
  try {
    const value: unknown = JSON.parse(text === "" ? "{}" : text, keepNumber);
    return isRecord(value) ? value : text;
  } catch {
    return text;
  }
}

/** Numbers that JavaScript would change: 1.0 stays a float, an integer beyond 2^53 stays exact. */
function keepNumber(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  const isInteger = /^-?\d+$/.test(context.source);
  if (isInteger) return Number.isSafeInteger(value) ? value : BigInt(context.source);
  return Number.isInteger(value) ? new PyFloat(value) : value;
}

function functionName(
  message: TemplateMessage,
  namesByCallId: ReadonlyMap<string, string>,
): string | undefined {
  if (message.role !== "tool" || message["name"] !== undefined) return undefined;
  return namesByCallId.get(asString(message["tool_call_id"]) ?? "");
}

function asString(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
