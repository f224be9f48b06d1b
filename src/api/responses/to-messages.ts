import { invalidRequest } from "../../core/api-error.ts";
import type { ContentPart, Message, ToolCall } from "../../core/chat-request.ts";
import { dropUnset } from "../shared/drop-unset.ts";
import type { WireItem, WireItemContent } from "./input-schema.ts";
import { CUSTOM_INPUT, flattenName } from "./tool-names.ts";

export interface Conversation {
  readonly messages: readonly Message[];
  /** The wire's path of each message's content, e.g. `input[3].output`. */
  readonly paths: readonly string[];
}

/**
 * Input items as messages. Pure. What the assistant did without waiting for anything (reasoning, text, calls) is one
 * turn; a turn goes on while one of its calls has no output, and its outputs follow it in the order of the calls.
 * Throws EdgeError for an output without a call, and when nothing is said at all.
 */
export function toMessages(
  instructions: string | null | undefined,
  input: string | readonly WireItem[],
): Conversation {
  const items: readonly WireItem[] =
    typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
  const builder = new ConversationBuilder(instructions);
  for (const [index, item] of items.entries()) builder.add(item, `input[${index}]`);
  return builder.build();
}

type Placed = { readonly message: Message; readonly path: string };
type WireMessageItem = Extract<WireItem, { readonly type: "message" }>;

class ConversationBuilder {
  /** Texts of the system message. */
  readonly #system: string[] = [];
  readonly #blocks: (Placed | AssistantTurn)[] = [];
  /** The turn that made each call; of several calls with one id, the last. */
  readonly #turns = new Map<string, AssistantTurn>();

  constructor(instructions: string | null | undefined) {
    if (instructions !== null && instructions !== undefined && instructions !== "") {
      this.#system.push(instructions);
    }
  }

  add(item: WireItem, path: string): void {
    switch (item.type) {
      case "message":
        this.#addMessage(item, path);
        break;
      case "reasoning":
        this.#addReasoning(item);
        break;
      case "function_call":
        this.#addCall(item, item.arguments === "" ? "{}" : item.arguments);
        break;
      case "custom_tool_call":
        this.#addCall(item, JSON.stringify({ [CUSTOM_INPUT]: item.input }));
        break;
      case "function_call_output":
      case "custom_tool_call_output":
        this.#addOutput(item, path);
        break;
      case "additional_tools":
      case "item_reference":
        break;
    }
  }

  build(): Conversation {
    const placed: Placed[] = [];
    if (this.#system.length > 0) {
      const content = this.#system.join("\n\n");
      placed.push({ message: { role: "system", content }, path: "instructions" });
    }
    for (const block of this.#blocks) {
      if (block instanceof AssistantTurn) placed.push(...block.build());
      else placed.push(block);
    }
    if (placed.length === 0) {
      throw invalidRequest("'input' must hold at least one message.", "input");
    }
    return {
      messages: placed.map(({ message }) => message),
      paths: placed.map(({ path }) => path),
    };
  }

  #addMessage({ role, content }: WireMessageItem, path: string): void {
    if (role === "assistant") {
      if (!isTextOnly(content)) {
        const param = `${path}.content`;
        throw invalidRequest(`'${param}': an assistant's message takes text only.`, param);
      }
      this.#openTurn().texts.push(toText(content));
      return;
    }
    const isInstruction = role !== "user";
    if (isInstruction && this.#blocks.length === 0 && isTextOnly(content)) {
      this.#system.push(toText(content));
      return;
    }
    // Templates take instructions at the start only.
    const message: Message = { role: "user", content: toContent(content) };
    this.#blocks.push({ message, path: `${path}.content` });
  }

  #addReasoning({ content, summary }: Extract<WireItem, { readonly type: "reasoning" }>): void {
    const parts =
      content === null || content === undefined || content.length === 0 ? summary : content;
    const texts = (parts ?? []).map(({ text }) => text).filter((text) => text !== "");
    if (texts.length > 0) this.#openTurn().reasoning.push(...texts);
  }

  #addCall(
    item: {
      readonly call_id: string;
      readonly name: string;
      readonly namespace?: string | null | undefined;
    },
    args: string,
  ): void {
    const turn = this.#openTurn();
    turn.calls.push({
      id: item.call_id,
      name: flattenName(item.name, item.namespace),
      arguments: args,
    });
    this.#turns.set(item.call_id, turn);
  }

  #addOutput(
    item: { readonly call_id: string; readonly output: WireItemContent },
    path: string,
  ): void {
    const turn = this.#turns.get(item.call_id);
    if (turn === undefined) {
      const param = `${path}.call_id`;
      throw invalidRequest(`'${param}': no earlier call has the id '${item.call_id}'.`, param);
    }
    turn.outputs.push({
      message: { role: "tool", content: toContent(item.output), toolCallId: item.call_id },
      path: `${path}.output`,
    });
  }

  /** The turn that goes on, or a new one. */
  #openTurn(): AssistantTurn {
    const last = this.#blocks.at(-1);
    if (last instanceof AssistantTurn && last.isOpen) return last;
    const turn = new AssistantTurn();
    this.#blocks.push(turn);
    return turn;
  }
}

class AssistantTurn {
  readonly reasoning: string[] = [];
  readonly texts: string[] = [];
  readonly calls: ToolCall[] = [];
  readonly outputs: Placed[] = [];

  /** Nothing has been answered yet, or not all. */
  get isOpen(): boolean {
    const answered = new Set(this.outputs.map(({ message }) => message.toolCallId));
    return this.outputs.length === 0 || this.calls.some(({ id }) => !answered.has(id));
  }

  build(): readonly Placed[] {
    const { reasoning, texts, calls } = this;
    // Thoughts that led to nothing are not a turn.
    if (texts.length === 0 && calls.length === 0) return [];
    const text = texts.join("\n");
    const message: Message = {
      role: "assistant",
      content: text === "" && calls.length > 0 ? null : text,
      ...dropUnset({
        reasoning: reasoning.length > 0 ? reasoning.join("\n") : undefined,
        toolCalls: calls.length > 0 ? calls : undefined,
      }),
    };
    const place = ({ message: { toolCallId } }: Placed): number =>
      calls.findIndex(({ id }) => id === toolCallId);
    const outputs = this.outputs.toSorted((one, other) => place(one) - place(other));
    return [{ message, path: "input" }, ...outputs];
  }
}

function isTextOnly(content: WireItemContent): boolean {
  return typeof content === "string" || content.every(({ type }) => type !== "input_image");
}

function toText(content: WireItemContent): string {
  if (typeof content === "string") return content;
  return content.map((part) => textOf(part)).join("\n");
}

function toContent(content: WireItemContent): Message["content"] {
  return typeof content === "string" ? content : content.map(toContentPart);
}

type WirePart = Exclude<WireItemContent, string>[number];

function toContentPart(part: WirePart): ContentPart {
  if (part.type !== "input_image") return { type: "text", text: textOf(part) };
  const { image_url: url, detail } = part;
  return { type: "image", url, ...dropUnset({ detail }) };
}

/** Refusals count as text; images have none. */
function textOf(part: WirePart): string {
  switch (part.type) {
    case "refusal":
      return part.refusal;
    case "input_image":
      return "";
    case "input_text":
    case "output_text":
    case "text":
      return part.text;
  }
}
