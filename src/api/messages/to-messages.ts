import { invalidRequest } from "../../core/api-error.ts";
import type { ContentPart, Message } from "../../core/chat-request.ts";
import type {
  WireAssistantBlock,
  WireMessage,
  WireShownBlock,
  WireTextContent,
  WireToolResult,
} from "./content-schema.ts";
import { fitsThought } from "./thought-signature.ts";
import { fromWireCallId } from "./tool-ids.ts";

export interface Conversation {
  readonly messages: readonly Message[];
  /** The last message is the beginning of the reply. */
  readonly continueFinalMessage: boolean;
}

/**
 * The turns of the wire as messages for the template. Neighbours of one role are one turn; in a user's turn the results of
 * tools come first, so that they follow their calls, then everything else in its order. A system message goes into the
 * system prompt at the start and counts as the user's text later. Throws EdgeError `invalid-request` with the block's
 * path.
 */
export function toConversation(
  system: WireTextContent | null | undefined,
  wire: readonly WireMessage[],
): Conversation {
  const turnsFrom = wire.findIndex(({ role }) => role !== "system");
  const leading = turnsFrom < 0 ? wire : wire.slice(0, turnsFrom);
  const instructions = [
    ...systemTexts(system ?? []),
    ...leading.flatMap((message) => (message.role === "system" ? textsOf(message.content) : [])),
  ];
  const turns = toTurns(wire, leading.length);
  const messages = turns.flatMap((turn) =>
    turn.role === "user" ? toUserMessages(turn) : [toAssistantMessage(turn)],
  );
  if (instructions.length > 0) {
    messages.unshift({ role: "system", content: instructions.join("\n\n") });
  }
  return finish(messages, turns.at(-1), `messages[${wire.length - 1}]`);
}

/** Claude Code's own accounting: it means nothing to a model, and would keep prompts from sharing a prefix. */
const BILLING_HEADER = "x-anthropic-billing-header:";

function systemTexts(system: WireTextContent): readonly string[] {
  return textsOf(system).filter((text) => !text.startsWith(BILLING_HEADER));
}

function textsOf(content: WireTextContent): readonly string[] {
  const texts = typeof content === "string" ? [content] : content.map(({ text }) => text);
  return texts.filter((text) => text !== "");
}

interface UserTurn {
  readonly role: "user";
  readonly results: Message[];
  readonly parts: ContentPart[];
}

interface AssistantTurn {
  readonly role: "assistant";
  text: string;
  /** The last block was text: another one goes on with it. */
  isInText: boolean;
  readonly thoughts: string[];
  readonly calls: NonNullable<Message["toolCalls"]>[number][];
}

type Turn = UserTurn | AssistantTurn;

function toTurns(wire: readonly WireMessage[], from: number): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [index, message] of wire.entries()) {
    if (index < from) continue;
    const last = turns.at(-1);
    if (message.role === "assistant") {
      const turn = last?.role === "assistant" ? last : addTurn(turns, newAssistantTurn());
      addAssistantContent(turn, message.content, `messages[${index}].content`);
    } else {
      const turn =
        last?.role === "user" ? last : addTurn(turns, { role: "user", results: [], parts: [] });
      addUserContent(turn, message.content);
    }
  }
  return turns;
}

function addTurn<New extends Turn>(turns: Turn[], turn: New): New {
  turns.push(turn);
  return turn;
}

function newAssistantTurn(): AssistantTurn {
  return { role: "assistant", text: "", isInText: false, thoughts: [], calls: [] };
}

function addUserContent(
  turn: UserTurn,
  content: Extract<WireMessage, { role: "user" | "system" }>["content"],
): void {
  if (typeof content === "string") {
    turn.parts.push({ type: "text", text: content });
    return;
  }
  for (const block of content) {
    if (block.type === "tool_result") turn.results.push(toToolMessage(block));
    else turn.parts.push(toPart(block));
  }
}

function toUserMessages({ results, parts }: UserTurn): readonly Message[] {
  const [first, second] = parts.filter((part) => part.type !== "text" || part.text !== "");
  if (first === undefined) {
    return results.length > 0 ? results : [{ role: "user", content: "" }];
  }
  const content =
    second === undefined && first.type === "text"
      ? first.text
      : parts.filter((part) => part.type !== "text" || part.text !== "");
  return [...results, { role: "user", content }];
}

/** Texts become one string: few templates take parts in a tool's turn. */
function toToolMessage(block: WireToolResult): Message {
  const parts =
    typeof block.content === "string"
      ? [{ type: "text", text: block.content } as const]
      : (block.content ?? []).map(toPart);
  const shown: readonly ContentPart[] = block.is_error === true ? markError(parts) : parts;
  const texts = shown.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return {
    role: "tool",
    content: texts.length === shown.length ? texts.join("\n") : shown,
    toolCallId: fromWireCallId(block.tool_use_id),
  };
}

function markError(parts: readonly ContentPart[]): readonly ContentPart[] {
  const [first, ...rest] = parts;
  return first?.type === "text"
    ? [{ type: "text", text: `Error: ${first.text}` }, ...rest]
    : [{ type: "text", text: "Error:" }, ...parts];
}

function toPart(block: WireShownBlock): ContentPart {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image": {
      const { source } = block;
      const url =
        source.type === "url" ? source.url : `data:${source.media_type};base64,${source.data}`;
      return { type: "image", url };
    }
    case "document": {
      const { title, context, source } = block;
      const text = source.type === "text" ? source.data : textsOf(source.content).join("\n");
      return { type: "text", text: [title, context, text].filter(Boolean).join("\n") };
    }
    case "search_result": {
      const { title, source, content } = block;
      return { type: "text", text: [title, source, ...textsOf(content)].join("\n") };
    }
    case "tool_reference":
      return { type: "text", text: `The tool ${block.tool_name} is available.` };
  }
}

function addAssistantContent(
  turn: AssistantTurn,
  content: Extract<WireMessage, { role: "assistant" }>["content"],
  path: string,
): void {
  turn.isInText = false;
  const blocks = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
  for (const [index, block] of blocks.entries()) {
    addAssistantBlock(turn, block, `${path}[${index}]`);
    turn.isInText = block.type === "text";
  }
}

function addAssistantBlock(turn: AssistantTurn, block: WireAssistantBlock, path: string): void {
  switch (block.type) {
    case "text":
      if (block.text === "") return;
      turn.text += (turn.text === "" || turn.isInText ? "" : "\n\n") + block.text;
      break;
    case "thinking":
      checkSignature(block, path);
      if (block.thinking !== "") turn.thoughts.push(block.thinking);
      break;
    case "redacted_thinking":
      break;
    case "tool_use":
      turn.calls.push({
        id: fromWireCallId(block.id),
        name: block.name,
        arguments: JSON.stringify(block.input),
      });
      break;
  }
}

function checkSignature(
  block: Extract<WireAssistantBlock, { type: "thinking" }>,
  path: string,
): void {
  if (fitsThought(block.signature ?? "", block.thinking)) return;
  const param = `${path}.signature`;
  throw invalidRequest(`'${param}': this signature belongs to another thought.`, param);
}

function toAssistantMessage({ text, thoughts, calls }: AssistantTurn): Message {
  return {
    role: "assistant",
    content: text === "" && calls.length > 0 ? null : text,
    ...(thoughts.length === 0 ? {} : { reasoning: thoughts.join("\n\n") }),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
  };
}

/** A final turn of the assistant is continued; one that says nothing is none. */
function finish(messages: readonly Message[], last: Turn | undefined, path: string): Conversation {
  if (last?.role !== "assistant") return { messages, continueFinalMessage: false };
  if (last.calls.length > 0) {
    throw invalidRequest(`'${path}': the results of its tool calls are missing.`, path);
  }
  if (last.text !== "") return { messages, continueFinalMessage: true };
  if (last.thoughts.length > 0) {
    throw invalidRequest(`'${path}': there is no text that the reply could continue.`, path);
  }
  return { messages: messages.slice(0, -1), continueFinalMessage: false };
}
