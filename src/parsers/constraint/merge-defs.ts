import { escapeStep, parseLocalReference } from "./schema-pointer.ts";
import { DEFINITIONS, isRecord, mapSubschemas, subschemas } from "./schema-walk.ts";
import type { Schema } from "./schema-walk.ts";

export interface MergedSchemas {
  /** The schemas without definitions of their own, their references led to where things are now. */
  readonly schemas: readonly Schema[];
  /** All definitions: the `$defs` of the document that the schemas are put into. */
  readonly defs: Schema;
}

interface Definition {
  /** Which schema it is of. */
  readonly owner: number;
  /** Its place there: "$defs/name". */
  readonly place: string;
  readonly name: string;
  readonly schema: unknown;
}

/**
 * Makes one set of definitions of those of several schemas, so that the schemas can stand in one document: the schema at
 * `index` at `placeOf(index)`, a reference such as `#/items`. Definitions that mean the same under one name are shared;
 * one that means something else under a name that is taken gets a new name (`name_2`).
 */
export function mergeDefs(
  schemas: readonly Schema[],
  placeOf: (index: number) => string,
): MergedSchemas {
  const definitions = schemas.map((schema, owner) => listDefinitions(schema, owner));
  const names = nameDefinitions(definitions);
  const defs = new Map<string, unknown>();
  const moved = schemas.map((schema, owner) => {
    const move = (inner: unknown): unknown => {
      if (!isRecord(inner)) return inner;
      const reference = inner["$ref"];
      const mapped = mapSubschemas(inner, move);
      if (typeof reference !== "string") return mapped;
      return { ...mapped, $ref: moveReference(reference, names[owner], placeOf(owner)) };
    };
    for (const { place, schema: definition } of definitions[owner] ?? []) {
      const name = names[owner]?.get(place);
      if (name !== undefined && !defs.has(name)) defs.set(name, move(definition));
    }
    const rest = Object.entries(schema).filter(([keyword]) => !DEFINITIONS.has(keyword));
    const result = move(Object.fromEntries(rest));
    return isRecord(result) ? result : {};
  });
  return { schemas: moved, defs: Object.fromEntries(defs) };
}

function listDefinitions(schema: Schema, owner: number): readonly Definition[] {
  return subschemas(schema)
    .filter(({ keyword }) => DEFINITIONS.has(keyword))
    .map(({ path, schema: definition }) => ({
      owner,
      place: path.join("/"),
      name: path[1] ?? "",
      schema: definition,
    }));
}

/** For each schema: place of a definition → its name in the merged set. */
function nameDefinitions(
  definitions: readonly (readonly Definition[])[],
): readonly ReadonlyMap<string, string>[] {
  const taken = new Set(definitions.flat().map(({ name }) => name));
  /** What a name stands for, by the meaning of its definition. */
  const named = new Map<string, Map<string, string>>();
  return definitions.map((own) => {
    const byPlace = new Map(own.map((definition) => [definition.place, definition]));
    return new Map(
      own.map((definition) => {
        const { place, name } = definition;
        const meanings = named.get(name) ?? new Map<string, string>();
        named.set(name, meanings);
        const meaning = meaningOf(definition, byPlace);
        const known = meanings.get(meaning);
        const chosen = known ?? (meanings.size === 0 ? name : freeName(name, taken));
        meanings.set(meaning, chosen);
        return [place, chosen];
      }),
    );
  });
}

function freeName(name: string, taken: Set<string>): string {
  for (let count = 2; ; count++) {
    const candidate = `${name}_${count}`;
    if (taken.has(candidate)) continue;
    taken.add(candidate);
    return candidate;
  }
}

/**
 * A text that two definitions share only when they mean the same: all definitions that one leads to, with their names.
 * One that leads to another place of its schema means something only there. The order of keys counts: engines write
 * properties in it.
 */
function meaningOf(start: Definition, byPlace: ReadonlyMap<string, Definition>): string {
  const reached = new Map<string, unknown>();
  const pending = [start];
  let isBound = false;
  for (let definition = pending.pop(); definition !== undefined; definition = pending.pop()) {
    if (reached.has(definition.place)) continue;
    reached.set(definition.place, definition.schema);
    for (const reference of referencesIn(definition.schema)) {
      const steps = parseLocalReference(reference) ?? [];
      const target = byPlace.get(steps.slice(0, 2).join("/"));
      if (target === undefined) isBound = true;
      else pending.push(target);
    }
  }
  const places = [...reached].sort(([left], [right]) => (left < right ? -1 : 1));
  return JSON.stringify([start.place, places, isBound ? start.owner : null]);
}

function referencesIn(schema: unknown): readonly string[] {
  if (!isRecord(schema)) return [];
  const own = schema["$ref"];
  const inner = subschemas(schema).flatMap((each) => referencesIn(each.schema));
  return typeof own === "string" ? [own, ...inner] : inner;
}

function moveReference(
  reference: string,
  names: ReadonlyMap<string, string> | undefined,
  place: string,
): string {
  const steps = parseLocalReference(reference);
  if (steps === undefined) return reference;
  const [keyword = "", definition = "", ...rest] = steps;
  const name = names?.get(`${keyword}/${definition}`);
  const inside = (each: readonly string[]): string =>
    each.map((step) => `/${escapeStep(step)}`).join("");
  return name === undefined ? place + inside(steps) : `#/$defs${inside([name, ...rest])}`;
}
