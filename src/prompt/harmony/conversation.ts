import { invalidRequest } from "../../core/api-error.ts";
import type { TemplateMessage } from "../template/chat-template.ts";
import { dumpJson } from "../template/jinja/python-json.ts";
import { toValue } from "../template/jinja/values.ts";

/** A message and its place in the request, for error paths. */
export interface PlacedMessage {
  readonly message: TemplateMessage;
  readonly index: number;
}

interface Call {
  readonly id: string | undefined;
  readonly name: string;
  readonly contentType: string;
  readonly arguments: unknown;
}

/** What the text before a message decides about it. */
interface Progress {
  readonly namesById: Map<string, string>;
  /** The function called last since the last final answer. */
  lastCalled: string | undefined;
}

export interface ConversationOptions {
  /** The last message is not followed by a generation prompt: it is shown whole, thoughts included. */
  readonly isComplete: boolean;
}

/**
 * The turns after the leading instructions. Throws EdgeError `invalid-request` for a role that Harmony has no place for,
 * a tool's result that belongs to no call, and channel markers inside an assistant's text.
 */
export function renderConversation(
  messages: readonly PlacedMessage[],
  options: ConversationOptions,
): string {
  const lastFinal = messages.findLastIndex(
    ({ message }) => message.role === "assistant" && !hasCalls(message),
  );
  const progress: Progress = { namesById: new Map(), lastCalled: undefined };
  return messages
    .map((placed, position) => {
      switch (placed.message.role) {
        case "user":
          return frame("user", textOf(placed.message));
        case "system":
        case "developer":
          return renderInstructions(textOf(placed.message));
        case "assistant": {
          refuseMarkers(placed);
          if (hasCalls(placed.message)) {
            return renderCalls(placed, { isAnswered: position < lastFinal, progress });
          }
          const isLast = position === messages.length - 1;
          return renderFinal(placed.message, { isWhole: isLast && options.isComplete, progress });
        }
        case "tool":
        case "function":
          return renderResult(placed, progress);
        default:
          throw invalidRequest(
            `The model knows no role '${placed.message.role}'; use system, developer, user, assistant or tool.`,
            `messages[${String(placed.index)}].role`,
          );
      }
    })
    .join("");
}

/** A developer message of instructions; nothing for an empty text. */
export function renderInstructions(text: string, tools = ""): string {
  if (text === "" && tools === "") return "";
  const instructions = text === "" ? "" : `# Instructions\n\n${text}\n\n`;
  return frame("developer", instructions + tools);
}

/** The text of a message; parts are joined with a newline. */
export function textOf({ content }: TemplateMessage): string {
  if (typeof content === "string") return content;
  return (content ?? [])
    .map((part) => part["text"])
    .filter((text) => typeof text === "string")
    .join("\n");
}

export function frame(header: string, text: string, end = "<|end|>"): string {
  return `<|start|>${header}<|message|>${text}${end}`;
}

function renderFinal(
  message: TemplateMessage,
  { isWhole, progress }: { readonly isWhole: boolean; readonly progress: Progress },
): string {
  const final = "assistant<|channel|>final";
  if (isWhole) {
    const thought = reasoningOf(message);
    return (
      (thought === "" ? "" : frame("assistant<|channel|>analysis", thought)) +
      frame(final, textOf(message), "<|return|>")
    );
  }
  progress.lastCalled = undefined;
  return frame(final, textOf(message));
}

/**
 * One message for each call. The thought that led to it is kept until a final answer follows. A text beside the calls
 * stands for that thought when there is no other; beside a thought it is a preamble, which stays visible.
 */
function renderCalls(
  placed: PlacedMessage,
  { isAnswered, progress }: { readonly isAnswered: boolean; readonly progress: Progress },
): string {
  const { message } = placed;
  const text = textOf(message);
  const reasoning = reasoningOf(message);
  const thought = reasoning === "" ? text : reasoning;
  const preamble = reasoning === "" ? "" : text;
  const calls = callsOf(placed).map((call) => {
    progress.lastCalled = call.name;
    if (call.id !== undefined) progress.namesById.set(call.id, call.name);
    return frame(
      `assistant to=functions.${call.name}<|channel|>commentary ${call.contentType}`,
      toJson(call.arguments),
      "<|call|>",
    );
  });
  return (
    (thought === "" || isAnswered ? "" : frame("assistant<|channel|>analysis", thought)) +
    (preamble === "" ? "" : frame("assistant<|channel|>commentary", preamble)) +
    calls.join("")
  );
}

function renderResult({ message, index }: PlacedMessage, progress: Progress): string {
  const name =
    progress.namesById.get(asText(message["tool_call_id"]) ?? "") ??
    progress.lastCalled ??
    asText(message["name"]);
  if (name === undefined) {
    throw invalidRequest(
      "A tool's result must follow an assistant message that calls the tool.",
      `messages[${String(index)}]`,
    );
  }
  return frame(`functions.${name} to=assistant<|channel|>commentary`, toJson(textOf(message)));
}

function refuseMarkers({ message, index }: PlacedMessage): void {
  for (const [key, text] of [
    ["content", textOf(message)],
    ["reasoning_content", reasoningOf(message)],
  ] as const) {
    if (/<\|channel\|>(?:analysis|final)<\|message\|>/u.test(text)) {
      throw invalidRequest(
        "An assistant message holds <|channel|> markers: pass the final text in content and the thoughts in reasoning_content.",
        `messages[${String(index)}].${key}`,
      );
    }
  }
}

function reasoningOf(message: TemplateMessage): string {
  return asText(message["thinking"]) ?? asText(message["reasoning_content"]) ?? "";
}

function hasCalls(message: TemplateMessage): boolean {
  const calls = message["tool_calls"];
  return Array.isArray(calls) && calls.length > 0;
}

function callsOf({ message, index }: PlacedMessage): readonly Call[] {
  const calls = message["tool_calls"];
  if (!Array.isArray(calls)) return [];
  return calls.map((wire: unknown, position) => {
    const call = isRecord(wire) ? wire : {};
    const called = isRecord(call["function"]) ? call["function"] : call;
    const name = asText(called["name"]);
    if (name === undefined) {
      throw invalidRequest(
        "A tool call needs the name of its function.",
        `messages[${String(index)}].tool_calls[${String(position)}].function.name`,
      );
    }
    return {
      id: asText(call["id"]),
      name,
      contentType: asText(called["content_type"]) ?? "json",
      arguments: called["arguments"] ?? {},
    };
  });
}

/** JSON as Python's json.dumps writes it without escaping, which is what the public template does. */
function toJson(value: unknown): string {
  return dumpJson(toValue(value), {
    ensureAscii: false,
    indent: null,
    itemSeparator: ", ",
    keySeparator: ": ",
    sortKeys: false,
  });
}

function asText(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
