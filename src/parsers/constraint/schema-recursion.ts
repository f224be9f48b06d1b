import { isRecord } from "./schema-walk.ts";
import type { Schema } from "./schema-walk.ts";

/** A schema and the schemas that decide whether its values can end. */
export interface RecursionNode {
  readonly schema: Schema;
  /** Where its `$ref` leads; undefined without one. */
  readonly target: unknown;
  /** The schemas directly inside, and the target. */
  readonly inner: readonly Schema[];
}

/**
 * The schemas all of whose values are endless: each holds, in a place that cannot be left out, a value of its own kind.
 * A least fixpoint: a schema can end once what it needs can end. Every schema that becomes able to end is looked at once,
 * and wakes those that it is inside of.
 */
export function findEndless(nodes: readonly RecursionNode[]): readonly Schema[] {
  const outer = new Map<Schema, RecursionNode[]>();
  for (const node of nodes) {
    for (const inner of node.inner) {
      const users = outer.get(inner);
      if (users === undefined) outer.set(inner, [node]);
      else users.push(node);
    }
  }
  const ending = new Set<Schema>();
  const canEnd = (value: unknown): boolean => !isRecord(value) || ending.has(value);
  // Inner schemas come later in the list: from its end most can be told at once.
  const pending = [...nodes];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (ending.has(node.schema) || !hasEnd(node, canEnd)) continue;
    ending.add(node.schema);
    pending.push(...(outer.get(node.schema) ?? []));
  }
  return nodes.map(({ schema }) => schema).filter((schema) => !ending.has(schema));
}

type CanEnd = (value: unknown) => boolean;

function hasEnd({ schema, target }: RecursionNode, canEnd: CanEnd): boolean {
  const { allOf, anyOf, oneOf } = schema;
  if (!canEnd(target)) return false;
  if (Array.isArray(allOf) && !allOf.every(canEnd)) return false;
  for (const choices of [anyOf, oneOf]) {
    if (Array.isArray(choices) && !choices.some(canEnd)) return false;
  }
  if ("enum" in schema || "const" in schema) return true;
  return typesOf(schema).some((type) => {
    if (type === "object") return objectHasEnd(schema, canEnd);
    return type === "array" ? arrayHasEnd(schema, canEnd) : true;
  });
}

/** The types that a schema names, or that its keywords are about; "any" when they are about none. */
function typesOf(schema: Schema): readonly unknown[] {
  const { type } = schema;
  if (Array.isArray(type)) return type;
  if (type !== undefined) return [type];
  if ("properties" in schema || "required" in schema) return ["object"];
  return "items" in schema || "prefixItems" in schema ? ["array"] : ["any"];
}

function objectHasEnd(schema: Schema, canEnd: CanEnd): boolean {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  return required.every((name: unknown) =>
    typeof name === "string" && Object.hasOwn(properties, name)
      ? canEnd(properties[name])
      : canEnd(schema["additionalProperties"]),
  );
}

function arrayHasEnd(schema: Schema, canEnd: CanEnd): boolean {
  const { minItems, items, prefixItems, additionalItems, contains, minContains } = schema;
  if (minContains !== 0 && !canEnd(contains)) return false;
  const least = typeof minItems === "number" ? minItems : 0;
  const isTuple = Array.isArray(items);
  const first = isTuple ? items : Array.isArray(prefixItems) ? prefixItems : [];
  return (
    first.slice(0, least).every(canEnd) &&
    (least <= first.length || canEnd(isTuple ? additionalItems : items))
  );
}
