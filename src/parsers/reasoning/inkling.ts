import { findMarker, heldFrom } from "../marker-scanner.ts";
import type { OutputEvent, OutputParser, ReasoningFormat } from "../output-parser.ts";
import type { StartRule } from "./starts-in-reasoning.ts";
import { createStart } from "./starts-in-reasoning.ts";

const MESSAGE = "<|message_model|>";
const THINKING = "<|content_thinking|>";
const TEXT = "<|content_text|>";
const TOOL_JSON = "<|content_invoke_tool_json|>";
const TOOL_TEXT = "<|content_invoke_tool_text|>";
const END_MESSAGE = "<|end_message|>";
const END_SAMPLING = "<|content_model_end_sampling|>";

const CONTROLS = [
  MESSAGE,
  THINKING,
  TEXT,
  TOOL_JSON,
  TOOL_TEXT,
  END_MESSAGE,
  END_SAMPLING,
] as const;

type Control = (typeof CONTROLS)[number];
type Block = "none" | "thought" | "text" | "tool";

/** The block that each control opens; undefined for a message's header, which tells no kind yet. */
const BLOCKS: Readonly<Record<Control, Block | undefined>> = {
  [MESSAGE]: undefined,
  [THINKING]: "thought",
  [TEXT]: "text",
  [TOOL_JSON]: "tool",
  [TOOL_TEXT]: "tool",
  [END_MESSAGE]: "none",
  [END_SAMPLING]: "none",
};

/** Longest name between a message's start and its kind, in code units; what is longer is no header. */
const MAX_NAME = 256;

const START: StartRule = {
  opens: [THINKING],
  closes: [END_MESSAGE, TEXT],
  asked: () => undefined,
  byDefault: false,
};

/**
 * Inkling: messages of typed blocks, `<|message_model|>name<|content_…|>body<|end_message|>`. Headers of thoughts and
 * texts are dropped; a tool block is passed on with its header and end, for the tool parser. Text in no block is content.
 */
export const inklingReasoning: ReasoningFormat = {
  name: "inkling",
  markers: CONTROLS,
  ...createStart(START),
  create: (options) => new InklingParser(options.startsInReasoning ? "thought" : "none"),
};

class InklingParser implements OutputParser {
  #block: Block;
  #held = "";
  #events: OutputEvent[] = [];

  constructor(block: Block) {
    this.#block = block;
  }

  get heldLength(): number {
    return this.#held.length;
  }

  push(text: string): readonly OutputEvent[] {
    this.#held += text;
    return this.#read(false);
  }

  end(): readonly OutputEvent[] {
    return this.#read(true);
  }

  #read(isEnd: boolean): readonly OutputEvent[] {
    this.#events = [];
    while (this.#held !== "") {
      const match = findMarker(this.#held, CONTROLS);
      if (match === undefined) {
        this.#take(isEnd ? this.#held.length : heldFrom(this.#held, CONTROLS));
        break;
      }
      this.#take(match.start);
      if (match.marker === MESSAGE && this.#block !== "tool") {
        if (!this.#readHeader(isEnd)) break;
      } else {
        this.#readControl(match.marker);
      }
    }
    return this.#events;
  }

  /** False while the header may still go on. */
  #readHeader(isEnd: boolean): boolean {
    const rest = this.#held.slice(MESSAGE.length);
    const next = findMarker(rest, CONTROLS);
    const length = next?.start ?? heldFrom(rest, CONTROLS);
    if (next === undefined && length <= MAX_NAME && !isEnd) return false;
    const block = next && BLOCKS[next.marker];
    if (block === undefined || block === "none" || length > MAX_NAME) {
      // No header. Inside a block the model quotes the token; elsewhere it is framing.
      if (this.#block === "none") this.#drop(MESSAGE.length);
      else this.#take(MESSAGE.length);
      return true;
    }
    if (block === "tool") {
      this.#block = "tool";
      this.#take(MESSAGE.length + length);
    } else {
      this.#drop(MESSAGE.length + length);
    }
    return true;
  }

  #readControl(control: Control): void {
    const block = BLOCKS[control];
    if (this.#block === "tool") {
      this.#take(control.length);
      if (block === "none") this.#block = "none";
      return;
    }
    if (block !== undefined) this.#block = block;
    if (block === "tool") this.#take(control.length);
    else this.#drop(control.length);
  }

  /** Emits the next text as what the block says. */
  #take(length: number): void {
    const text = this.#held.slice(0, length);
    this.#drop(length);
    if (text === "") return;
    const type = this.#block === "thought" ? "reasoning-delta" : "text-delta";
    this.#events.push({ type, text });
  }

  #drop(length: number): void {
    this.#held = this.#held.slice(length);
  }
}
