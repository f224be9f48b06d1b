// The class of a character: bits, so that a scanner tests for a set of classes with one `&`. No bit: controls, format
// characters, unassigned and private code points.
export const UPPER = 1; // Lu, Lt
export const LOWER = 2; // Ll
export const OTHER_LETTER = 4; // Lm, Lo
export const MARK = 8; // M
export const NUMBER = 16; // N
export const SYMBOL = 32; // P, S
export const SPACE = 64; // White_Space
/** U+4E00 to U+9FA5, U+3040 to U+30FF: the range that DeepSeek's split pattern names. */
export const IDEOGRAPH = 128;
export const LETTER = UPPER | LOWER | OTHER_LETTER;

/** Code points of a block of a ClassTable: 2 to this power. */
export const BLOCK_BITS = 8;
const BLOCK_MASK = (1 << BLOCK_BITS) - 1;

/** Two levels: `blocks[(starts[code >> 8] ?? 0) + (code & 255)]` is the class of a code point. */
export interface ClassTable {
  readonly starts: Uint16Array;
  readonly blocks: Uint8Array;
}

/**
 * Writes the class of each character of well-formed UTF-8 to all of its bytes, so that a run of characters is a run of
 * bytes and the scanners never decode.
 */
export function classifyBytes(
  table: ClassTable,
  bytes: Uint8Array,
  classes: Uint8Array,
  end: number,
): void {
  const { starts, blocks } = table;
  let position = 0;
  while (position < end) {
    const lead = bytes[position] ?? 0;
    if (lead < 0x80) {
      classes[position++] = blocks[lead] ?? 0;
      continue;
    }
    const code = codePointAt(bytes, position);
    const characterClass = blocks[(starts[code >> BLOCK_BITS] ?? 0) + (code & BLOCK_MASK)] ?? 0;
    const next = position + characterLength(lead);
    while (position < next) classes[position++] = characterClass;
  }
}

/** Bytes of the character that a lead byte opens (1 for a byte that opens none). */
export function characterLength(lead: number): number {
  if (lead < 0xc0) return 1;
  if (lead < 0xe0) return 2;
  return lead < 0xf0 ? 3 : 4;
}

/** The code point at a character's start in well-formed UTF-8. */
export function codePointAt(bytes: Uint8Array, position: number): number {
  const lead = bytes[position] ?? 0;
  if (lead < 0x80) return lead;
  const second = (bytes[position + 1] ?? 0) & 0x3f;
  if (lead < 0xe0) return ((lead & 0x1f) << 6) | second;
  const third = (bytes[position + 2] ?? 0) & 0x3f;
  if (lead < 0xf0) return ((lead & 0x0f) << 12) | (second << 6) | third;
  return (
    ((lead & 0x07) << 18) | (second << 12) | (third << 6) | ((bytes[position + 3] ?? 0) & 0x3f)
  );
}
