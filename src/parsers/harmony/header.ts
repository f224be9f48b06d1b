import { HARMONY_MARKERS } from "./harmony-model.ts";

/** Where the text of a message goes. */
export type Destination =
  | { readonly kind: "text" }
  | { readonly kind: "reasoning" }
  | { readonly kind: "call"; readonly name: string };

const CHANNELS = ["analysis", "commentary", "final"];
/** Words that a header may hold without saying anything to a reader. */
const PROTOCOL_WORDS = ["assistant", ...CHANNELS, "json", "code"];
/** What may stand before a header's first marker when the `<|start|>` is missing or was part of the prompt. */
const LEADING_WORDS = ["assistant", ...CHANNELS];
/** Tools that run beside a model, not at a client: what is said to them is no function call. */
const BUILTIN_TOOL = /^(?:python|(?:browser|container)(?:[.].*)?)$/u;
/** Parties of the conversation that are no tools. */
const PARTIES = new Set(["assistant", "user", "system", "developer", "all"]);

/**
 * Reads what is written before `<|message|>`. The recipient may stand in the role's part or in the channel's, before or
 * after the channel. `functions.NAME` is a call of NAME in any channel, a bare name (which some replies give) one of
 * that name; `declared` holds the names that are calls even where a built-in tool has the same. Of several channels the
 * last counts, and an unknown one is text.
 */
export function readHeader(header: string, declared: ReadonlySet<string>): Destination {
  const words = withoutMarkers(header).split(/\s+/u);
  const recipient = words.findLast((word) => word.startsWith("to="))?.slice("to=".length) ?? "";
  const name = functionName(recipient, declared);
  if (name !== undefined) return { kind: "call", name };
  const channel = words.findLast((word) => CHANNELS.includes(word));
  return { kind: channel === "analysis" ? "reasoning" : "text" };
}

function functionName(recipient: string, declared: ReadonlySet<string>): string | undefined {
  const name = recipient.replace(/^functions[.]/u, "");
  if (name === "") return undefined;
  if (name !== recipient || declared.has(name)) return name;
  return BUILTIN_TOOL.test(name) || PARTIES.has(name) ? undefined : name;
}

/** What is lost with a header that never came to its `<|message|>`: nothing when it is all protocol, else its words. */
export function textOfBrokenHeader(header: string): string {
  const words = withoutMarkers(header).trim().split(/\s+/u);
  const last = words.pop() ?? "";
  const isProtocol =
    words.every((word) => PROTOCOL_WORDS.includes(word)) &&
    PROTOCOL_WORDS.some((word) => word.startsWith(last));
  return isProtocol ? "" : withoutMarkers(header).trimStart();
}

/** Whether a text without markers may be the beginning of a header whose `<|start|>` is not there. */
export function mayLeadHeader(text: string): boolean {
  const words = text.trimStart().split(/\s+/u);
  const last = words.pop() ?? "";
  return (
    words.every((word) => isLeadingWord(word)) &&
    (last.startsWith("to=") || [...LEADING_WORDS, "to="].some((word) => word.startsWith(last)))
  );
}

/** Whether a text is all of what may stand before a header's first marker. */
export function isHeaderLead(text: string): boolean {
  return text
    .trim()
    .split(/\s+/u)
    .every((word) => word === "" || isLeadingWord(word));
}

function isLeadingWord(word: string): boolean {
  return LEADING_WORDS.includes(word) || /^to=./u.test(word);
}

/** A blank for each marker. */
export function withoutMarkers(text: string): string {
  let rest = text;
  for (const marker of HARMONY_MARKERS) rest = rest.replaceAll(marker, " ");
  return rest;
}
