import { describe, it } from "vitest";

import { checkSchema } from "../../../../src/parsers/constraint/json-schema.ts";
import { refusalOf } from "./refusal.ts";

interface SchemaRow {
  readonly name: string;
  readonly schema: unknown;
}

const text = { type: "string" };

/** A schema of that many levels: an object in an object. */
function nested(levels: number): unknown {
  let schema: unknown = text;
  for (let i = 0; i < levels; i++) schema = { type: "object", properties: { x: schema } };
  return schema;
}

/** Requires the properties that it has. */
function object(properties: Readonly<Record<string, unknown>>, more: object = {}): object {
  return { type: "object", properties, required: Object.keys(properties), ...more };
}

const ACCEPTED: readonly SchemaRow[] = [
  { name: "an empty schema", schema: {} },
  { name: "true", schema: true },
  { name: "a plain object", schema: object({ a: text, b: { type: ["integer", "null"] } }) },
  { name: "keywords that nobody knows", schema: { "x-order": [1], title: 3, nullable: true } },
  { name: "an old draft's exclusive bound", schema: { minimum: 1, exclusiveMinimum: true } },
  { name: "an old draft's dependencies", schema: { dependencies: { a: ["b"], c: object({}) } } },
  { name: "a tuple of an old draft", schema: { type: "array", items: [text, true] } },
  {
    name: "patterns of both readings",
    schema: { anyOf: [{ pattern: "\\p{L}" }, { pattern: "\\-" }] },
  },
  { name: "a reference into $defs", schema: { $ref: "#/$defs/a", $defs: { a: text } } },
  {
    name: "a reference into definitions",
    schema: { items: { $ref: "#/definitions/a" }, definitions: { a: text } },
  },
  {
    name: "a reference with a slash and a tilde",
    schema: { $ref: "#/$defs/a~1b~0c", $defs: { "a/b~c": text } },
  },
  {
    name: "a reference with percents",
    schema: { $ref: "#/%24defs/a%20b%25", $defs: { "a b%": text } },
  },
  {
    name: "a reference into a property",
    schema: { properties: { a: text, b: { $ref: "#/properties/a" } } },
  },
  { name: "a reference into a list", schema: { anyOf: [text, { items: { $ref: "#/anyOf/0" } }] } },
  {
    name: "a reference in data is data",
    schema: { enum: [{ $ref: "#/no" }], default: { $ref: 1 }, const: { $ref: "x" } },
  },
  {
    name: "a property that is named $ref",
    schema: { properties: { $ref: text, type: text, enum: text } },
  },
  {
    name: "a damaged definition that is not used",
    schema: { ...text, $defs: { a: { type: "date", $ref: "#/no" } } },
  },
  {
    name: "recursion through an optional property",
    schema: { properties: { next: { $ref: "#" } } },
  },
  {
    name: "recursion through the items of an array",
    schema: object({ children: { type: "array", items: { $ref: "#" } } }),
  },
  {
    name: "recursion that null can end",
    schema: object({ next: { anyOf: [{ $ref: "#" }, { type: "null" }] } }),
  },
  {
    name: "recursion that another type can end",
    schema: { ...object({ next: { $ref: "#" } }), type: ["object", "null"] },
  },
  {
    name: "recursion over two definitions",
    schema: {
      $ref: "#/$defs/a",
      $defs: {
        a: object({ b: { $ref: "#/$defs/b" } }),
        b: { type: "array", items: { $ref: "#/$defs/a" } },
      },
    },
  },
  { name: "recursion in what must not be", schema: { not: { $ref: "#" } } },
  {
    name: "recursion in a tuple's rest",
    schema: { type: "array", prefixItems: [text], items: { $ref: "#" }, minItems: 1 },
  },
  {
    name: "recursion in extra properties",
    schema: { type: "object", additionalProperties: { $ref: "#" } },
  },
  {
    name: "one schema used twice",
    schema: object({ a: { $ref: "#/$defs/a" }, b: { $ref: "#/$defs/a" } }, { $defs: { a: text } }),
  },
  { name: "a property that must not be", schema: { type: "object", properties: { a: false } } },
  { name: "sixty levels of objects", schema: nested(60) },
  {
    name: "ten thousand schemas",
    schema: {
      properties: Object.fromEntries(Array.from({ length: 9_998 }, (_, i) => [`p${i}`, {}])),
    },
  },
];

const REFUSED: readonly (SchemaRow & { readonly says: string })[] = [
  { name: "null", schema: null, says: "must be an object or a boolean" },
  { name: "a list", schema: [text], says: "must be an object or a boolean" },
  { name: "a string", schema: "object", says: "must be an object or a boolean" },
  { name: "false", schema: false, says: "no value fits" },
  {
    name: "an unknown type",
    schema: { type: "date" },
    says: "'type' must be one of string, number",
  },
  { name: "an empty list of types", schema: { type: [] }, says: "'type' must be" },
  {
    name: "a type in capitals",
    schema: object({ a: { type: "String" } }),
    says: "'type' must be one of string, number, integer, boolean, null, array, object, or a list of these at #/properties/a.",
  },
  {
    name: "required as a flag",
    schema: { required: true },
    says: "'required' must be a list of names",
  },
  { name: "required with a number", schema: { required: [1] }, says: "'required' must be" },
  {
    name: "properties as a list",
    schema: { properties: [] },
    says: "'properties' must be an object",
  },
  {
    name: "a property that is no schema",
    schema: { properties: { a: "string" } },
    says: "'properties' must be",
  },
  { name: "an empty enum", schema: { enum: [] }, says: "'enum' must be a list that is not empty" },
  { name: "an enum that is no list", schema: { enum: "a" }, says: "'enum' must be" },
  { name: "items that are no schema", schema: { items: 3 }, says: "'items' must be" },
  { name: "an empty anyOf", schema: { anyOf: [] }, says: "'anyOf' must be" },
  { name: "an allOf that is no list", schema: { allOf: {} }, says: "'allOf' must be" },
  {
    name: "a pattern that is none",
    schema: { pattern: "(" },
    says: "'pattern' must be a regular expression",
  },
  {
    name: "a pattern of properties that is none",
    schema: { patternProperties: { "[": {} } },
    says: "'patternProperties'",
  },
  { name: "a negative length", schema: { minLength: -1 }, says: "'minLength' must be" },
  { name: "a broken length", schema: { maxItems: 1.5 }, says: "'maxItems' must be" },
  { name: "a bound in quotes", schema: { minimum: "1" }, says: "'minimum' must be a number" },
  { name: "multiples of nothing", schema: { multipleOf: 0 }, says: "'multipleOf' must be" },
  {
    name: "bounds that cross",
    schema: { minItems: 3, maxItems: 2 },
    says: "'minItems' must not be above 'maxItems'",
  },
  {
    name: "a mistake in a definition that is used",
    schema: { $ref: "#/$defs/a", $defs: { a: { type: 1 } } },
    says: "at #/$defs/a.",
  },
  {
    name: "a mistake under then",
    schema: JSON.parse('{"if":true,"then":{"type":1}}'),
    says: "at #/then.",
  },
  { name: "definitions that are no object", schema: { $defs: [] }, says: "'$defs' must be" },
  { name: "a reference that is no text", schema: { $ref: 1 }, says: "'$ref' must be a string" },
  {
    name: "a reference that leads nowhere",
    schema: { items: { $ref: "#/$defs/a" } },
    says: "leads to '#/$defs/a', where no schema is, at #/items.",
  },
  {
    name: "a reference to data",
    schema: { $ref: "#/enum", enum: [1] },
    says: "where no schema is",
  },
  {
    name: "a reference to what every object has",
    schema: { $ref: "#/constructor" },
    says: "where no schema is",
  },
  {
    name: "a reference to another document",
    schema: { $ref: "https://example.com/a.json#/a" },
    says: "place inside the schema",
  },
  { name: "a reference to a file", schema: { $ref: "a.json" }, says: "place inside the schema" },
  {
    name: "a reference to an anchor",
    schema: { $ref: "#a", $defs: { a: { $anchor: "a" } } },
    says: "place inside",
  },
  {
    name: "a reference with a damaged escape",
    schema: { $ref: "#/a~2" },
    says: "place inside the schema",
  },
  {
    name: "a reference with damaged percents",
    schema: { $ref: "#/%E0" },
    says: "place inside the schema",
  },
  { name: "a reference to itself", schema: { $ref: "#" }, says: "could never end" },
  {
    name: "a circle of references",
    schema: { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    says: "could never end",
  },
  {
    name: "recursion through a required property",
    schema: object({ next: { $ref: "#" } }),
    says: "could never end",
  },
  {
    name: "recursion through items that must be",
    schema: { type: "array", items: { $ref: "#" }, minItems: 1 },
    says: "could never end",
  },
  {
    name: "recursion through a tuple",
    schema: { type: "array", prefixItems: [{ $ref: "#" }], minItems: 1 },
    says: "could never end",
  },
  {
    name: "recursion through what must be contained",
    schema: { type: "array", contains: { $ref: "#" } },
    says: "could never end",
  },
  {
    name: "recursion through allOf",
    schema: { allOf: [object({ a: { $ref: "#" } })] },
    says: "could never end",
  },
  {
    name: "recursion through every choice",
    schema: { anyOf: [object({ a: { $ref: "#" } }), object({ b: { $ref: "#" } })] },
    says: "could never end",
  },
  {
    name: "a required property that extra properties describe",
    schema: { type: "object", required: ["a"], additionalProperties: { $ref: "#" } },
    says: "could never end",
  },
  {
    name: "an optional property that could never end",
    schema: {
      properties: { a: { $ref: "#/$defs/a" } },
      $defs: { a: object({ a: { $ref: "#/$defs/a" } }) },
    },
    says: "of its own kind at #/properties/a.",
  },
  {
    name: "a number beyond all numbers",
    schema: JSON.parse('{"maximum":1e999}'),
    says: "a number that is too large",
  },
  {
    name: "a list beyond all numbers in its data",
    schema: JSON.parse('{"default":[-1e999]}'),
    says: "too large",
  },
  { name: "more levels than the limit", schema: nested(70), says: "nested more than 128 levels" },
  {
    name: "levels without end in its data",
    schema: { const: JSON.parse("[".repeat(50_000) + "]".repeat(50_000)) },
    says: "nested more than 128 levels",
  },
  {
    name: "more text than the limit",
    schema: { description: "x".repeat(256 * 1024) },
    says: "characters, more than 262144",
  },
  {
    name: "more schemas than the limit",
    schema: {
      properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`p${i}`, {}])),
    },
    says: "more than 10000 schemas",
  },
];

describe("a schema that engines can follow", () => {
  it.for(ACCEPTED)("$name", ({ schema }, { expect }) => {
    expect(refusalOf(() => checkSchema(schema, "json_schema"))).toBeUndefined();
  });
});

describe("a schema that no engine can follow is refused", () => {
  it.for(REFUSED)("$name", ({ schema, says }, { expect }) => {
    const refusal = refusalOf(() => checkSchema(schema, "tools[0].function.parameters"));
    expect(refusal?.param).toBe("tools[0].function.parameters");
    expect(refusal?.detail).toContain("'tools[0].function.parameters' is not a usable JSON schema");
    expect(refusal?.detail).toContain(says);
  });

  it("at the end of a long chain of references", ({ expect }) => {
    const chain = (last: unknown): unknown => {
      const links = Array.from({ length: 8_000 }, (_, i) => [
        `d${i}`,
        { $ref: `#/$defs/d${i + 1}` },
      ]);
      return { $ref: "#/$defs/d0", $defs: { ...Object.fromEntries(links), d8000: last } };
    };
    expect(refusalOf(() => checkSchema(chain(text), "json_schema"))).toBeUndefined();
    const refusal = refusalOf(() => checkSchema(chain({ $ref: "#/$defs/d0" }), "json_schema"));
    expect(refusal?.detail).toContain("could never end");
  });
});
