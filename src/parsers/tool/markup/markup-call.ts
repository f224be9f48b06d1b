import type { OutputCursor } from "../output-cursor.ts";

/** Writes the events of one call whose arguments are keys and values. */
export class MarkupCall {
  readonly #cursor: OutputCursor;
  readonly #name: string;
  #hasStarted = false;
  #hasKeys = false;

  constructor(cursor: OutputCursor, name: string) {
    this.#cursor = cursor;
    this.#name = name;
  }

  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /** It certainly is a call. */
  start(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    this.#cursor.startCall(this.#name, undefined);
  }

  /**
   * The key of the value that is written next. A key that comes twice is written twice: what is told cannot be taken
   * back, and readers of JSON take the last.
   */
  writeKey(key: string): void {
    this.start();
    this.#cursor.writeArguments(`${this.#hasKeys ? "," : "{"}${JSON.stringify(key)}:`);
    this.#hasKeys = true;
  }

  /** JSON text, which may be empty. */
  write(json: string): void {
    if (json !== "") this.#cursor.writeArguments(json);
  }

  /** The call is complete. */
  end(): void {
    this.start();
    this.#cursor.writeArguments(this.#hasKeys ? "}" : "{}");
    this.#cursor.endCall();
  }

  /** The call is complete; its arguments were written as one JSON text. */
  endWritten(): void {
    this.#cursor.endCall();
  }

  /**
   * What comes next does not belong to a call. What was read is text if no event has told of it, or else from where the
   * events end. If it is the end of the output that comes next, the call is cut off. True if events tell of the call.
   */
  breakOff(): boolean {
    if (this.#cursor.atEnd) {
      this.start();
      this.#cursor.forget();
    } else this.#cursor.giveBack();
    return this.#hasStarted;
  }
}
