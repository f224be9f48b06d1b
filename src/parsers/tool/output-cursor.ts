import { findMarker, heldFrom } from "../marker-scanner.ts";
import type { OutputEvent, OutputParser } from "../output-parser.ts";

/**
 * How a format is read: straight through from first to last character, as a generator that is resumed with every piece
 * of output. Its place in the grammar is its place in the code, so no format keeps a state of its own.
 *
 * Split-invariant as long as it decides by what the cursor's methods give, never by how much is there.
 */
export type Grammar = (cursor: OutputCursor) => Reading<void>;

/** Yields whenever it needs more of the output. */
export type Reading<Result> = Generator<undefined, Result, undefined>;

/** Longer pieces are read in parts, so that a search for a marker never runs over much more than one part. */
const PART_CHARS = 4_096;

const SPACE = /[ \n\t\r]*/y;

/** Reads an output by a grammar. What the grammar leaves over at the end comes out as text. */
export function createGrammarParser(grammar: Grammar): OutputParser {
  const cursor = new OutputCursor();
  const reading = grammar(cursor);
  return {
    push(text) {
      for (let from = 0; from < text.length; from += PART_CHARS) {
        cursor.feed(text.slice(from, from + PART_CHARS));
        reading.next();
      }
      return cursor.takeEvents();
    },
    end() {
      cursor.finish();
      reading.next();
      cursor.giveBackAll();
      return cursor.takeEvents();
    },
    get heldLength() {
      return cursor.heldLength;
    },
  };
}

/**
 * A place in the output, and the events written so far.
 *
 * What is read is remembered until an event tells of it; then it is forgotten. So whenever the text turns out not to be
 * what it looked like, the grammar gives back what it has read since the last event, and goes on from where it stands:
 * nothing is read twice, nothing is lost.
 *
 * White space that has nothing but calls, the start or the end of the output on both sides is no content.
 */
export class OutputCursor {
  #text = "";
  #position = 0;
  #isEnded = false;
  /** Read, but not told by an event. A rope: it may become long, and is looked at once. */
  #untold = "";
  /** White space that is content only if more than white space follows before the next call. */
  #space = "";
  /** Nothing but white space came as text since the start or the last call. */
  #isBesideCall = true;
  #calls = 0;
  #events: OutputEvent[] = [];

  feed(text: string): void {
    this.#text = this.#text.slice(this.#position) + text;
    this.#position = 0;
  }

  /** Nothing more comes. */
  finish(): void {
    this.#isEnded = true;
  }

  takeEvents(): readonly OutputEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  get heldLength(): number {
    return this.#text.length - this.#position + this.#untold.length + this.#space.length;
  }

  /** Calls started so far: the number of the next one. */
  get calls(): number {
    return this.#calls;
  }

  get isBesideCall(): boolean {
    return this.#isBesideCall;
  }

  /** The output is over and read to its end. */
  get atEnd(): boolean {
    return this.#isEnded && this.#position === this.#text.length;
  }

  /** What is there and not read yet. */
  get unread(): string {
    return this.#text.slice(this.#position);
  }

  /** Waits until something is unread; false at the end of the output. */
  *more(): Reading<boolean> {
    while (this.#position === this.#text.length) {
      if (this.#isEnded) return false;
      yield;
    }
    return true;
  }

  /** The next character, unread; "" at the end of the output. */
  *peek(): Reading<string> {
    return (yield* this.more()) ? this.#text.charAt(this.#position) : "";
  }

  /** The next `length` characters, unread; fewer at the end of the output. */
  *ahead(length: number): Reading<string> {
    while (this.#text.length - this.#position < length && !this.#isEnded) yield;
    return this.#text.slice(this.#position, this.#position + length);
  }

  /** Reads `length` characters, which must be there. */
  take(length: number): string {
    const taken = this.#text.slice(this.#position, this.#position + length);
    this.#position += length;
    this.#untold += taken;
    return taken;
  }

  /** Reads white space, as JSON defines it. */
  *skipSpace(): Reading<void> {
    yield* this.run(SPACE, Infinity);
  }

  /**
   * Reads as many characters as the sticky pattern (of one repeated class) takes, and gives them; undefined when there
   * are more than `maxLength`, of which one more is read then.
   */
  *run(pattern: RegExp, maxLength: number): Reading<string | undefined> {
    let result = "";
    while (yield* this.more()) {
      pattern.lastIndex = this.#position;
      const length = pattern.exec(this.#text)?.[0].length ?? 0;
      result += this.take(Math.min(length, maxLength + 1 - result.length));
      if (result.length > maxLength) return undefined;
      if (this.#position < this.#text.length) break;
    }
    return result;
  }

  /**
   * Reads as many characters as the sticky pattern takes of what is there now, and gives them; "" also when the output
   * is over. How many depends on the pieces, so callers pass them on and ask again.
   */
  *some(pattern: RegExp): Reading<string> {
    if (!(yield* this.more())) return "";
    pattern.lastIndex = this.#position;
    return this.take(pattern.exec(this.#text)?.[0].length ?? 0);
  }

  /**
   * Reads one of these texts, none of which begins another; undefined, and nothing read, when none is here. A mere
   * beginning of one at the end of the output is read too, and is undefined.
   */
  *oneOf<Literal extends string>(literals: readonly Literal[]): Reading<Literal | undefined> {
    while (yield* this.more()) {
      for (const literal of literals) {
        if (!this.#text.startsWith(literal, this.#position)) continue;
        this.take(literal.length);
        return literal;
      }
      const { unread } = this;
      if (!literals.some((literal) => literal.startsWith(unread))) return undefined;
      if (this.#isEnded) this.take(unread.length);
      else yield;
    }
    return undefined;
  }

  *literal(text: string): Reading<boolean> {
    return (yield* this.oneOf([text])) !== undefined;
  }

  /**
   * Reads up to the first of some markers, which stays unread. Undefined, and nothing read, when none begins within
   * `maxLength` characters.
   */
  *until(markers: readonly string[], maxLength: number): Reading<string | undefined> {
    for (;;) {
      const { unread } = this;
      const match = findMarker(unread, markers);
      if (match !== undefined) return match.start <= maxLength ? this.take(match.start) : undefined;
      if (this.#isEnded || heldFrom(unread, markers) > maxLength) return undefined;
      yield;
    }
  }

  /** Passes text on up to the first of some markers, which stays unread; undefined at the end of the output. */
  *text<Marker extends string>(markers: readonly Marker[]): Reading<Marker | undefined> {
    for (;;) {
      const match = findMarker(this.#text, markers, this.#position);
      if (match !== undefined) {
        this.#passOn(match.start);
        return match.marker;
      }
      this.#passOn(
        this.#isEnded ? this.#text.length : heldFrom(this.#text, markers, this.#position),
      );
      if (this.#isEnded) return undefined;
      yield;
    }
  }

  startCall(name: string, id: string | undefined): void {
    const call = this.#calls++;
    this.#space = "";
    this.#untold = "";
    this.#isBesideCall = true;
    this.#events.push({
      type: "tool-call-start",
      call,
      name,
      ...(id === undefined ? {} : { id }),
    });
  }

  /** More arguments of the call that was started last. */
  writeArguments(json: string): void {
    this.#untold = "";
    const call = this.#calls - 1;
    const last = this.#events.at(-1);
    if (last?.type === "tool-call-delta") {
      this.#events[this.#events.length - 1] = { ...last, arguments: last.arguments + json };
    } else this.#events.push({ type: "tool-call-delta", call, arguments: json });
  }

  endCall(): void {
    this.#untold = "";
    this.#events.push({ type: "tool-call-end", call: this.#calls - 1 });
  }

  /** What was read belongs to what the events have told: a bracket, a marker. */
  forget(): void {
    this.#untold = "";
  }

  /** What was read and not told is text after all. */
  giveBack(): void {
    const text = this.#untold;
    this.#untold = "";
    this.#writeText(text);
  }

  /** The output is over: everything that is left is text. */
  giveBackAll(): void {
    this.take(this.#text.length - this.#position);
    this.giveBack();
    const space = this.#space;
    this.#space = "";
    if (this.#calls === 0) this.#pushText(space);
  }

  #passOn(end: number): void {
    const text = this.#text.slice(this.#position, end);
    this.#position = end;
    this.#writeText(text);
  }

  #writeText(text: string): void {
    if (!this.#isBesideCall) this.#pushText(text);
    else if (text.trimStart() === "") this.#space += text;
    else {
      this.#isBesideCall = false;
      this.#pushText(this.#space + text);
      this.#space = "";
    }
  }

  #pushText(text: string): void {
    if (text === "") return;
    const last = this.#events.at(-1);
    if (last?.type === "text-delta") {
      this.#events[this.#events.length - 1] = { type: "text-delta", text: last.text + text };
    } else this.#events.push({ type: "text-delta", text });
  }
}
