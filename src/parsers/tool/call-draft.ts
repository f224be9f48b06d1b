import type { OutputCursor } from "./output-cursor.ts";

/**
 * How reading a call ended.
 * - none: nothing here looks like a call, and nothing was read;
 * - broken: what was read is no call, and no event tells of it;
 * - partial: events tell of a call, but what comes next does not belong there. The call is complete if its arguments
 *   are, else cut off;
 * - whole: the call, and all that its format writes around it.
 */
export type CallOutcome = "none" | "broken" | "partial" | "whole";

/**
 * A call while it is being read. Its events are written as soon as its name is known and its arguments have certainly
 * begun, whichever comes first in the text: until then a slip of the model still turns the whole into text.
 */
export class CallDraft {
  readonly #cursor: OutputCursor;
  #name: string | undefined;
  #id: string | undefined;
  /** Arguments that no event has told yet. */
  #pending = "";
  #isCertain = false;
  #isWhole = false;
  #phase: "draft" | "started" | "ended" = "draft";

  constructor(cursor: OutputCursor, name?: string, id?: string) {
    this.#cursor = cursor;
    this.#name = name;
    this.#id = id;
  }

  get isNamed(): boolean {
    return this.#name !== undefined;
  }

  get hasStarted(): boolean {
    return this.#phase !== "draft";
  }

  /** All arguments are read. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** All arguments, while the call has no name. */
  get pending(): string {
    return this.#pending;
  }

  giveName(name: string): void {
    this.#name = name;
    this.#flush();
  }

  /** More of the arguments' JSON text. */
  write(json: string): void {
    this.#pending += json;
    this.#flush();
  }

  /** What was written certainly is the beginning of arguments. */
  commit(): void {
    this.#isCertain = true;
    this.#flush();
  }

  /** The arguments are complete: `{}` if none were written. */
  complete(): void {
    if (this.#isWhole) return;
    if (this.#pending === "" && !this.hasStarted) this.#pending = "{}";
    this.#isWhole = true;
    this.commit();
  }

  /** Settles a call of which nothing more can be read. `isWhole`: it and all around it was read. */
  settle(isWhole: boolean): CallOutcome {
    if (isWhole && this.isNamed) {
      this.complete();
      this.#cursor.forget();
      return "whole";
    }
    // The output may end anywhere; a name that is known makes what came so far a call.
    if (this.#cursor.atEnd && this.isNamed) this.commit();
    return this.settleUncertain();
  }

  /** Settles a call that is one only if its events have begun, even at the end of the output. */
  settleUncertain(): CallOutcome {
    if (!this.hasStarted) return "broken";
    if (this.#cursor.atEnd) this.#cursor.forget();
    return "partial";
  }

  #flush(): void {
    if (this.#name === undefined || !this.#isCertain) return;
    if (this.#phase === "draft") {
      this.#phase = "started";
      this.#cursor.startCall(this.#name, this.#id);
    }
    if (this.#pending !== "") this.#cursor.writeArguments(this.#pending);
    this.#pending = "";
    if (this.#isWhole && this.#phase === "started") {
      this.#phase = "ended";
      this.#cursor.endCall();
    }
  }
}
