type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The input of a call from its JSON text. Of a text that was cut off, what is complete: members whose value is there, and
 * no part of one. {} when nothing is.
 */
export function parseInput(text: string): JsonObject {
  return parseObject(text) ?? parseObject(closeJson(text)) ?? {};
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A string, a bracket or a comma; numbers, names and colons lie between. An open string matches to the end. */
const TOKEN = /"(?:[^"\\]|\\.)*(?:"|\\?$)|[{}[\],]/gs;

/** The text up to its last complete member or element, with the brackets that are open there closed. */
function closeJson(text: string): string {
  const closers: string[] = [];
  let safe = "";
  const markSafe = (end: number): void => {
    safe = text.slice(0, end) + closers.toReversed().join("");
  };
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const end = index + token.length;
    switch (token) {
      case "{":
      case "[":
        closers.push(token === "{" ? "}" : "]");
        markSafe(end);
        break;
      case "}":
      case "]":
        closers.pop();
        markSafe(end);
        break;
      case ",":
        markSafe(index);
        break;
      default:
        // A key has its value still to come.
        if (isWholeString(token) && isValue(text, index, closers.at(-1))) markSafe(end);
    }
  }
  return safe;
}

function isWholeString(token: string): boolean {
  return token.length > 1 && parseString(token) !== null;
}

function parseString(token: string): string | null {
  try {
    const value: unknown = JSON.parse(token);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

/** In an object a value stands behind a colon; in an array everything is one. */
function isValue(text: string, index: number, closer: string | undefined): boolean {
  return closer === "]" || text.slice(0, index).trimEnd().endsWith(":");
}
