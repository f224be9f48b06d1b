import { findMarker, heldFrom } from "../marker-scanner.ts";
import type { OutputEvent, OutputParser } from "../output-parser.ts";

/**
 * White space at the start of a reply that is held back because a marker may follow; in code units. After more than
 * this the reply has begun.
 */
export const MAX_LEADING_SPACE = 64;

/** A text that ends a phase. */
export interface PhaseMarker<Name extends string> {
  readonly text: string;
  readonly to: Name;
  /** The marker itself is content: the tool parser that reads the content needs it. */
  readonly isKept?: true;
}

/** A stretch of a reply in which all text is of one kind. */
export interface Phase<Name extends string> {
  readonly emits: "reasoning-delta" | "text-delta";
  /** What ends the phase, wherever it stands. No marker of a phase may overlap another one's start. */
  readonly markers: readonly PhaseMarker<Name>[];
  /** What is dropped where the reply begins, together with the white space before it. */
  readonly opening?: readonly PhaseMarker<Name>[];
  /** White space at the start of the phase is layout, not text. */
  readonly dropsLeadingSpace?: true;
}

/** A format as a table of phases. */
export interface PhaseGrammar<Name extends string> {
  readonly phases: Readonly<Record<Name, Phase<Name>>>;
  /**
   * Special tokens with which markers of several tokens begin: a marker that the end of the output cut off after one
   * of them is dropped, not shown.
   */
  readonly leadTokens?: readonly string[];
}

/** A parser that walks through the phases, from `first` on. */
export function createPhaseParser<Name extends string>(
  grammar: PhaseGrammar<Name>,
  first: Name,
): OutputParser {
  return new PhaseParser(grammar, first);
}

class PhaseParser<Name extends string> implements OutputParser {
  readonly #grammar: PhaseGrammar<Name>;
  #phase: Phase<Name>;
  #held = "";
  /** Nothing but white space and dropped markers came so far. */
  #isOpening = true;
  /** Nothing of this phase but dropped white space came so far. */
  #isFresh = true;
  #events: OutputEvent[] = [];

  constructor(grammar: PhaseGrammar<Name>, first: Name) {
    this.#grammar = grammar;
    this.#phase = grammar.phases[first];
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
      isMoving = this.#isOpening ? this.#readOpening(isEnd) : this.#readPhase(isEnd);
    }
    return this.#events;
  }

  /** True while there is more to decide without more input. */
  #readOpening(isEnd: boolean): boolean {
    const openers = this.#phase.opening ?? [];
    const body = this.#held.trimStart();
    const space = this.#held.length - body.length;
    if (openers.length > 0 && space <= MAX_LEADING_SPACE) {
      const opener = openers.find((marker) => body.startsWith(marker.text));
      if (opener !== undefined) {
        this.#enter(opener, space + opener.text.length);
        return true;
      }
      if (!isEnd && openers.some((marker) => marker.text.startsWith(body))) return false;
    }
    this.#isOpening = false;
    return true;
  }

  #readPhase(isEnd: boolean): boolean {
    if (this.#isFresh && this.#phase.dropsLeadingSpace === true) {
      this.#held = this.#held.trimStart();
      if (this.#held === "") return false;
    }
    this.#isFresh = false;
    const { markers } = this.#phase;
    const texts = markers.map((marker) => marker.text);
    const match = findMarker(this.#held, texts);
    const marker = match && markers.find(({ text }) => text === match.marker);
    if (match === undefined || marker === undefined) {
      const certain = heldFrom(this.#held, texts);
      const rest = this.#held.slice(certain);
      this.#emit(this.#phase.emits, this.#held.slice(0, certain));
      this.#held = rest;
      if (isEnd) this.#endInside(rest);
      return false;
    }
    this.#emit(this.#phase.emits, this.#held.slice(0, match.start));
    if (marker.isKept === true) this.#emit("text-delta", marker.text);
    this.#enter(marker, match.start + marker.text.length);
    return true;
  }

  /** The output ended in `rest`, which may be a marker cut off. */
  #endInside(rest: string): void {
    const isCutMarker = this.#grammar.leadTokens?.some((token) => rest.startsWith(token)) ?? false;
    if (!isCutMarker) this.#emit(this.#phase.emits, rest);
    this.#held = "";
  }

  #enter(marker: PhaseMarker<Name>, read: number): void {
    this.#held = this.#held.slice(read);
    this.#phase = this.#grammar.phases[marker.to];
    this.#isFresh = true;
  }

  #emit(type: "reasoning-delta" | "text-delta", text: string): void {
    if (text !== "") this.#events.push({ type, text });
  }
}
