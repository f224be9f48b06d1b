/**
 * gRPC-Web framing: each frame is one flag byte, a big-endian 32-bit length, and that many bytes. Flag 0x80 marks the
 * trailers, which are text lines `name:value`.
 */

export interface Envelope {
  readonly flags: number;
  readonly data: Uint8Array;
}

export const TRAILER_FLAG = 0x80;
export const COMPRESSED_FLAG = 0x01;

const HEADER_BYTES = 5;

/** A frame longer than this is refused: no engine message comes near it, and it would have to be held whole. */
export const MAX_ENVELOPE_BYTES = 16 * 1024 * 1024;

export class EnvelopeTooLargeError extends Error {
  override readonly name = "EnvelopeTooLargeError";
}

/** Prefixes one message with its frame header. */
export function encodeEnvelope(data: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.length + HEADER_BYTES);
  new DataView(bytes.buffer).setUint32(1, data.length);
  bytes.set(data, HEADER_BYTES);
  return bytes;
}

/** Cuts a byte stream into frames. Frames that lie whole inside one chunk are views of it, not copies. */
export class EnvelopeDecoder {
  /** The start of a frame whose rest has not come; grows by doubling, so that many small chunks stay linear. */
  #held = new Uint8Array(0);
  #heldLength = 0;

  /** Bytes of an unfinished frame; not 0 at the end of the stream means that it was cut. */
  get pendingBytes(): number {
    return this.#heldLength;
  }

  /** All frames that this chunk completes. Throws EnvelopeTooLargeError. */
  push(chunk: Uint8Array): Envelope[] {
    const envelopes: Envelope[] = [];
    const rest = this.#heldLength === 0 ? chunk : this.#finishHeld(chunk, envelopes);
    let offset = 0;
    while (rest.length - offset >= HEADER_BYTES) {
      const end = offset + HEADER_BYTES + readLength(rest, offset);
      if (end > rest.length) break;
      envelopes.push({ flags: rest[offset] ?? 0, data: rest.subarray(offset + HEADER_BYTES, end) });
      offset = end;
    }
    if (offset < rest.length) this.#hold(rest.subarray(offset));
    return envelopes;
  }

  /** Completes the held frame from the chunk; returns what of the chunk lies behind it. */
  #finishHeld(chunk: Uint8Array, envelopes: Envelope[]): Uint8Array {
    let used = 0;
    if (this.#heldLength < HEADER_BYTES) {
      used = Math.min(HEADER_BYTES - this.#heldLength, chunk.length);
      this.#hold(chunk.subarray(0, used));
      if (this.#heldLength < HEADER_BYTES) return chunk.subarray(used);
    }
    const frameLength = HEADER_BYTES + readLength(this.#held, 0);
    const take = Math.min(frameLength - this.#heldLength, chunk.length - used);
    this.#hold(chunk.subarray(used, used + take));
    used += take;
    if (this.#heldLength === frameLength) {
      envelopes.push({
        flags: this.#held[0] ?? 0,
        data: this.#held.slice(HEADER_BYTES, frameLength),
      });
      this.#heldLength = 0;
    }
    return chunk.subarray(used);
  }

  #hold(bytes: Uint8Array): void {
    const needed = this.#heldLength + bytes.length;
    if (needed > this.#held.length) {
      const grown = new Uint8Array(Math.max(needed, this.#held.length * 2, 64));
      grown.set(this.#held.subarray(0, this.#heldLength));
      this.#held = grown;
    }
    this.#held.set(bytes, this.#heldLength);
    this.#heldLength = needed;
  }
}

function readLength(bytes: Uint8Array, offset: number): number {
  const length =
    (((bytes[offset + 1] ?? 0) << 24) |
      ((bytes[offset + 2] ?? 0) << 16) |
      ((bytes[offset + 3] ?? 0) << 8) |
      (bytes[offset + 4] ?? 0)) >>>
    0;
  if (length > MAX_ENVELOPE_BYTES) {
    throw new EnvelopeTooLargeError(`gRPC-Web frame of ${length} bytes`);
  }
  return length;
}

/** `grpc-status` and `grpc-message` of a trailers frame or of reply headers; null where there is no status. */
export function readStatus(
  get: (name: string) => string | null | undefined,
): { readonly code: number; readonly message: string } | null {
  const status = get("grpc-status");
  if (status === null || status === undefined) return null;
  const code = /^\d{1,2}$/.test(status.trim()) ? Number(status) : 2;
  return { code, message: decodePercent(get("grpc-message") ?? "") };
}

/** Parses the lines of a trailers frame; names become lower case, a space after the colon is optional. */
export function parseTrailers(data: Uint8Array): Map<string, string> {
  const trailers = new Map<string, string>();
  for (const line of new TextDecoder().decode(data).split(/\r?\n/)) {
    const colon = line.indexOf(":");
    if (colon > 0)
      trailers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return trailers;
}

/** Percent-decoding that leaves broken sequences as they are. */
function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
