import { createJsonScanner } from "../json-scanner.ts";

/** The arguments of one call as they come: whether they are whole, and whether a text still lies in one of their strings. */
export class CallArguments {
  readonly #scanner = createJsonScanner();
  #first = "";
  /** Something follows the whole value. */
  #isOverlong = false;

  /** Reads on; gives the text to pass on: the same, but for control characters in strings, which come out escaped. */
  read(text: string): string {
    this.#first ||= text.trimStart().charAt(0);
    if (this.#scanner.state !== "open") {
      this.#isOverlong ||= text.trim() !== "";
      return text;
    }
    const { end, json } = this.#scanner.scan(text);
    const rest = text.slice(end);
    this.#isOverlong ||= rest.trim() !== "";
    return json + rest;
  }

  /**
   * Whether a marker, or what may be the beginning of one, is text inside a string; then it has been read. If not, the
   * arguments cannot go on: no other place of JSON has its first character.
   */
  readInString(text: string): boolean {
    return this.#scanner.state === "open" && this.#scanner.scan(text).end === text.length;
  }

  get isBlank(): boolean {
    return this.#first === "";
  }

  /** They are one JSON object. */
  get isComplete(): boolean {
    return this.#first === "{" && this.#scanner.state === "complete" && !this.#isOverlong;
  }
}
