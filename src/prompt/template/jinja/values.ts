import { failure } from "./failure.ts";

/**
 * A Python value, as templates see it. None is null; an int is a number while it is a safe integer and a bigint
 * beyond; a float is a PyFloat, so that 1 and 1.0 stay apart; a list is an array; everything else is a PyObject.
 */
export type Value = null | boolean | number | bigint | string | readonly Value[] | PyObject;

export type Int = number | bigint;

abstract class PyObject {
  /** Python's `type(x).__name__`. */
  abstract readonly typeName: string;
}

export class PyFloat extends PyObject {
  readonly typeName = "float";
  readonly value: number;

  constructor(value: number) {
    super();
    this.value = value;
  }
}

export class PyTuple extends PyObject {
  readonly typeName = "tuple";
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }
}

/** Jinja's Undefined: prints as nothing, is empty and false, and fails with `message` when it is worked with. */
export class PyUndefined extends PyObject {
  readonly typeName = "Undefined";
  readonly message: string;

  constructor(message: string) {
    super();
    this.message = message;
  }
}

/** A dict: insertion-ordered, with Python's equality of keys (1, 1.0 and True are one key). */
export class PyDict extends PyObject {
  readonly typeName = "dict";
  readonly #entries = new Map<unknown, readonly [Value, Value]>();

  get size(): number {
    return this.#entries.size;
  }

  get(key: Value): Value | undefined {
    return this.#entries.get(hashKey(key))?.[1];
  }

  has(key: Value): boolean {
    return this.#entries.has(hashKey(key));
  }

  set(key: Value, value: Value): void {
    const hash = hashKey(key);
    const known = this.#entries.get(hash);
    this.#entries.set(hash, [known === undefined ? key : known[0], value]);
  }

  entries(): IterableIterator<readonly [Value, Value]> {
    return this.#entries.values();
  }

  keys(): Value[] {
    return Array.from(this.#entries.values(), ([key]) => key);
  }
}

/** `dict.keys()`, `.values()`, `.items()`. */
export class PyView extends PyObject {
  readonly typeName: "dict_keys" | "dict_values" | "dict_items";
  readonly dict: PyDict;

  constructor(typeName: PyView["typeName"], dict: PyDict) {
    super();
    this.typeName = typeName;
    this.dict = dict;
  }

  items(): Value[] {
    return Array.from(this.dict.entries(), ([key, value]) => {
      if (this.typeName === "dict_items") return new PyTuple([key, value]);
      return this.typeName === "dict_keys" ? key : value;
    });
  }
}

/** `range(...)`; the sandbox allows at most 100,000 items. */
export class PyRange extends PyObject {
  readonly typeName = "range";
  readonly start: number;
  readonly stop: number;
  readonly step: number;

  constructor(start: number, stop: number, step: number) {
    super();
    this.start = start;
    this.stop = stop;
    this.step = step;
  }

  get length(): number {
    return Math.max(0, Math.ceil((this.stop - this.start) / this.step));
  }

  at(index: number): number {
    return this.start + index * this.step;
  }

  items(): number[] {
    return Array.from({ length: this.length }, (_, index) => this.at(index));
  }
}

/** A generator: what `map`, `select` and others give. Can be walked once, has no length. */
export class PyIterator extends PyObject {
  readonly typeName: string;
  readonly #source: Iterator<Value>;

  constructor(source: Iterator<Value>, typeName = "generator") {
    super();
    this.typeName = typeName;
    this.#source = source;
  }

  next(): Value | undefined {
    const step = this.#source.next();
    return step.done === true ? undefined : step.value;
  }

  /** Everything that is left. */
  drain(): Value[] {
    const items: Value[] = [];
    for (let item = this.next(); item !== undefined; item = this.next()) items.push(item);
    return items;
  }
}

export class PyNamespace extends PyObject {
  readonly typeName = "Namespace";
  readonly attributes = new Map<string, Value>();
}

/** An object of Jinja's with named attributes: `loop`, a cycler. `call` makes it callable. */
export class PyRecord extends PyObject {
  readonly typeName: string;
  readonly attribute: (name: string) => Value | undefined;
  readonly call: Callable | undefined;

  constructor(typeName: string, attribute: (name: string) => Value | undefined, call?: Callable) {
    super();
    this.typeName = typeName;
    this.attribute = attribute;
    this.call = call;
  }
}

export interface CallArguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

export type Callable = (args: CallArguments) => Value;

export class PyFunction extends PyObject {
  readonly typeName: string;
  readonly name: string;
  readonly call: Callable;

  constructor(name: string, call: Callable, typeName = "function") {
    super();
    this.name = name;
    this.call = call;
    this.typeName = typeName;
  }
}

/** `value`, unless there is none at all. Not `??`, which would take None for nothing. */
export function orElse(value: Value | undefined, fallback: Value): Value {
  return value === undefined ? fallback : value;
}

/** Python's `type(value).__name__`. */
export function typeNameOf(value: Value): string {
  if (value === null) return "NoneType";
  if (typeof value === "string") return "str";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "number" || typeof value === "bigint") return "int";
  return isList(value) ? "list" : value.typeName;
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** Whether Python's `isinstance(value, int)` holds; bool is one. */
export function isInt(value: Value): value is Int | boolean {
  return typeof value === "number" || typeof value === "bigint" || typeof value === "boolean";
}

export function toInt(value: Int | boolean): Int {
  return typeof value === "boolean" ? Number(value) : value;
}

/** A bigint as the int that it is: a number while that is exact. */
export function normalizeInt(value: bigint): Int {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
    ? Number(value)
    : value;
}

/** A JavaScript number for Python's numbers, undefined for all else. */
export function asNumber(value: Value): number | undefined {
  if (value instanceof PyFloat) return value.value;
  return isInt(value) ? Number(value) : undefined;
}

export function isTruthy(value: Value): boolean {
  if (typeof value === "object" && value !== null) {
    if (isList(value)) return value.length > 0;
    if (value instanceof PyFloat) return value.value !== 0;
    if (value instanceof PyTuple) return value.items.length > 0;
    if (value instanceof PyDict) return value.size > 0;
    if (value instanceof PyView) return value.dict.size > 0;
    if (value instanceof PyRange) return value.length > 0;
    return !(value instanceof PyUndefined);
  }
  return Boolean(value);
}

/** The items of an iterable; fails as Python does for what is none. A generator is used up. */
export function iterate(value: Value): Iterable<Value> {
  if (typeof value === "string") return value;
  const items = itemsOf(value);
  if (items === undefined) throw failure(`'${typeNameOf(value)}' object is not iterable`);
  return items;
}

function itemsOf(value: Value): readonly Value[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (isList(value)) return value;
  if (value instanceof PyTuple) return value.items;
  if (value instanceof PyDict) return value.keys();
  if (value instanceof PyView || value instanceof PyRange) return value.items();
  if (value instanceof PyIterator) return value.drain();
  return value instanceof PyUndefined ? [] : undefined;
}

export function isIterable(value: Value): boolean {
  return (
    typeof value === "string" ||
    isList(value) ||
    value instanceof PyTuple ||
    value instanceof PyDict ||
    value instanceof PyView ||
    value instanceof PyRange ||
    value instanceof PyIterator ||
    value instanceof PyUndefined
  );
}

/** Python's `len(x)`, or undefined where it has none. */
export function lengthOf(value: Value): number | undefined {
  if (typeof value === "string") return codePointLength(value);
  if (typeof value !== "object" || value === null) return undefined;
  if (isList(value)) return value.length;
  if (value instanceof PyTuple) return value.items.length;
  if (value instanceof PyDict) return value.size;
  if (value instanceof PyView) return value.dict.size;
  if (value instanceof PyRange) return value.length;
  return value instanceof PyUndefined ? 0 : undefined;
}

/** Whether positions in the text differ from its UTF-16 units. */
export function hasSurrogates(text: string): boolean {
  return /[\ud800-\udfff]/.test(text);
}

export function codePointLength(text: string): number {
  if (!hasSurrogates(text)) return text.length;
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** What a key is stored under: equal keys of Python give the same. */
function hashKey(key: Value): unknown {
  if (typeof key === "string") return key.startsWith("\0") ? `\0s${key}` : key;
  if (typeof key === "boolean") return Number(key);
  if (typeof key !== "object" || key === null) return key;
  if (key instanceof PyFloat) return key.value;
  if (key instanceof PyTuple) {
    return `\0t${key.items.map((item) => `${typeof hashKey(item)}:${String(hashKey(item))}`).join("\0,")}`;
  }
  const isSetLike = key instanceof PyView && key.typeName !== "dict_values";
  if (isList(key) || key instanceof PyDict || isSetLike) {
    throw failure(`unhashable type: '${typeNameOf(key)}'`);
  }
  return key;
}

/** JSON-like data of JavaScript as Python values. An integral number is an int; undefined members are left out. */
export function toValue(input: unknown): Value {
  switch (typeof input) {
    case "string":
    case "boolean":
      return input;
    case "number":
      return numberToValue(input);
    case "bigint":
      return normalizeInt(input);
    case "object": {
      if (input === null) return null;
      if (input instanceof PyObject) return input;
      if (Array.isArray(input)) return input.map(toValue);
      const dict = new PyDict();
      for (const [key, member] of Object.entries(input)) {
        if (member !== undefined) dict.set(key, toValue(member));
      }
      return dict;
    }
    case "undefined":
    case "function":
    case "symbol":
      return null;
  }
}

function numberToValue(input: number): Value {
  if (Number.isSafeInteger(input)) return input === 0 ? 0 : input;
  // JSON.parse has lost the difference; below 1e21 JSON writes such a number as an integer.
  if (Number.isInteger(input) && Math.abs(input) < 1e21) return BigInt(input);
  return new PyFloat(input);
}
