/** Characters of the object before the value; with more, the field does not come first. */
const MAX_OPENING = 256;

/** Reads the value of one string field while the JSON object around it is still being written. */
export interface StringField {
  /** More of the object's JSON text; answers with what it adds to the value. */
  push(json: string): string;
  /** The value so far. */
  readonly value: string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/**
 * Only a field that comes first is read as it is written; any other order gives "", and the caller parses the whole
 * object at its end. Split-invariant: the joined answers do not depend on how the JSON is cut.
 */
export function createStringField(name: string): StringField {
  const opening = new RegExp(`^\\s*\\{\\s*${JSON.stringify(name)}\\s*:\\s*"`);
  /** "after" also when the field did not come first. */
  let phase: "before" | "inside" | "after" = "before";
  let value = "";
  /** Before the value: all text so far. Inside: an escape, or half of a surrogate pair, that is not complete yet. */
  let held = "";

  return {
    push(json) {
      if (phase === "after") return "";
      let rest = held + json;
      held = "";
      if (phase === "before") {
        const match = opening.exec(rest);
        if (match === null) {
          if (rest.length > MAX_OPENING) phase = "after";
          else held = rest;
          return "";
        }
        phase = "inside";
        rest = rest.slice(match[0].length);
      }
      const read = readString(rest);
      if (read.isEnd) phase = "after";
      held = read.rest;
      value += read.text;
      return read.text;
    },
    get value() {
      return value;
    },
  };
}

/** The characters of a JSON string up to its closing quote or to an escape that is cut off. */
function readString(json: string): {
  readonly text: string;
  readonly rest: string;
  readonly isEnd: boolean;
} {
  let text = "";
  let position = 0;
  while (position < json.length) {
    const next = json.charAt(position);
    if (next === '"') return { text, rest: "", isEnd: true };
    const length = next !== "\\" ? 1 : json.charAt(position + 1) === "u" ? 6 : 2;
    if (position + length > json.length) break;
    text += length === 1 ? next : unescape(json.slice(position + 1, position + length));
    position += length;
  }
  // Half a pair would be broken by any encoder on its way out.
  const half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? "";
  return {
    text: text.slice(0, text.length - half.length),
    rest: half + json.slice(position),
    isEnd: false,
  };
}

function unescape(escape: string): string {
  if (escape.startsWith("u")) return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
  return ESCAPES[escape] ?? escape;
}
