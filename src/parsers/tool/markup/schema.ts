export type ValueType = "string" | "integer" | "number" | "boolean" | "object" | "array" | "null";

/** The types that a value may have; undefined when nothing is known. */
export type ValueTypes = ReadonlySet<ValueType> | undefined;

/** What a JSON schema says about the types of a value and of what is in it. */
export interface Schema {
  readonly types: ValueTypes;
  /** Is the property declared by name? */
  hasProperty(name: string): boolean;
  property(name: string): Schema;
  readonly items: Schema;
}

type Node = Readonly<Record<string, unknown>>;

/**
 * Schema nodes looked at for one answer; what lies beyond is taken as unknown. Keeps a schema of nested and recursive
 * alternatives, which clients write, from costing more than a glance.
 */
const MAX_NODES = 256;

/** Names of types that are not JSON schema's own but common in tools made from code. */
const TYPE_NAMES: Readonly<Record<string, ValueType>> = {
  string: "string",
  str: "string",
  text: "string",
  integer: "integer",
  int: "integer",
  number: "number",
  float: "number",
  double: "number",
  boolean: "boolean",
  bool: "boolean",
  object: "object",
  dict: "object",
  map: "object",
  array: "array",
  list: "array",
  null: "null",
};

/** Reads the schema of a tool's arguments. `$ref` is followed within it. */
export function readSchema(root: unknown): Schema {
  return new SchemaNode(root, root);
}

class SchemaNode implements Schema {
  readonly #node: unknown;
  readonly #root: unknown;

  constructor(node: unknown, root: unknown) {
    this.#node = node;
    this.#root = root;
  }

  get types(): ValueTypes {
    return new TypeReader(this.#root).typesOf(this.#node);
  }

  get items(): Schema {
    const items: unknown[] = [];
    for (const node of expand(this.#node, this.#root)) {
      if (isNode(node["items"])) items.push(node["items"]);
      items.push(...listOf(node["prefixItems"]));
    }
    return this.#oneOf(items);
  }

  hasProperty(name: string): boolean {
    return this.#declared(name).length > 0;
  }

  property(name: string): Schema {
    const declared = this.#declared(name);
    if (declared.length > 0) return this.#oneOf(declared);
    const others = expand(this.#node, this.#root).map((node) => node["additionalProperties"]);
    return this.#oneOf(others.filter(isNode));
  }

  #declared(name: string): readonly unknown[] {
    return expand(this.#node, this.#root).flatMap(({ properties }) =>
      isNode(properties) && Object.hasOwn(properties, name) ? [properties[name]] : [],
    );
  }

  #oneOf(nodes: readonly unknown[]): Schema {
    return new SchemaNode(nodes.length === 1 ? nodes[0] : { anyOf: nodes }, this.#root);
  }
}

/** The node, what it refers to, and all its alternatives and parts, each once. */
function expand(start: unknown, root: unknown): readonly Node[] {
  const found = new Set<Node>();
  const waiting = [start];
  for (let node = waiting.pop(); waiting.length > 0 || node !== undefined; node = waiting.pop()) {
    if (!isNode(node) || found.has(node)) continue;
    if (found.size === MAX_NODES) break;
    found.add(node);
    const parts = ["allOf", "anyOf", "oneOf"].flatMap((key) => listOf(node[key]));
    waiting.push(...parts.toReversed(), ...listOf([resolve(node["$ref"], root)]));
  }
  return [...found];
}

/** Reads types, with one budget of nodes for the whole answer. */
class TypeReader {
  readonly #root: unknown;
  #nodesLeft = MAX_NODES;

  constructor(root: unknown) {
    this.#root = root;
  }

  typesOf(node: unknown): ValueTypes {
    if (!isNode(node) || this.#nodesLeft === 0) return undefined;
    this.#nodesLeft--;
    const sets = [
      namedTypes(node["type"]),
      valueTypes("const" in node ? [node["const"]] : node["enum"]),
      this.#union(node["anyOf"]),
      this.#union(node["oneOf"]),
      ...listOf(node["allOf"]).map((part) => this.typesOf(part)),
      this.typesOf(resolve(node["$ref"], this.#root)),
    ];
    return sets.reduce(intersect, undefined) ?? impliedTypes(node);
  }

  #union(alternatives: unknown): ValueTypes {
    const union = new Set<ValueType>();
    for (const alternative of listOf(alternatives)) {
      const types = this.typesOf(alternative);
      if (types === undefined) return undefined;
      for (const type of types) union.add(type);
    }
    return union.size === 0 ? undefined : union;
  }
}

/** The types that both allow. Sets that contradict each other tell nothing. */
function intersect(left: ValueTypes, right: ValueTypes): ValueTypes {
  if (left === undefined || right === undefined) return left ?? right;
  const common = new Set([...left].filter((type) => right.has(type)));
  if (left.has("number") && right.has("integer")) common.add("integer");
  if (left.has("integer") && right.has("number")) common.add("integer");
  return common.size === 0 ? undefined : common;
}

function namedTypes(type: unknown): ValueTypes {
  const types = new Set<ValueType>();
  for (const name of Array.isArray(type) ? type : [type]) {
    const key = typeof name === "string" ? name.toLowerCase() : "";
    const known = Object.hasOwn(TYPE_NAMES, key) ? TYPE_NAMES[key] : undefined;
    if (known === undefined) return undefined;
    types.add(known);
  }
  return types.size === 0 ? undefined : types;
}

function valueTypes(values: unknown): ValueTypes {
  const types = new Set(listOf(values).map(typeOfValue));
  return types.size === 0 ? undefined : types;
}

function typeOfValue(value: unknown): ValueType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (typeof value === "boolean") return "boolean";
  return typeof value === "string" ? "string" : "object";
}

function impliedTypes(node: Node): ValueTypes {
  if (isNode(node["properties"])) return new Set(["object"]);
  return isNode(node["items"]) || Array.isArray(node["prefixItems"])
    ? new Set(["array"])
    : undefined;
}

/** What a `$ref` into the schema itself means; undefined for all others. */
function resolve(reference: unknown, root: unknown): unknown {
  if (typeof reference !== "string" || !/^#(?:\/|$)/.test(reference)) return undefined;
  let target: unknown = root;
  for (const part of reference.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isNode(target) || !Object.hasOwn(target, key)) return undefined;
    target = target[key];
  }
  return target;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null;
}
