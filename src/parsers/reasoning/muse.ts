import { findMarker, heldFrom } from "../marker-scanner.ts";
import type { OutputEvent, OutputParser, ReasoningFormat } from "../output-parser.ts";
import { MUSE_MESSAGE, MUSE_START, readMuseHeader } from "./muse-header.ts";
import type { StartRule } from "./starts-in-reasoning.ts";
import { createStart } from "./starts-in-reasoning.ts";

const END_OF_MESSAGE = "<|eom|>";
const END_OF_TURN = "<|eot|>";

const MARKERS = [MUSE_START, END_OF_MESSAGE, END_OF_TURN] as const;

/** The recipient of thoughts. */
const SELF = "self";

const START: StartRule = {
  opens: [` to=${SELF}${MUSE_MESSAGE}`],
  closes: [END_OF_MESSAGE, END_OF_TURN, ` to=user${MUSE_MESSAGE}`],
  asked: () => undefined,
  byDefault: false,
};

/**
 * Muse Glimmer: messages with recipients. What goes to `self` is reasoning, everything else content: answers, and the
 * calls in messages to tools, for the tool parser. Headers and ends of messages are dropped.
 */
export const museReasoning: ReasoningFormat = {
  name: "muse",
  markers: [...MARKERS, MUSE_MESSAGE],
  ...createStart(START),
  create: (options) => new MuseParser(options.startsInReasoning),
};

class MuseParser implements OutputParser {
  #isThought: boolean;
  /** Between messages, where a header may stand without its start token. */
  #isBetween = true;
  #held = "";
  #events: OutputEvent[] = [];

  constructor(startsInThought: boolean) {
    this.#isThought = startsInThought;
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
    let isMoving = true;
    while (isMoving && this.#held !== "") {
      isMoving = this.#isBetween ? this.#readBetween(isEnd) : this.#readBody(isEnd);
    }
    return this.#events;
  }

  /** True while there is more to decide without more input. */
  #readBetween(isEnd: boolean): boolean {
    const isDecided = this.#readHeader(isEnd);
    if (isDecided) this.#isBetween = false;
    return isDecided;
  }

  #readBody(isEnd: boolean): boolean {
    const match = findMarker(this.#held, MARKERS);
    if (match === undefined) {
      this.#take(isEnd ? this.#held.length : heldFrom(this.#held, MARKERS));
      return false;
    }
    this.#take(match.start);
    if (match.marker !== MUSE_START) {
      this.#held = this.#held.slice(match.marker.length);
      this.#isThought = false;
      this.#isBetween = true;
      return true;
    }
    const length = this.#held.length;
    if (!this.#readHeader(isEnd)) return false;
    // Not a header after all: the token is text.
    if (this.#held.length === length) this.#take(MUSE_START.length);
    return true;
  }

  /** Reads a header if there is one; false while there may be one to come. */
  #readHeader(isEnd: boolean): boolean {
    const header = readMuseHeader(this.#held);
    if (header === "none") return true;
    if (header === "partial") {
      if (!isEnd) return false;
      // A header that the end of the output cut off is no text.
      if (this.#held.trimStart().startsWith(MUSE_START)) this.#held = "";
      return true;
    }
    this.#held = this.#held.slice(header.length);
    this.#isThought = header.recipient === SELF;
    return true;
  }

  #take(length: number): void {
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    if (text === "") return;
    this.#events.push({ type: this.#isThought ? "reasoning-delta" : "text-delta", text });
  }
}
