export const MUSE_START = "<|start|>";
export const MUSE_MESSAGE = "<|message|>";

/** Longest run of white space and longest recipient in a header, in code units. */
const MAX_SPACE = 64;
const MAX_RECIPIENT = 128;

/** "partial": the text may become a header; "none": it cannot. */
export type MuseHeader =
  | "partial"
  | "none"
  | { readonly length: number; readonly recipient: string | undefined };

/** Where a part of a header ends. */
type End = number | "partial" | "none";

/**
 * Reads a message's header at the start of the text: `<|start|>assistant to=name<|message|>`. Everything but the last
 * token is optional, since the prompt ends inside the first header.
 */
export function readMuseHeader(text: string): MuseHeader {
  const role = readRole(text);
  if (typeof role === "string") return role;
  const to = readLiteral(text, role, "to=");
  if (to === "partial") return "partial";
  const nameEnd = to === "none" ? role : readName(text, to);
  if (typeof nameEnd === "string") return nameEnd;
  const end = readLiteral(text, nameEnd, MUSE_MESSAGE);
  if (typeof end === "string") return end;
  return { length: end, recipient: to === "none" ? undefined : text.slice(to, nameEnd) };
}

/** White space and `<|start|>assistant`, each if there. */
function readRole(text: string): End {
  const space = readSpace(text, 0);
  if (typeof space === "string") return space;
  const start = readLiteral(text, space, MUSE_START);
  if (start === "partial") return start;
  if (start === "none") return space;
  const inner = readSpace(text, start);
  if (typeof inner === "string") return inner;
  const role = readLiteral(text, inner, "assistant");
  return typeof role === "string" ? role : readSpace(text, role);
}

function readName(text: string, from: number): End {
  let end = from;
  while (end < text.length && /[\w.-]/.test(text.charAt(end))) end++;
  if (end - from > MAX_RECIPIENT) return "none";
  if (end === text.length) return "partial";
  return end === from ? "none" : end;
}

function readSpace(text: string, from: number): End {
  let end = from;
  while (end < text.length && text.charAt(end).trim() === "") end++;
  if (end - from > MAX_SPACE) return "none";
  return end === text.length ? "partial" : end;
}

function readLiteral(text: string, from: number, value: string): End {
  if (text.startsWith(value, from)) return from + value.length;
  const isCut = text.length - from < value.length && value.startsWith(text.slice(from));
  return isCut ? "partial" : "none";
}
