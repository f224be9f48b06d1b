/** Text ↔ token ids of one model. Stateless and shared by all requests of an isolate. */
export interface Tokenizer {
  /** One more than the largest token id. */
  readonly vocabSize: number;
  /**
   * Token ids of a text, equal to Hugging Face's `tokenizer.encode(text, add_special_tokens=addSpecialTokens)`.
   * Added tokens written in the text become their ids. Lone surrogates encode as U+FFFD. Takes time linear in the
   * text's length (n log n within one unbroken piece).
   */
  encode(text: string, options: { readonly addSpecialTokens: boolean }): Uint32Array;
  /** Text of all ids at once; equal to joining what an incremental detokenizer gives for them. */
  decode(ids: Iterable<number>, options: DecodeOptions): string;
  /** The bytes that a token stands for (partial UTF-8 included); empty for an id outside the vocabulary. */
  tokenBytes(id: number): Uint8Array;
  /** The id of an added token or a vocabulary entry by its text (the true text, not the byte-level alphabet). */
  idOf(tokenText: string): number | undefined;
  /** Whether `skipSpecialTokens` leaves the token out. */
  isSpecial(id: number): boolean;
  /** A decoder for one running stream. */
  createDetokenizer(options: DecodeOptions): IncrementalDetokenizer;
}

export interface DecodeOptions {
  readonly skipSpecialTokens: boolean;
}

/**
 * Streams text out of token ids, holding back an incomplete UTF-8 tail (at most 3 bytes, or an open run of byte-fallback
 * tokens) and nothing else. Invalid bytes become U+FFFD at once. Ids outside the vocabulary give no text.
 */
export interface IncrementalDetokenizer {
  /** The text that this token completes; "" while a character is open. */
  push(id: number): string;
  /** What was held back, as U+FFFD; the detokenizer is spent. */
  end(): string;
}
