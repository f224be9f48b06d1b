import { PYTHON_SPACE } from "./lexer.ts";

function matches(pattern: RegExp): (text: string) => boolean {
  return (text) => pattern.test(text);
}

/** Some cased letter, and none of the other case. */
function isCased(text: string, other: RegExp): boolean {
  return /[\p{Lu}\p{Ll}\p{Lt}]/u.test(text) && !other.test(text);
}

export function isLower(text: string): boolean {
  return isCased(text, /[\p{Lu}\p{Lt}]/u);
}

export function isUpper(text: string): boolean {
  return isCased(text, /[\p{Ll}\p{Lt}]/u);
}

/** `str.isdigit` and its kin, by name. */
export const stringPredicates: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["isspace", matches(new RegExp(`^[${PYTHON_SPACE}]+$`))],
  ["isalpha", matches(/^\p{L}+$/u)],
  ["isdecimal", matches(/^\p{Nd}+$/u)],
  [
    "isdigit",
    matches(/^[\p{Nd}\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468]+$/u),
  ],
  ["isnumeric", matches(/^\p{N}+$/u)],
  ["isalnum", matches(/^[\p{L}\p{N}]+$/u)],
  ["isidentifier", matches(/^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]*$/u)],
  ["isprintable", (text) => !/[\p{C}\p{Z}]/u.test(text.replaceAll(" ", ""))],
  // oxlint-disable-next-line no-control-regex -- all of ASCII
  ["isascii", matches(/^[\u0000-\u007f]*$/)],
  ["islower", isLower],
  ["isupper", isUpper],
  [
    "istitle",
    (text) =>
      /[\p{Lu}\p{Ll}\p{Lt}]/u.test(text) &&
      !/(?:^|[^\p{Lu}\p{Ll}\p{Lt}])\p{Ll}|[\p{Lu}\p{Ll}\p{Lt}][\p{Lu}\p{Lt}]/u.test(text),
  ],
]);
