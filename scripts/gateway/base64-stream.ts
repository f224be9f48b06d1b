const GROUP = 4;

/**
 * Decodes the body of a grpc-web-text request as it comes: base64 in any pieces, also several padded texts one after
 * the other. Keeps at most three characters back.
 */
export class Base64Decoder {
  #rest = "";

  /** The bytes that are complete; undefined for a character that is not base64, or padding in a wrong place. */
  push(chunk: Buffer): Buffer | undefined {
    const text = this.#rest + chunk.toString("latin1");
    const usable = text.length - (text.length % GROUP);
    this.#rest = text.slice(usable);
    const groups = text.slice(0, usable);
    if (!/^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)*$/.test(groups)) {
      return undefined;
    }
    // Node stops at the first padding, so every padded text is decoded for itself.
    const texts = groups.match(/[^=]+=*/g) ?? [];
    return Buffer.concat(texts.map((part) => Buffer.from(part, "base64")));
  }

  /** True where the body may end. */
  get complete(): boolean {
    return this.#rest === "";
  }
}

/** Encodes the body of a grpc-web-text reply as it goes out. Keeps at most two bytes back, and none after a flush. */
export class Base64Encoder {
  #rest: Buffer = Buffer.alloc(0);

  /** With `flush` the text ends here with its padding, so the receiver can decode all of it at once. */
  push(bytes: Buffer, flush: boolean): Buffer {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const usable = flush ? all.length : all.length - (all.length % 3);
    this.#rest = Buffer.from(all.subarray(usable));
    return Buffer.from(all.toString("base64", 0, usable), "latin1");
  }
}
