/**
 * GPT-2's alphabet: each byte is written as one printable character in a byte-level vocabulary. Printable Latin-1
 * characters stand for themselves, the other 68 bytes, in order, for U+0100 and up.
 */
export interface ByteAlphabet {
  /** The bytes that an entry stands for; undefined when a character is not of the alphabet. */
  toBytes(text: string): Uint8Array | undefined;
  /** How bytes are written in the vocabulary. */
  toText(bytes: Uint8Array): string;
}

export function createByteAlphabet(): ByteAlphabet {
  const characters: string[] = [];
  const byteOf = new Map<string, number>();
  let next = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const isPrintable =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    const character = String.fromCharCode(isPrintable ? byte : next++);
    characters.push(character);
    byteOf.set(character, byte);
  }
  return {
    toBytes(text) {
      const bytes = new Uint8Array(text.length);
      for (let index = 0; index < text.length; index++) {
        const byte = byteOf.get(text.charAt(index));
        if (byte === undefined) return undefined;
        bytes[index] = byte;
      }
      return bytes;
    },
    toText(bytes) {
      let text = "";
      for (const byte of bytes) text += characters[byte] ?? "";
      return text;
    },
  };
}
