import { invalidRequest } from "../../core/api-error.ts";
import { checkSchema } from "./json-schema.ts";
import { isRecord } from "./schema-walk.ts";

/**
 * Refuses what is no regular expression in any dialect: brackets and parentheses that do not match, an escape at the end,
 * a range that runs backwards, a quantifier of nothing. Dialects differ in the rest, which is the engine's to judge.
 */
export function checkRegex(text: string, param: string): void {
  const problem = findRegexProblem(text);
  if (problem !== undefined) throw invalidRequest(`'${param}': ${problem}.`, param);
}

function findRegexProblem(text: string): string | undefined {
  let depth = 0;
  for (let position = 0; position < text.length; position++) {
    const character = text.charAt(position);
    if (character === "\\") {
      position++;
      if (position === text.length) return "ends with a lone backslash";
    } else if (character === "[") {
      const set = readSet(text, position);
      if (typeof set === "string") return set;
      position = set;
    } else if (character === "(") depth++;
    else if (character === ")" && --depth < 0) return "has a ')' without its '('";
    else if (/[*+?]/.test(character) && /^$|[(|]$/.test(text.slice(0, position))) {
      const opensGroup = character === "?" && text.charAt(position - 1) === "(";
      if (!opensGroup) return `has a '${character}' that repeats nothing`;
    }
  }
  return depth > 0 ? "has a '(' without its ')'" : undefined;
}

/** The place of the closing bracket, or what is wrong. A `]` that comes first is a member. */
function readSet(text: string, start: number): number | string {
  let position = start + 1;
  if (text.charAt(position) === "^") position++;
  const first = position;
  for (; position < text.length; position++) {
    const character = text.charAt(position);
    if (character === "]" && position > first) return position;
    if (character === "\\") position++;
    else if (text.charAt(position + 1) === "-" && position + 2 < text.length) {
      const last = text.charAt(position + 2);
      if (last !== "]" && last !== "\\" && last !== "[" && last < character) {
        return `has a range '${character}-${last}' that runs backwards`;
      }
    }
  }
  return "has a '[' without its ']'";
}

/** A grammar needs its first rule. */
export function checkEbnf(text: string, param: string): void {
  if (/^\s*root\s*::=/m.test(text)) return;
  throw invalidRequest(`'${param}' must have a rule named root: root ::= …`, param);
}

/** Every schema and regex inside a structural tag of either shape. */
export function checkTag(value: unknown, param: string): void {
  if (Array.isArray(value)) {
    for (const [index, member] of value.entries()) checkTag(member, `${param}[${index}]`);
    return;
  }
  if (!isRecord(value)) return;
  for (const [key, member] of Object.entries(value)) {
    const place = `${param}.${key}`;
    const isSchema = key === "json_schema" && value["type"] !== "structural_tag";
    if (isSchema || (key === "schema" && "begin" in value)) checkSchema(member, place);
    else if (key === "pattern" && value["type"] === "regex" && typeof member === "string") {
      checkRegex(member, place);
    } else checkTag(member, place);
  }
}
