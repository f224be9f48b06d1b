/** A JSON schema that is an object; `true` and `false` are schemas too. */
export type Schema = Readonly<Record<string, unknown>>;

/** A schema inside another, and the steps that lead to it. */
export interface Subschema {
  readonly keyword: string;
  readonly path: readonly string[];
  readonly schema: unknown;
}

const SINGLE = new Set([
  "additionalItems",
  "additionalProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contains",
  "contentSchema",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
]);
const LISTS = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const MAPS = new Set(["properties", "patternProperties", "dependentSchemas"]);
export const DEFINITIONS: ReadonlySet<string> = new Set(["$defs", "definitions"]);

export function isRecord(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The schemas directly inside of one, definitions included. Members that are data (enum, const, default …) are not. */
export function subschemas(schema: Schema): readonly Subschema[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const form = formOf(keyword, value);
    if (form === "single") return [{ keyword, path: [keyword], schema: value }];
    if (form === "list" && Array.isArray(value)) {
      return value.map((item: unknown, index) => ({
        keyword,
        path: [keyword, String(index)],
        schema: item,
      }));
    }
    if (form !== "map" || !isRecord(value)) return [];
    return Object.entries(value)
      .filter(([, member]) => !Array.isArray(member))
      .map(([name, member]) => ({ keyword, path: [keyword, name], schema: member }));
  });
}

/** The schema with every schema directly inside of it replaced. The order of keys is kept. */
export function mapSubschemas(schema: Schema, map: (inner: unknown) => unknown): Schema {
  const entries = Object.entries(schema).map(([keyword, value]) => {
    const form = formOf(keyword, value);
    if (form === "single") return [keyword, map(value)];
    if (form === "list" && Array.isArray(value)) {
      return [keyword, value.map((item: unknown) => map(item))];
    }
    if (form !== "map" || !isRecord(value)) return [keyword, value];
    const members = Object.entries(value).map(([name, member]) => [
      name,
      Array.isArray(member) ? member : map(member),
    ]);
    return [keyword, Object.fromEntries(members)];
  });
  return Object.fromEntries(entries);
}

function formOf(keyword: string, value: unknown): "single" | "list" | "map" | undefined {
  if (keyword === "items") return Array.isArray(value) ? "list" : "single";
  // Of the old `dependencies` a member is a schema or a list of names.
  if (MAPS.has(keyword) || DEFINITIONS.has(keyword) || keyword === "dependencies") return "map";
  if (LISTS.has(keyword)) return "list";
  return SINGLE.has(keyword) ? "single" : undefined;
}
