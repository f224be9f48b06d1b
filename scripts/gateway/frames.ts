/** Bytes of a message's prefix: one of flags, four of length. */
const PREFIX_BYTES = 5;

/** A message up to this size is passed on only when it is whole; a larger one as its bytes come. */
export const HOLD_BYTES = 64 * 1024;

/** The flag that marks the trailers frame of gRPC-Web. */
const TRAILERS_FLAG = 0x80;

/** The one flag a gRPC message may carry: the payload is compressed. */
const COMPRESSED_FLAG = 0x01;

/** What made a framer stop: a message over the limit, or flags that gRPC does not know. */
export type FrameFault = "message-too-large" | "unknown-flags";

export interface FramerOutput {
  /** Bytes to pass on, in order. */
  readonly pieces: readonly Buffer[];
  /** Set when the stream must not go on; everything before the faulty message is in `pieces`. */
  readonly fault?: FrameFault;
}

/**
 * Follows the length-prefixed messages of one direction of a call, without looking into them.
 *
 * It does two things with that: a message over the limit is refused before one byte of it is passed on, and a small
 * message is passed on in one piece, so that a stream that breaks off in one can still be closed with a trailers frame.
 * Memory: at most HOLD_BYTES plus a prefix. After a fault every further push returns the same fault and no bytes.
 */
export class MessageFramer {
  readonly #maxMessageBytes: number;
  /** The prefix of the next message, as far as it came. */
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixBytes = 0;
  /** The message being held (prefix included), or undefined. */
  #held: Buffer | undefined;
  #heldBytes = 0;
  /** Bytes still to come of a message that is passed on as it comes. */
  #passing = 0;
  #messages = 0;
  #fault: FrameFault | undefined;

  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes;
  }

  /** Bytes kept here until the message they belong to is whole. */
  get heldBytes(): number {
    return this.#prefixBytes + this.#heldBytes;
  }

  /** Messages whose prefix was read. */
  get messages(): number {
    return this.#messages;
  }

  /** True where the receiver is between two messages: only here may a trailers frame follow. */
  get atBoundary(): boolean {
    return this.#passing === 0;
  }

  /** True where nothing of an unfinished message came, so the stream may end. */
  get complete(): boolean {
    return this.#passing === 0 && this.heldBytes === 0;
  }

  push(chunk: Buffer): FramerOutput {
    const output = new Pieces(chunk);
    let position = 0;
    while (position < chunk.length && this.#fault === undefined) {
      if (this.#passing > 0) {
        const end = Math.min(chunk.length, position + this.#passing);
        this.#passing -= end - position;
        output.addRange(position, end);
        position = end;
      } else if (this.#held !== undefined) {
        position = this.#fillHeld(this.#held, position, output);
      } else {
        position = this.#startMessage(position, output);
      }
    }
    const pieces = output.finish();
    return this.#fault === undefined ? { pieces } : { pieces, fault: this.#fault };
  }

  #fillHeld(held: Buffer, position: number, output: Pieces): number {
    const copied = output.chunk.copy(held, this.#heldBytes, position);
    this.#heldBytes += copied;
    if (this.#heldBytes === held.length) {
      output.addBuffer(held);
      this.#held = undefined;
      this.#heldBytes = 0;
    }
    return position + copied;
  }

  /** Reads a prefix, and the message behind it when the chunk has all of it. Returns where to go on. */
  #startMessage(position: number, output: Pieces): number {
    const { chunk } = output;
    const earlier = this.#prefixBytes;
    const copied = chunk.copy(this.#prefix, earlier, position);
    this.#prefixBytes += copied;
    if (this.#prefixBytes < PREFIX_BYTES) {
      return position + copied;
    }
    this.#prefixBytes = 0;
    const length = this.#prefix.readUInt32BE(1);
    this.#fault = this.#check(this.#prefix.readUInt8(0), length);
    if (this.#fault !== undefined) {
      return chunk.length;
    }
    this.#messages += 1;
    const bodyStart = position + copied;
    const bodyEnd = bodyStart + length;
    if (earlier === 0 && bodyEnd <= chunk.length) {
      output.addRange(position, bodyEnd);
      return bodyEnd;
    }
    if (PREFIX_BYTES + length <= HOLD_BYTES) {
      const held = Buffer.allocUnsafe(PREFIX_BYTES + length);
      this.#heldBytes = this.#prefix.copy(held);
      this.#held = held;
      return this.#fillHeld(held, bodyStart, output);
    }
    output.addBuffer(Buffer.from(this.#prefix));
    this.#passing = length;
    return bodyStart;
  }

  #check(flags: number, length: number): FrameFault | undefined {
    if ((flags & ~COMPRESSED_FLAG) !== 0) {
      return "unknown-flags";
    }
    return length > this.#maxMessageBytes ? "message-too-large" : undefined;
  }
}

/** What one chunk lets through: ranges of the chunk itself, joined where they touch, and held messages between them. */
class Pieces {
  readonly chunk: Buffer;
  readonly #pieces: Buffer[] = [];
  #start = 0;
  #end = 0;

  constructor(chunk: Buffer) {
    this.chunk = chunk;
  }

  addRange(start: number, end: number): void {
    if (start !== this.#end) {
      this.#flush();
      this.#start = start;
    }
    this.#end = end;
  }

  addBuffer(buffer: Buffer): void {
    this.#flush();
    this.#pieces.push(buffer);
  }

  finish(): readonly Buffer[] {
    this.#flush();
    return this.#pieces;
  }

  #flush(): void {
    if (this.#end > this.#start) {
      this.#pieces.push(this.chunk.subarray(this.#start, this.#end));
    }
    this.#start = this.#end;
  }
}

/** Name and value of one trailer, the value as it stands on the wire. */
export type Trailer = readonly [name: string, value: string];

/** The last frame of a gRPC-Web body: flag 0x80, the length, and one `name:value` line a trailer. */
export function encodeTrailersFrame(trailers: readonly Trailer[]): Buffer {
  const text = trailers.map(([name, value]) => `${name}:${value}\r\n`).join("");
  // Header values are octets; latin1 gives back exactly the bytes the upstream sent.
  const payload = Buffer.from(text, "latin1");
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + payload.length);
  frame.writeUInt8(TRAILERS_FLAG, 0);
  frame.writeUInt32BE(payload.length, 1);
  payload.copy(frame, PREFIX_BYTES);
  return frame;
}
