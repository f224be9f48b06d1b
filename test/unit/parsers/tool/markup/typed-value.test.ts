import { describe, it } from "vitest";

import {
  readSchema,
  type ValueType,
  type ValueTypes,
} from "../../../../../src/parsers/tool/markup/schema.ts";
import {
  createValueWriter,
  writeValue,
} from "../../../../../src/parsers/tool/markup/typed-value.ts";

interface ValueRow {
  readonly raw: string;
  /** Undefined: unknown. */
  readonly types: readonly ValueType[] | undefined;
  readonly json: string;
}

function rows(
  types: readonly ValueType[] | undefined,
  values: Readonly<Record<string, string>>,
): readonly ValueRow[] {
  return Object.entries(values).map(([raw, json]) => ({ raw, types, json }));
}

const VALUE_ROWS: readonly ValueRow[] = [
  ...rows(["string"], {
    "": '""',
    Paris: '"Paris"',
    "3": '"3"',
    null: '"null"',
    '"a"': String.raw`"\"a\""`,
    "{}": '"{}"',
    "a\nb\t\u0001\\": String.raw`"a\nb\t\u0001\\"`,
    "東京 🌍 \u007f\u2028": '"東京 🌍 \u007f\u2028"',
    "\n x \n": String.raw`"\n x \n"`,
  }),
  ...rows(["integer"], {
    "3": "3",
    "-12": "-12",
    " 3\n": "3",
    "12345678901234567890123": "12345678901234567890123",
    "3.0": "3",
    "3.": "3",
    "1e3": "1000",
    "+3": "3",
    "007": "7",
    '"3"': "3",
    "3.5": '"3.5"',
    "1e-1": '"1e-1"',
    many: '"many"',
    "3 4": '"3 4"',
    true: '"true"',
    null: '"null"',
    "": '""',
    [`${"9".repeat(100)}x`]: `"${"9".repeat(100)}x"`,
  }),
  ...rows(["number"], {
    "2.50": "2.50",
    "-1.5e300": "-1.5e300",
    "0.1000000000000000055511151231257827": "0.1000000000000000055511151231257827",
    ".5": "0.5",
    "3": "3",
    "1.2.3": '"1.2.3"',
    Infinity: '"Infinity"',
    NaN: '"NaN"',
  }),
  ...rows(["boolean"], {
    true: "true",
    false: "false",
    True: "true",
    FALSE: "false",
    "\ntrue\n": "true",
    '"true"': "true",
    yes: '"yes"',
    "1": '"1"',
    truely: '"truely"',
  }),
  ...rows(["null"], { null: "null", None: "null", "": "null", nil: '"nil"' }),
  ...rows(["object"], {
    '{"a": {"b": [1]}}': '{"a": {"b": [1]}}',
    ' {"a":\n1} ': '{"a":\n1}',
    '{"a": "x\ny"}': String.raw`{"a": "x\ny"}`,
    '{"b": 1, "a": 12345678901234567890}': '{"b": 1, "a": 12345678901234567890}',
    "{'a': True, 'b': [None, 'c']}": '{"a":true,"b":[null,"c"]}',
    [String.raw`"{\"a\": 1}"`]: '{"a": 1}',
    "{a: 1}": '"{a: 1}"',
    "[1]": '"[1]"',
    "{} {}": '"{} {}"',
    '{"a": 1': String.raw`"{\"a\": 1"`,
    "": '""',
  }),
  ...rows(["array"], {
    '["a", 1]': '["a", 1]',
    "['a', 1]": '["a",1]',
    "[]": "[]",
    "{}": '"{}"',
    "a, b": '"a, b"',
  }),
  ...rows(["string", "null"], {
    null: "null",
    " null ": "null",
    nullable: '"nullable"',
    nul: '"nul"',
    None: '"None"',
    "": '""',
    x: '"x"',
  }),
  ...rows(["string", "integer"], {
    "3": "3",
    "3 apples": '"3 apples"',
    "3.5": '"3.5"',
    true: '"true"',
    '"3"': String.raw`"\"3\""`,
  }),
  ...rows(["string", "object"], { '{"a": 1}': '{"a": 1}', "{a": '"{a"', "[1]": '"[1]"' }),
  ...rows(["integer", "null"], { null: "null", None: "null", "": "null", "4": "4", x: '"x"' }),
  ...rows(["integer", "boolean"], { "4": "4", true: "true", x: '"x"' }),
  ...rows(undefined, {
    "": '""',
    "3": "3",
    "3.0": "3.0",
    true: "true",
    null: "null",
    '"a"': '"a"',
    '{"a": [1]}': '{"a": [1]}',
    " [1] ": "[1]",
    Paris: '"Paris"',
    "3 apples": '"3 apples"',
    "{'a': 1}": "\"{'a': 1}\"",
    True: '"True"',
    "{ not JSON }": '"{ not JSON }"',
    "-": '"-"',
  }),
];

function toTypes(types: readonly ValueType[] | undefined): ValueTypes {
  return types === undefined ? undefined : new Set(types);
}

describe("typed values", () => {
  it.for(VALUE_ROWS)("$raw as $types is $json", ({ raw, types, json }, { expect }) => {
    expect(writeValue(raw, toTypes(types))).toBe(json);
  });

  it.for(VALUE_ROWS)("$raw as $types, one code unit at a time", (row, { expect }) => {
    const writer = createValueWriter(toTypes(row.types));
    let json = "";
    for (let at = 0; at < row.raw.length; at++) json += writer.write(row.raw.charAt(at));
    expect(json + writer.end()).toBe(row.json);
  });

  it("writes a string as it arrives", ({ expect }) => {
    const writer = createValueWriter(new Set(["string"]));
    expect(["a", '"', "", "\n"].map((piece) => writer.write(piece))).toEqual([
      '"a',
      String.raw`\"`,
      "",
      String.raw`\n`,
    ]);
    expect(writer.end()).toBe('"');
  });

  it("writes what can only be a string as soon as that is clear", ({ expect }) => {
    const unknown = createValueWriter(undefined);
    expect(["{ ", "body", " x"].map((piece) => unknown.write(piece))).toEqual([
      "",
      '"{ body',
      " x",
    ]);
    const nullable = createValueWriter(new Set(["string", "null"]));
    expect(["nu", "ll", "y"].map((piece) => nullable.write(piece))).toEqual(["", "", '"nully']);
  });
});

interface SchemaRow {
  readonly name: string;
  readonly property: unknown;
  readonly types: readonly ValueType[] | undefined;
}

const SCHEMA_ROWS: readonly SchemaRow[] = [
  { name: "a type", property: { type: "integer" }, types: ["integer"] },
  { name: "a list of types", property: { type: ["string", "null"] }, types: ["null", "string"] },
  { name: "types in capitals", property: { type: "STRING" }, types: ["string"] },
  { name: "a type of another notation", property: { type: "int" }, types: ["integer"] },
  { name: "a type that nobody knows", property: { type: "quux" }, types: undefined },
  { name: "no type", property: { description: "x" }, types: undefined },
  { name: "true", property: true, types: undefined },
  {
    name: "enum",
    property: { enum: ["a", 1, 1.5, null] },
    types: ["integer", "null", "number", "string"],
  },
  { name: "enum and type", property: { type: "string", enum: ["a"] }, types: ["string"] },
  { name: "const", property: { const: [1] }, types: ["array"] },
  {
    name: "anyOf",
    property: { anyOf: [{ type: "object" }, { type: "null" }] },
    types: ["null", "object"],
  },
  {
    name: "oneOf",
    property: { oneOf: [{ type: "string" }, { const: 1 }] },
    types: ["integer", "string"],
  },
  { name: "anyOf with anything", property: { anyOf: [{ type: "object" }, {}] }, types: undefined },
  {
    name: "allOf",
    property: { allOf: [{ type: ["string", "integer"] }, { type: "integer" }] },
    types: ["integer"],
  },
  {
    name: "an integer is a number",
    property: { allOf: [{ type: "number" }, { type: "integer" }] },
    types: ["integer"],
  },
  { name: "a contradiction", property: { type: "string", enum: [1] }, types: undefined },
  { name: "$ref", property: { $ref: "#/$defs/count" }, types: ["integer"] },
  { name: "$ref of a $ref", property: { $ref: "#/$defs/alias" }, types: ["integer"] },
  { name: "$ref with escapes", property: { $ref: "#/$defs/a~1b~0c" }, types: ["boolean"] },
  { name: "$ref to itself", property: { $ref: "#/$defs/loop" }, types: undefined },
  { name: "a $ref that leads nowhere", property: { $ref: "#/$defs/nowhere" }, types: undefined },
  { name: "a $ref elsewhere", property: { $ref: "https://example.org/x.json" }, types: undefined },
  {
    name: "a $ref to an inherited property",
    property: { $ref: "#/constructor" },
    types: undefined,
  },
  { name: "properties without a type", property: { properties: {} }, types: ["object"] },
  { name: "items without a type", property: { items: {} }, types: ["array"] },
  { name: "endless alternatives", property: { $ref: "#/$defs/tree" }, types: undefined },
];

const DEFS = {
  count: { type: "integer" },
  alias: { $ref: "#/$defs/count" },
  "a/b~c": { type: "boolean" },
  loop: { $ref: "#/$defs/loop" },
  tree: { anyOf: Array.from({ length: 20 }, () => ({ $ref: "#/$defs/tree" })) },
};

describe("schemas", () => {
  it.for(SCHEMA_ROWS)("types of $name", ({ property, types }, { expect }) => {
    const schema = readSchema({ type: "object", properties: { p: property }, $defs: DEFS });
    const found = schema.property("p").types;
    expect(found && [...found].toSorted()).toEqual(types);
  });

  it("finds properties in parts and alternatives of the schema", ({ expect }) => {
    const schema = readSchema({
      $ref: "#/$defs/base",
      anyOf: [{ properties: { b: { type: "integer" } } }, { properties: { b: { type: "null" } } }],
      $defs: { base: { allOf: [{ properties: { a: { type: "string" } } }] } },
    });
    expect(schema.property("a").types).toEqual(new Set(["string"]));
    expect(schema.property("b").types).toEqual(new Set(["integer", "null"]));
    expect(schema.property("c").types).toBeUndefined();
    expect(schema.hasProperty("a")).toBe(true);
    expect(schema.hasProperty("c")).toBe(false);
  });

  it("takes a property that is not declared by additionalProperties", ({ expect }) => {
    const schema = readSchema({ properties: {}, additionalProperties: { type: "integer" } });
    expect(schema.property("constructor").types).toEqual(new Set(["integer"]));
    expect(schema.hasProperty("constructor")).toBe(false);
  });

  it("gives the elements of a list", ({ expect }) => {
    const schema = readSchema({
      anyOf: [{ items: { type: "string" } }, { prefixItems: [{ type: "null" }] }],
    });
    expect(schema.items.types).toEqual(new Set(["null", "string"]));
    expect(schema.items.items.types).toBeUndefined();
  });

  it.for([undefined, null, true, "x", 3, [], { properties: [] }])(
    "knows nothing from %j",
    (root, { expect }) => {
      const schema = readSchema(root);
      expect(schema.property("a").items.property("b").types).toBeUndefined();
    },
  );
});
