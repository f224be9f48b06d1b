const PREFIX = "sgl-edge-1.";
const FNV_PRIME = 0x0100_0193;
const FNV_OFFSET = 0x811c_9dc5;
/** Another start for the second half, so that the two do not collide together. */
const OTHER_OFFSET = 0x9e37_79b9;

/** Signs a thought that comes in pieces; how it is cut changes nothing. */
export interface ThoughtSigner {
  push(text: string): void;
  /** The signature of everything pushed so far. */
  signature(): string;
}

/**
 * A checksum of a thought (FNV-1a over its UTF-16 code units, twice). It tells a thought that was changed on its way from
 * one that was not; it is no secret, since a client may send any thought without a signature.
 */
export function createThoughtSigner(): ThoughtSigner {
  let one = FNV_OFFSET;
  let other = OTHER_OFFSET;
  return {
    push(text) {
      for (let position = 0; position < text.length; position++) {
        const unit = text.charCodeAt(position);
        one = Math.imul(one ^ unit, FNV_PRIME);
        other = Math.imul(other ^ (unit + 1), FNV_PRIME);
      }
    },
    signature: () => PREFIX + toHex(one) + toHex(other),
  };
}

/** False only for a signature that was made here for another thought; a foreign one says nothing. */
export function fitsThought(signature: string, thought: string): boolean {
  if (!signature.startsWith(PREFIX)) return true;
  const signer = createThoughtSigner();
  signer.push(thought);
  return signer.signature() === signature;
}

function toHex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, "0");
}
