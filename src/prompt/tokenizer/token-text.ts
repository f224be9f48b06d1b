import type { ByteAlphabet } from "./byte-alphabet.ts";
import type { DecoderSpec } from "./decoder-spec.ts";
import { TOKEN_BYTE, TOKEN_PLAIN_SPACE } from "./format.ts";

const utf8 = new TextEncoder();

/** The bytes that decoding makes of a vocabulary entry or an added token, by its text in the file. */
export function tokenTextBytes(
  text: string,
  decoder: DecoderSpec,
  alphabet: ByteAlphabet,
): Uint8Array {
  switch (decoder.kind) {
    case "bytes":
      return alphabet.toBytes(text) ?? utf8.encode(text);
    case "byte-fallback": {
      const byte = fallbackByte(text);
      return byte === undefined ? utf8.encode(text.replaceAll("\u2581", " ")) : Uint8Array.of(byte);
    }
    case "metaspace":
      return utf8.encode(text.replaceAll("\u2581", " "));
    case "word-piece":
      return utf8.encode(text);
  }
}

/** The TOKEN_* bits of a token, but for TOKEN_SPECIAL. */
export function tokenTextFlags(text: string, decoder: DecoderSpec): number {
  const isByte = decoder.kind === "byte-fallback" && fallbackByte(text) !== undefined;
  return (isByte ? TOKEN_BYTE : 0) | (text.includes(" ") ? TOKEN_PLAIN_SPACE : 0);
}

/** The byte of a token written `<0x0A>`; Hugging Face's reader of hexadecimal takes a plus sign too. */
export function fallbackByte(text: string): number | undefined {
  const digits = /^<0x(\+[0-9a-fA-F]|[0-9a-fA-F]{2})>$/.exec(text)?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 16);
}
