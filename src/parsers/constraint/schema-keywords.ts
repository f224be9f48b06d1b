import { isRecord } from "./schema-walk.ts";
import type { Schema } from "./schema-walk.ts";

const TYPES = new Set(["string", "number", "integer", "boolean", "null", "array", "object"]);

interface KeywordRule {
  readonly accepts: (value: unknown) => boolean;
  /** Goes on after "must be". */
  readonly phrase: string;
}

const COUNT: KeywordRule = {
  accepts: (value) => typeof value === "number" && Number.isInteger(value) && value >= 0,
  phrase: "a whole number of at least 0",
};
const NUMBER: KeywordRule = { accepts: (value) => typeof value === "number", phrase: "a number" };
/** In old drafts a flag beside `minimum` and `maximum`. */
const BOUND: KeywordRule = {
  accepts: (value) => typeof value === "number" || typeof value === "boolean",
  phrase: "a number",
};
const SCHEMA: KeywordRule = { accepts: isSchema, phrase: "a schema (an object or a boolean)" };
const SCHEMAS: KeywordRule = {
  accepts: (value) => Array.isArray(value) && value.length > 0 && value.every(isSchema),
  phrase: "a list of schemas that is not empty",
};
const SCHEMA_MAP: KeywordRule = {
  accepts: (value) => isRecord(value) && Object.values(value).every(isSchema),
  phrase: "an object whose members are schemas",
};
const NAMES: KeywordRule = {
  accepts: (value) => Array.isArray(value) && value.every((name) => typeof name === "string"),
  phrase: "a list of names",
};

const TEXT: KeywordRule = { accepts: (value) => typeof value === "string", phrase: "a string" };

/** What the value of a keyword must be; keywords that are not listed may have any. */
const RULES: ReadonlyMap<string, KeywordRule> = new Map([
  ...all(TEXT, ["$ref", "format"]),
  ...all(NAMES, ["required"]),
  ...all(SCHEMA_MAP, ["properties", "dependentSchemas", "$defs", "definitions"]),
  ...all(SCHEMAS, ["prefixItems", "allOf", "anyOf", "oneOf"]),
  ...all(SCHEMA, ["additionalProperties", "unevaluatedProperties", "propertyNames"]),
  ...all(SCHEMA, ["additionalItems", "unevaluatedItems", "contains", "not", "if", "then", "else"]),
  ...all(COUNT, ["minLength", "maxLength", "minItems", "maxItems", "minProperties"]),
  ...all(COUNT, ["maxProperties", "minContains", "maxContains"]),
  ...all(NUMBER, ["minimum", "maximum"]),
  ...all(BOUND, ["exclusiveMinimum", "exclusiveMaximum"]),
  [
    "type",
    {
      accepts: (value) =>
        Array.isArray(value) ? value.length > 0 && value.every(isTypeName) : isTypeName(value),
      phrase: `one of ${[...TYPES].join(", ")}, or a list of these`,
    },
  ],
  [
    "enum",
    {
      accepts: (value) => Array.isArray(value) && value.length > 0,
      phrase: "a list that is not empty",
    },
  ],
  [
    "patternProperties",
    {
      accepts: (value) =>
        isRecord(value) &&
        Object.entries(value).every(([name, schema]) => isPattern(name) && isSchema(schema)),
      phrase: "an object of schemas whose names are regular expressions",
    },
  ],
  [
    "items",
    {
      accepts: (value) => (Array.isArray(value) ? value.every(isSchema) : isSchema(value)),
      phrase: "a schema or a list of schemas",
    },
  ],
  [
    "pattern",
    {
      accepts: (value) => typeof value === "string" && isPattern(value),
      phrase: "a regular expression",
    },
  ],
  [
    "multipleOf",
    {
      accepts: (value) => typeof value === "number" && value > 0,
      phrase: "a number above 0",
    },
  ],
]);

function all(rule: KeywordRule, keywords: readonly string[]): readonly [string, KeywordRule][] {
  return keywords.map((keyword) => [keyword, rule]);
}

/** Lower and upper bounds that leave nothing between them when they cross. */
const RANGES = [
  ["minLength", "maxLength"],
  ["minItems", "maxItems"],
  ["minProperties", "maxProperties"],
  ["minContains", "maxContains"],
  ["minimum", "maximum"],
] as const;

/** What is wrong with the keywords of one schema, not looking into the schemas inside; undefined: nothing. */
export function findKeywordProblem(schema: Schema): string | undefined {
  for (const [keyword, value] of Object.entries(schema)) {
    const rule = RULES.get(keyword);
    if (rule !== undefined && !rule.accepts(value)) return `'${keyword}' must be ${rule.phrase}`;
  }
  for (const [lower, upper] of RANGES) {
    const [least, most] = [schema[lower], schema[upper]];
    if (typeof least === "number" && typeof most === "number" && least > most) {
      return `'${lower}' must not be above '${upper}'`;
    }
  }
  return undefined;
}

function isSchema(value: unknown): boolean {
  return typeof value === "boolean" || isRecord(value);
}

function isTypeName(value: unknown): boolean {
  return typeof value === "string" && TYPES.has(value);
}

/** Schemas are written for both of JavaScript's readings. */
function isPattern(source: string): boolean {
  return ["u", ""].some((flags) => {
    try {
      return new RegExp(source, flags) instanceof RegExp;
    } catch {
      return false;
    }
  });
}
