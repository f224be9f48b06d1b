import fc from "fast-check";
import { describe, it } from "vitest";

import { checkSchema } from "../../../../src/parsers/constraint/json-schema.ts";
import { mergeDefs } from "../../../../src/parsers/constraint/merge-defs.ts";
import {
  followSteps,
  parseLocalReference,
} from "../../../../src/parsers/constraint/schema-pointer.ts";
import { isRecord, mapSubschemas } from "../../../../src/parsers/constraint/schema-walk.ts";
import type { Schema } from "../../../../src/parsers/constraint/schema-walk.ts";

const ref = (to: string): Schema => ({ $ref: to });
const place = (index: number): string => `#/prefixItems/${index}`;
const merge = (...schemas: readonly Schema[]) => mergeDefs(schemas, place);

describe("definitions of several schemas", () => {
  it("become one set, and references lead there", ({ expect }) => {
    const first = { items: ref("#/$defs/a"), $defs: { a: { type: "string" } } };
    const second = { items: ref("#/definitions/b"), definitions: { b: { type: "number" } } };
    expect(merge(first, second)).toEqual({
      schemas: [{ items: ref("#/$defs/a") }, { items: ref("#/$defs/b") }],
      defs: { a: { type: "string" }, b: { type: "number" } },
    });
  });

  it("are shared when they mean the same", ({ expect }) => {
    const schema = {
      items: ref("#/$defs/a"),
      $defs: { a: { items: ref("#/$defs/b") }, b: { type: "string" } },
    };
    const { schemas, defs } = merge(schema, schema);
    expect(schemas[0]).toEqual(schemas[1]);
    expect(Object.keys(defs)).toEqual(["a", "b"]);
  });

  it("are renamed when they do not", ({ expect }) => {
    const first = { items: ref("#/$defs/a"), $defs: { a: { type: "string" } } };
    const second = {
      items: ref("#/$defs/a"),
      $defs: { a: { type: "number" }, a_2: { type: "null" } },
    };
    const third = { items: ref("#/$defs/a"), $defs: { a: { type: "number" } } };
    expect(merge(first, second, third)).toEqual({
      schemas: [
        { items: ref("#/$defs/a") },
        { items: ref("#/$defs/a_3") },
        { items: ref("#/$defs/a_3") },
      ],
      defs: { a: { type: "string" }, a_2: { type: "null" }, a_3: { type: "number" } },
    });
  });

  it("are renamed when only what they lead to differs", ({ expect }) => {
    const schema = (type: string): Schema => ({
      items: ref("#/$defs/a"),
      $defs: { a: { items: ref("#/$defs/b") }, b: { type } },
    });
    expect(merge(schema("string"), schema("number"))).toEqual({
      schemas: [{ items: ref("#/$defs/a") }, { items: ref("#/$defs/a_2") }],
      defs: {
        a: { items: ref("#/$defs/b") },
        b: { type: "string" },
        a_2: { items: ref("#/$defs/b_2") },
        b_2: { type: "number" },
      },
    });
  });

  it("keep the order of properties apart", ({ expect }) => {
    const one = { $defs: { a: { properties: { x: {}, y: {} } } } };
    const other = { $defs: { a: { properties: { y: {}, x: {} } } } };
    expect(Object.keys(merge(one, other).defs)).toEqual(["a", "a_2"]);
  });

  it("that lead to their own schema are never shared", ({ expect }) => {
    const schema = { properties: { x: ref("#/$defs/a") }, $defs: { a: { items: ref("#") } } };
    expect(merge(schema, schema)).toEqual({
      schemas: [{ properties: { x: ref("#/$defs/a") } }, { properties: { x: ref("#/$defs/a_2") } }],
      defs: { a: { items: ref("#/prefixItems/0") }, a_2: { items: ref("#/prefixItems/1") } },
    });
  });

  it("leave references to other places of a schema with it", ({ expect }) => {
    const schema = { properties: { "a/b": { type: "string" }, c: ref("#/properties/a~1b") } };
    expect(merge({}, schema).schemas[1]).toEqual({
      properties: { "a/b": { type: "string" }, c: ref("#/prefixItems/1/properties/a~1b") },
    });
  });

  it("keep references into the inside of a definition, and data as it is", ({ expect }) => {
    const schema = {
      items: ref("#/definitions/a/properties/b"),
      default: ref("#/definitions/a"),
      definitions: { a: { properties: { b: { enum: [ref("#/definitions/a")] } } } },
    };
    expect(merge(schema)).toEqual({
      schemas: [{ items: ref("#/$defs/a/properties/b"), default: ref("#/definitions/a") }],
      defs: { a: { properties: { b: { enum: [ref("#/definitions/a")] } } } },
    });
  });
});

/** What a schema means, its references followed, down to a depth. */
function unfold(root: unknown, schema: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth === 0) return isRecord(schema) ? "…" : schema;
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const target = followSteps(root, parseLocalReference(reference) ?? ["?"]);
    if (target === undefined) throw new Error(`${reference} leads nowhere`);
    return unfold(root, target, depth - 1);
  }
  const rest = Object.entries(schema).filter(([key]) => key !== "$defs" && key !== "definitions");
  return mapSubschemas(Object.fromEntries(rest), (inner) => unfold(root, inner, depth - 1));
}

describe("any schemas", () => {
  const names = ["a", "b", "a_2", "c/d~e", "f%20g h"];
  const targets = [
    "#",
    "#/properties/p",
    ...names.flatMap((name) => {
      const step = name.replaceAll("~", "~0").replaceAll("/", "~1").replaceAll("%", "%25");
      return [`#/$defs/${step}`, `#/definitions/${step}`];
    }),
  ];
  const leaf = fc.constantFrom<Schema>({ type: "string" }, { type: "number" }, { enum: [1] });
  const inner = fc.oneof(
    leaf,
    fc.constantFrom(...targets).map(ref),
    fc.constantFrom(...targets).map((to) => ({ items: ref(to) })),
    fc.constantFrom(...targets).map((to) => ({ anyOf: [ref(to), { type: "null" }] })),
  );
  const defs = fc.record(Object.fromEntries(names.map((name) => [name, inner])));
  const schema = fc.record({
    type: fc.constant("object"),
    properties: fc.record({ p: leaf, q: inner, r: inner }),
    $defs: defs,
    definitions: defs,
  });

  it("mean the same in one document, and every reference leads somewhere", ({ expect }) => {
    fc.assert(
      fc.property(fc.array(schema, { minLength: 1, maxLength: 3 }), (schemas) => {
        const { schemas: moved, defs: $defs } = mergeDefs(schemas, place);
        const document = { prefixItems: moved, $defs };
        for (const [index, original] of schemas.entries()) {
          expect(unfold(document, moved[index], 7)).toEqual(unfold(original, original, 7));
        }
      }),
      { seed: 3, numRuns: 300 },
    );
  });

  it("are no less usable than before", ({ expect }) => {
    fc.assert(
      fc.property(schema, (original) => {
        const isUsable = (each: Schema): boolean => {
          try {
            checkSchema(each, "x");
            return true;
          } catch {
            return false;
          }
        };
        const { schemas, defs: $defs } = mergeDefs([original], place);
        expect(isUsable({ prefixItems: schemas, $defs })).toBe(isUsable(original));
      }),
      { seed: 4, numRuns: 300 },
    );
  });
});
