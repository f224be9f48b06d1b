import { findMarker, heldFrom } from "../marker-scanner.ts";
import type { OutputEvent, OutputParser, ToolSignature } from "../output-parser.ts";
import { CallArguments } from "./call-arguments.ts";
import { HARMONY_MARKERS } from "./harmony-model.ts";
import type { HarmonyMarker } from "./harmony-model.ts";
import {
  isHeaderLead,
  mayLeadHeader,
  readHeader,
  textOfBrokenHeader,
  withoutMarkers,
} from "./header.ts";
import type { Destination } from "./header.ts";

export interface HarmonyParserOptions {
  /** The client's functions: their names are calls whatever else they may mean to the model. Default: none known. */
  readonly tools?: readonly Pick<ToolSignature, "name">[];
}

/**
 * Longest header, in code units; a longer one is a text without its `<|message|>`. Names have at most 64 characters,
 * and no header holds more than one.
 */
const MAX_HEADER_LENGTH = 512;
const MAX_MARKER_LENGTH = Math.max(...HARMONY_MARKERS.map((marker) => marker.length));
/** What may follow the first words of a header. */
const HEADER_PARTS: ReadonlySet<HarmonyMarker> = new Set([
  "<|channel|>",
  "<|constrain|>",
  "<|message|>",
]);
const HEADER_ENDS = ["<|start|>", "<|message|>", "<|end|>", "<|call|>", "<|return|>"] as const;

/**
 * Reads a reply in OpenAI's Harmony format: messages `<|start|>assistant<|channel|>C<|message|>…<|end|>`, the first one
 * without what the prompt has already said of its header.
 *
 * - analysis is reasoning, final and commentary are text; so is an unknown channel or none.
 * - A message to `functions.NAME` is a call, its text the arguments, unchanged but for raw control characters in strings,
 *   which come out escaped. One that ends without being a JSON object stays open, as one that was cut off; an empty one
 *   has the arguments `{}`.
 * - What is said to a built-in tool (browser, python, container) is nobody's call: reasoning in the analysis channel,
 *   else text.
 * - Markers at a wrong place are dropped and end nothing but a message. Text outside messages is text; white space
 *   there, and a header without a message that holds no word of its own, is nothing.
 */
export function createHarmonyParser(options: HarmonyParserOptions = {}): OutputParser {
  return new HarmonyParser(new Set(options.tools?.map(({ name }) => name)));
}

type State =
  /** Outside of messages. `isFirst`: nothing has been read, so a text continues what the prompt has begun. */
  | { readonly phase: "outside"; readonly isFirst: boolean }
  /** From the first word or marker of a header on; all of it is still in the input. */
  | { readonly phase: "header" }
  /** Inside a message without arguments. */
  | { readonly phase: "message"; readonly type: "text-delta" | "reasoning-delta" }
  /** Inside the arguments of a call. */
  | { readonly phase: "call"; readonly call: number; readonly args: CallArguments };

class HarmonyParser implements OutputParser {
  readonly #declared: ReadonlySet<string>;
  #state: State = { phase: "outside", isFirst: true };
  /** What was pushed and is not decided. */
  #input = "";
  #calls = 0;
  #events: OutputEvent[] = [];

  constructor(declared: ReadonlySet<string>) {
    this.#declared = declared;
  }

  get heldLength(): number {
    return this.#input.length;
  }

  push(text: string): readonly OutputEvent[] {
    this.#input += text;
    while (this.#step());
    return this.#takeEvents();
  }

  end(): readonly OutputEvent[] {
    const rest = this.#take(this.#input.length);
    switch (this.#state.phase) {
      case "outside":
        // White space alone is a text only where it continues one.
        if (this.#state.isFirst || rest.trim() !== "") this.#emitText(rest);
        break;
      case "header":
        this.#endInHeader(rest.slice(0, heldFrom(rest, HARMONY_MARKERS)));
        break;
      case "message":
      case "call":
        this.#passOn(rest);
        // The engine may have kept the closing token to itself: a whole object is a whole call.
        this.#closeMessage({ mayBeEmpty: false });
    }
    return this.#takeEvents();
  }

  /** The output ends in a header: a call whose name is certain has begun; else nothing was said. */
  #endInHeader(header: string): void {
    const isNamed = /\bto=[^\s<]+(?:\s|<\|)/.test(header);
    const destination = readHeader(header, this.#declared);
    if (isNamed && destination.kind === "call") this.#open(destination);
  }

  /** Decides what it can; false when it needs more text. */
  #step(): boolean {
    switch (this.#state.phase) {
      case "outside":
        return this.#readOutside(this.#state.isFirst);
      case "header":
        return this.#readHeader();
      case "message":
      case "call":
        return this.#readBody();
    }
  }

  #readOutside(isFirst: boolean): boolean {
    const found = findMarker(this.#input, HARMONY_MARKERS);
    const lead = this.#input.slice(0, found?.start ?? heldFrom(this.#input, HARMONY_MARKERS));
    if (lead.length > MAX_HEADER_LENGTH || !mayLeadHeader(lead)) return this.#openText();
    if (found === undefined) return false;
    if (found.marker === "<|start|>") {
      if (lead.trim() !== "") return this.#openText();
      this.#take(lead.length);
      this.#state = { phase: "header" };
    } else if (HEADER_PARTS.has(found.marker)) {
      if (!isHeaderLead(lead)) return this.#openText();
      this.#state = { phase: "header" };
    } else {
      if (lead.trim() !== "" || (isFirst && lead !== "")) return this.#openText();
      this.#take(lead.length + found.marker.length);
      this.#state = { phase: "outside", isFirst: false };
    }
    return true;
  }

  /** What was taken for the lead of a header is a text. */
  #openText(): true {
    this.#state = { phase: "message", type: "text-delta" };
    return true;
  }

  #readHeader(): boolean {
    const opening = this.#input.startsWith("<|start|>") ? "<|start|>".length : 0;
    const found = findMarker(this.#input, HEADER_ENDS, opening);
    if (found === undefined || found.start > MAX_HEADER_LENGTH) {
      if (found === undefined && this.#input.length < MAX_HEADER_LENGTH + MAX_MARKER_LENGTH) {
        return false;
      }
      this.#abandonHeader();
      return true;
    }
    const header = this.#take(found.start);
    if (found.marker === "<|message|>") {
      this.#take(found.marker.length);
      this.#open(readHeader(header, this.#declared));
      return true;
    }
    this.#emitText(textOfBrokenHeader(header));
    this.#endMessageAt(found.marker);
    return true;
  }

  /** A header that goes on for too long: its beginning is text, and so is what follows. */
  #abandonHeader(): void {
    let length = MAX_HEADER_LENGTH;
    for (const marker of HARMONY_MARKERS) {
      const start = this.#input.lastIndexOf(marker, MAX_HEADER_LENGTH - 1);
      if (start >= 0 && start + marker.length > length) length = start;
    }
    this.#emitText(withoutMarkers(this.#take(length)).trimStart());
    this.#state = { phase: "message", type: "text-delta" };
  }

  #open(destination: Destination): void {
    switch (destination.kind) {
      case "text":
        this.#state = { phase: "message", type: "text-delta" };
        break;
      case "reasoning":
        this.#state = { phase: "message", type: "reasoning-delta" };
        break;
      case "call": {
        const call = this.#calls++;
        this.#state = { phase: "call", call, args: new CallArguments() };
        this.#events.push({ type: "tool-call-start", call, name: destination.name });
      }
    }
  }

  #readBody(): boolean {
    const found = this.#findBodyMarker();
    if (found === undefined) return false;
    if (found === "<|message|>" || found === "<|constrain|>") {
      this.#take(found.length);
      return true;
    }
    this.#closeMessage({ mayBeEmpty: true });
    this.#endMessageAt(found);
    return true;
  }

  /** Passes on the text up to the next marker, and tells it. Inside a string of the arguments nothing is a marker. */
  #findBodyMarker(): HarmonyMarker | undefined {
    for (;;) {
      const found = findMarker(this.#input, HARMONY_MARKERS);
      this.#passOn(this.#take(found?.start ?? heldFrom(this.#input, HARMONY_MARKERS)));
      const next = found?.marker ?? this.#input;
      if (next === "" || this.#state.phase !== "call") return found?.marker;
      if (!this.#state.args.readInString(next)) return found?.marker;
      this.#emitArguments(this.#state.call, this.#take(next.length));
      if (found === undefined) return undefined;
    }
  }

  /** Goes on after a message: an opening marker belongs to the next header, a closing one is done with. */
  #endMessageAt(marker: HarmonyMarker): void {
    if (marker === "<|start|>" || marker === "<|channel|>") {
      this.#state = { phase: "header" };
      return;
    }
    this.#take(marker.length);
    this.#state = { phase: "outside", isFirst: false };
  }

  /** Text of the open message. */
  #passOn(text: string): void {
    if (text === "") return;
    if (this.#state.phase === "message") this.#events.push({ type: this.#state.type, text });
    if (this.#state.phase === "call") {
      this.#emitArguments(this.#state.call, this.#state.args.read(text));
    }
  }

  #closeMessage({ mayBeEmpty }: { readonly mayBeEmpty: boolean }): void {
    if (this.#state.phase !== "call") return;
    const { call, args } = this.#state;
    const isEmpty = mayBeEmpty && args.isBlank;
    if (isEmpty) this.#emitArguments(call, "{}");
    if (isEmpty || args.isComplete) this.#events.push({ type: "tool-call-end", call });
  }

  #emitArguments(call: number, text: string): void {
    this.#events.push({ type: "tool-call-delta", call, arguments: text });
  }

  #emitText(text: string): void {
    if (text !== "") this.#events.push({ type: "text-delta", text });
  }

  #take(length: number): string {
    const text = this.#input.slice(0, length);
    this.#input = this.#input.slice(length);
    return text;
  }

  #takeEvents(): readonly OutputEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}
