import { Merger } from "./merges.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Sizes that the buffers start with. */
const FIRST_BYTES = 16 * 1024;
const FIRST_IDS = 4 * 1024;
/** Sizes above which they are given back after a text. */
const KEPT_BYTES = 128 * 1024;
const KEPT_IDS = 64 * 1024;

const utf8 = new TextEncoder();

/** The buffers of one running encode. A tokenizer keeps one for its synchronous calls. */
export class Workspace {
  readonly merger: Merger;
  /** The stretch of text in work, as UTF-8, and the class of each byte's character. */
  bytes = new Uint8Array(FIRST_BYTES);
  classes = new Uint8Array(FIRST_BYTES);
  end = 0;
  /** Where the work stands: sections hold pieces, pieces hold parts that merge by themselves. */
  position = 0;
  sectionEnd = 0;
  pieceEnd = 0;
  /** Whether a long part is being merged, which ends at `partEnd`. */
  isMerging = false;
  partEnd = 0;
  #ids = new Uint32Array(FIRST_IDS);
  #count = 0;

  constructor(vocabulary: Vocabulary) {
    this.merger = new Merger(vocabulary);
  }

  push(id: number): void {
    if (this.#count === this.#ids.length) this.#growIds(this.#count + 1);
    this.#ids[this.#count++] = id;
  }

  pushAll(ids: ArrayLike<number>, start: number, count: number): void {
    if (this.#count + count > this.#ids.length) this.#growIds(this.#count + count);
    for (let index = 0; index < count; index++) {
      this.#ids[this.#count + index] = ids[start + index] ?? 0;
    }
    this.#count += count;
  }

  /** Makes a text the stretch in work; returns whether it is all ASCII. */
  load(text: string): boolean {
    this.#growBytes(text.length + 8, 0);
    let read = 0;
    let written = 0;
    for (;;) {
      const rest = read === 0 ? text : text.slice(read);
      const result = utf8.encodeInto(rest, this.bytes.subarray(written));
      read += result.read;
      written += result.written;
      if (read >= text.length) break;
      this.#growBytes(written + 3 * (text.length - read), written);
    }
    this.end = written;
    this.position = 0;
    this.sectionEnd = 0;
    this.pieceEnd = 0;
    this.isMerging = false;
    return written === text.length;
  }

  /** The ids so far; the workspace is empty again and gives back what a large text took. */
  take(): Uint32Array {
    const ids = this.#ids.slice(0, this.#count);
    this.#count = 0;
    if (this.#ids.length > KEPT_IDS) this.#ids = new Uint32Array(FIRST_IDS);
    if (this.bytes.length > KEPT_BYTES) {
      this.bytes = new Uint8Array(FIRST_BYTES);
      this.classes = new Uint8Array(FIRST_BYTES);
    }
    return ids;
  }

  #growIds(needed: number): void {
    const grown = new Uint32Array(Math.max(needed, 2 * this.#ids.length));
    grown.set(this.#ids);
    this.#ids = grown;
  }

  /** Room for `needed` bytes; the first `kept` stay. */
  #growBytes(needed: number, kept: number): void {
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(needed);
    grown.set(this.bytes.subarray(0, kept));
    this.bytes = grown;
    this.classes = new Uint8Array(needed);
  }
}
