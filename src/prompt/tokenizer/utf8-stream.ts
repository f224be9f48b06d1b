/** U+FFFD, which stands for bytes that are no UTF-8. */
export const REPLACEMENT = "\ufffd";

/**
 * UTF-8 in pieces, as the WHATWG decoder and Rust's `from_utf8_lossy` read it: each maximal part of a character that
 * goes wrong becomes one U+FFFD, at once. Holds back at most the three bytes of an open character.
 */
export class Utf8Stream {
  #codePoint = 0;
  /** Continuation bytes that the open character still needs. */
  #needed = 0;
  /** What the next continuation byte may be: narrower after E0, ED, F0 and F4. */
  #lower = 0x80;
  #upper = 0xbf;
  #errors = 0;

  /** How often bytes were no UTF-8 so far. */
  get errors(): number {
    return this.#errors;
  }

  /** Whether a character is open. */
  get isOpen(): boolean {
    return this.#needed > 0;
  }

  /** The text that these bytes complete. */
  push(bytes: Uint8Array, start: number, end: number): string {
    let text = "";
    for (let position = start; position < end; position++) {
      const byte = bytes[position] ?? 0;
      if (this.#needed > 0) {
        if (byte >= this.#lower && byte <= this.#upper) {
          text += this.#continue(byte);
          continue;
        }
        text += this.#fail();
      }
      text += byte < 0x80 ? String.fromCharCode(byte) : this.#open(byte);
    }
    return text;
  }

  /** U+FFFD when a character was open. */
  end(): string {
    return this.#needed > 0 ? this.#fail() : "";
  }

  #fail(): string {
    this.#errors++;
    this.#needed = 0;
    return REPLACEMENT;
  }

  #continue(byte: number): string {
    this.#codePoint = (this.#codePoint << 6) | (byte & 0x3f);
    this.#lower = 0x80;
    this.#upper = 0xbf;
    return --this.#needed === 0 ? String.fromCodePoint(this.#codePoint) : "";
  }

  #open(byte: number): string {
    if (byte < 0xc2 || byte > 0xf4) return this.#fail();
    this.#lower = 0x80;
    this.#upper = 0xbf;
    if (byte < 0xe0) {
      this.#needed = 1;
      this.#codePoint = byte & 0x1f;
    } else if (byte < 0xf0) {
      this.#needed = 2;
      this.#codePoint = byte & 0x0f;
      if (byte === 0xe0) this.#lower = 0xa0;
      if (byte === 0xed) this.#upper = 0x9f;
    } else {
      this.#needed = 3;
      this.#codePoint = byte & 0x07;
      if (byte === 0xf0) this.#lower = 0x90;
      if (byte === 0xf4) this.#upper = 0x8f;
    }
    return "";
  }
}
