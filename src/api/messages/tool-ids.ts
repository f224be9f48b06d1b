/** What the inside gives calls whose format has no ids, and what clients of this surface expect. */
const PLAIN_PREFIX = "call_";
const WIRE_PREFIX = "toolu_";
/** Ids of a format's own follow in base64url; no other id that clients see goes on with an "x". */
const ENCODED_PREFIX = `${WIRE_PREFIX}x`;

/**
 * The id of a call as clients see it: letters, digits, `_` and `-` only. One that the model wrote itself can be had back
 * with `fromWireCallId`: its template prints it again.
 */
export function toWireCallId(id: string): string {
  if (id.startsWith(PLAIN_PREFIX)) return WIRE_PREFIX + id.slice(PLAIN_PREFIX.length);
  if (id.startsWith(WIRE_PREFIX)) return id;
  let bytes = "";
  for (const byte of new TextEncoder().encode(id)) bytes += String.fromCharCode(byte);
  const base64 = btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return ENCODED_PREFIX + base64;
}

/** The id that the model wrote, or the client's as it is. */
export function fromWireCallId(id: string): string {
  if (!id.startsWith(ENCODED_PREFIX)) return id;
  const base64 = id.slice(ENCODED_PREFIX.length).replaceAll("-", "+").replaceAll("_", "/");
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return id;
  }
}
