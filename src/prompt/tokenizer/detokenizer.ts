import type { DecoderSpec } from "./decoder-spec.ts";
import { TOKEN_BYTE, TOKEN_PLAIN_SPACE, TOKEN_SPECIAL } from "./format.ts";
import type { DecodeOptions, IncrementalDetokenizer } from "./tokenizer.ts";
import { REPLACEMENT, Utf8Stream } from "./utf8-stream.ts";

/** What decoding needs of a vocabulary: tables by id. */
export interface TokenTable {
  /** Token i's bytes are `bytes[offsets[i] .. offsets[i + 1]]`. */
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  /** TOKEN_* bits. */
  readonly flags: Uint8Array;
}

/**
 * The longest run of byte-fallback tokens whose complete characters are held back. Hugging Face's library reads a run at
 * once, and one bad byte makes U+FFFD of all its bytes; a text in a script that the vocabulary lacks is one long run,
 * which must not hold back the stream.
 */
const MOST_RUN_BYTES = 256;

/** Texts of whole tokens that a cache keeps, by the low bits of the id. */
const CACHED_TOKENS = 2048;

/** Texts of tokens that hold whole characters only; shared by all streams of a vocabulary. */
class TokenTextCache {
  readonly #ids = new Int32Array(CACHED_TOKENS).fill(-1);
  readonly #texts: string[] = Array.from({ length: CACHED_TOKENS }, () => "");

  get(id: number): string | undefined {
    const slot = id & (CACHED_TOKENS - 1);
    return this.#ids[slot] === id ? this.#texts[slot] : undefined;
  }

  set(id: number, text: string): void {
    const slot = id & (CACHED_TOKENS - 1);
    this.#ids[slot] = id;
    this.#texts[slot] = text;
  }
}

/** All decoding of one vocabulary. */
export class Decoder {
  readonly #tokens: TokenTable;
  readonly #spec: DecoderSpec;
  readonly #cache = new TokenTextCache();

  constructor(tokens: TokenTable, spec: DecoderSpec) {
    this.#tokens = tokens;
    this.#spec = spec;
  }

  isSpecial(id: number): boolean {
    return ((this.#tokens.flags[id] ?? 0) & TOKEN_SPECIAL) !== 0;
  }

  /** A copy. */
  tokenBytes(id: number): Uint8Array {
    const { bytes, offsets } = this.#tokens;
    return bytes.slice(offsets[id] ?? 0, offsets[id + 1] ?? 0);
  }

  decode(ids: Iterable<number>, options: DecodeOptions): string {
    const detokenizer = this.createDetokenizer(options);
    let text = "";
    for (const id of ids) text += detokenizer.push(id);
    return text + detokenizer.end();
  }

  createDetokenizer(options: DecodeOptions): IncrementalDetokenizer {
    const context: StreamContext = {
      tokens: this.#tokens,
      cache: this.#cache,
      skippedFlag: options.skipSpecialTokens ? TOKEN_SPECIAL : 0,
    };
    switch (this.#spec.kind) {
      case "bytes":
        return new ByteDetokenizer(context);
      case "byte-fallback":
        return new FallbackDetokenizer(context, this.#spec.stripLeadingSpaces);
      case "metaspace":
        return new MetaspaceDetokenizer(context, this.#spec.stripFirst);
      case "word-piece":
        return new WordPieceDetokenizer(context, this.#spec);
    }
  }
}

interface StreamContext {
  readonly tokens: TokenTable;
  readonly cache: TokenTextCache;
  /** TOKEN_SPECIAL to leave special tokens out, 0 to keep them. */
  readonly skippedFlag: number;
}

/** For byte-level vocabularies. */
class ByteDetokenizer implements IncrementalDetokenizer {
  readonly #context: StreamContext;
  readonly #utf8 = new Utf8Stream();

  constructor(context: StreamContext) {
    this.#context = context;
  }

  push(id: number): string {
    const { tokens, cache, skippedFlag } = this.#context;
    if (((tokens.flags[id] ?? 0) & skippedFlag) !== 0) return "";
    const wasOpen = this.#utf8.isOpen;
    if (!wasOpen) {
      const cached = cache.get(id);
      if (cached !== undefined) return cached;
    }
    const text = this.#utf8.push(
      tokens.bytes,
      tokens.offsets[id] ?? 0,
      tokens.offsets[id + 1] ?? 0,
    );
    if (!wasOpen && !this.#utf8.isOpen) cache.set(id, text);
    return text;
  }

  end(): string {
    return this.#utf8.end();
  }
}

/** For vocabularies of characters whose decoder reads runs of byte-fallback tokens. */
class FallbackDetokenizer implements IncrementalDetokenizer {
  readonly #context: StreamContext;
  readonly #utf8 = new Utf8Stream();
  /** The open run: what its complete characters are, how many bytes it has, whether one was bad. */
  #runText = "";
  #runBytes = 0;
  #runIsBad = false;
  #spacesToStrip: number;

  constructor(context: StreamContext, stripLeadingSpaces: number) {
    this.#context = context;
    this.#spacesToStrip = stripLeadingSpaces;
  }

  push(id: number): string {
    const { tokens, skippedFlag } = this.#context;
    const flags = tokens.flags[id] ?? 0;
    if ((flags & skippedFlag) !== 0) return "";
    const start = tokens.offsets[id] ?? 0;
    const end = tokens.offsets[id + 1] ?? 0;
    if ((flags & TOKEN_BYTE) !== 0) return this.#strip(this.#pushByte(tokens.bytes, start, end));
    // An id outside the vocabulary ends no run.
    if (start === end) return "";
    return this.#strip(this.#endRun() + this.#tokenText(id, start, end));
  }

  end(): string {
    return this.#strip(this.#endRun());
  }

  #pushByte(bytes: Uint8Array, start: number, end: number): string {
    if (this.#runIsBad) return REPLACEMENT;
    this.#runBytes++;
    const errors = this.#utf8.errors;
    const text = this.#utf8.push(bytes, start, end);
    if (this.#utf8.errors > errors) {
      const lost = REPLACEMENT.repeat(this.#runBytes);
      this.#utf8.end();
      this.#runText = "";
      this.#runBytes = 0;
      this.#runIsBad = true;
      return lost;
    }
    this.#runText += text;
    if (this.#runBytes < MOST_RUN_BYTES || this.#utf8.isOpen) return "";
    const released = this.#runText;
    this.#runText = "";
    this.#runBytes = 0;
    return released;
  }

  #endRun(): string {
    const text = this.#utf8.isOpen ? REPLACEMENT.repeat(this.#runBytes) : this.#runText;
    this.#utf8.end();
    this.#runText = "";
    this.#runBytes = 0;
    this.#runIsBad = false;
    return text;
  }

  #tokenText(id: number, start: number, end: number): string {
    const { tokens, cache } = this.#context;
    const cached = cache.get(id);
    if (cached !== undefined) return cached;
    const text = this.#utf8.push(tokens.bytes, start, end);
    cache.set(id, text);
    return text;
  }

  #strip(text: string): string {
    if (this.#spacesToStrip === 0 || text === "") return text;
    let start = 0;
    while (start < this.#spacesToStrip && text.charCodeAt(start) === 0x20) start++;
    this.#spacesToStrip = start === text.length ? this.#spacesToStrip - start : 0;
    return text.slice(start);
  }
}

/** For vocabularies of characters without byte fallback, with Metaspace as their decoder. */
class MetaspaceDetokenizer implements IncrementalDetokenizer {
  readonly #context: StreamContext;
  readonly #utf8 = new Utf8Stream();
  #stripsNext: boolean;

  constructor(context: StreamContext, stripFirst: boolean) {
    this.#context = context;
    this.#stripsNext = stripFirst;
  }

  push(id: number): string {
    const { tokens, skippedFlag } = this.#context;
    const flags = tokens.flags[id] ?? 0;
    if ((flags & skippedFlag) !== 0) return "";
    const start = tokens.offsets[id] ?? 0;
    const end = tokens.offsets[id + 1] ?? 0;
    if (start === end) return "";
    const text = this.#utf8.push(tokens.bytes, start, end);
    if (!this.#stripsNext) return text;
    this.#stripsNext = false;
    return (flags & TOKEN_PLAIN_SPACE) !== 0 ? text : text.replaceAll(" ", "");
  }

  end(): string {
    return "";
  }
}

/** For WordPiece vocabularies, word by word as Hugging Face's decoder does it. */
class WordPieceDetokenizer implements IncrementalDetokenizer {
  readonly #context: StreamContext;
  readonly #spec: { readonly prefix: string; readonly cleansUp: boolean };
  #isFirst = true;

  constructor(
    context: StreamContext,
    spec: { readonly prefix: string; readonly cleansUp: boolean },
  ) {
    this.#context = context;
    this.#spec = spec;
  }

  push(id: number): string {
    const { tokens, skippedFlag } = this.#context;
    const flags = tokens.flags[id] ?? 0;
    if ((flags & skippedFlag) !== 0) return "";
    const start = tokens.offsets[id] ?? 0;
    const end = tokens.offsets[id + 1] ?? 0;
    if (start === end) return "";
    const { prefix, cleansUp } = this.#spec;
    let text = new Utf8Stream().push(tokens.bytes, start, end);
    if (!this.#isFirst) text = text.startsWith(prefix) ? text.slice(prefix.length) : ` ${text}`;
    this.#isFirst = false;
    return cleansUp ? cleanUpWord(text) : text;
  }

  end(): string {
    return "";
  }
}

/** What the WordPiece decoder's `cleanup` replaces, in its order. */
const CLEAN_UPS = [
  [" .", "."],
  [" ?", "?"],
  [" !", "!"],
  [" ,", ","],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [" do not", " don't"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
] as const;

function cleanUpWord(text: string): string {
  return CLEAN_UPS.reduce((cleaned, [from, to]) => cleaned.replaceAll(from, to), text);
}
