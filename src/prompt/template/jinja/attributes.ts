import { BoundArguments, expectNoArguments } from "./arguments.ts";
import { failIfUndefined, isEqual } from "./comparison.ts";
import { failure } from "./failure.ts";
import { toRepr, toText } from "./python-text.ts";
import { formatBraces } from "./string-format.ts";
import { STRING_METHODS } from "./string-methods.ts";
import {
  PyDict,
  PyFloat,
  PyFunction,
  PyNamespace,
  PyRange,
  PyRecord,
  PyTuple,
  PyUndefined,
  PyView,
  hasSurrogates,
  isInt,
  isList,
  iterate,
  orElse,
  toInt,
  typeNameOf,
} from "./values.ts";
import type { CallArguments, Value } from "./values.ts";

/** Methods that Jinja's immutable sandbox forbids, by type. */
const UNSAFE: Readonly<Record<string, readonly string[]>> = {
  dict: ["clear", "pop", "popitem", "setdefault", "update"],
  list: ["append", "clear", "pop", "reverse", "insert", "sort", "extend", "remove"],
};

/** Jinja's `object.name`: the attribute, else the item, else undefined. */
export function getAttribute(object: Value, name: string): Value {
  failIfUndefined(object);
  const attribute = attributeOf(object, name);
  if (attribute !== undefined) return attribute;
  const item = object instanceof PyDict ? object.get(name) : undefined;
  return item === undefined ? missing(object, name) : item;
}

/** Jinja's `object[key]`: the item, else for a string the attribute, else undefined. */
export function getItem(object: Value, key: Value): Value {
  failIfUndefined(object);
  const item = itemOf(object, key);
  if (item !== undefined) return item;
  const attribute = typeof key === "string" ? attributeOf(object, key) : undefined;
  return attribute === undefined ? missing(object, key) : attribute;
}

function missing(object: Value, key: Value): PyUndefined {
  const type = object === null ? "None" : `${qualifiedType(object)} object`;
  return new PyUndefined(
    typeof key === "string"
      ? `'${type}' has no attribute ${toRepr(key)}`
      : `${type} has no element ${toRepr(key)}`,
  );
}

function qualifiedType(object: Value): string {
  const name = typeNameOf(object);
  if (object instanceof PyNamespace) return `jinja2.utils.${name}`;
  return object instanceof PyRecord ? `jinja2.runtime.${name}` : name;
}

function attributeOf(object: Value, name: string): Value | undefined {
  if (UNSAFE[typeNameOf(object)]?.includes(name) === true) {
    const message = `access to attribute ${toRepr(name)} of ${toRepr(typeNameOf(object))} object is unsafe.`;
    return new PyUndefined(message);
  }
  if (typeof object === "string") return stringAttribute(object, name);
  if (object instanceof PyDict) return dictMethod(object, name);
  if (isList(object)) {
    return name === "copy" ? method(name, () => object.slice()) : sequenceMethod(object, name);
  }
  if (object instanceof PyTuple) return sequenceMethod(object.items, name);
  if (object instanceof PyRange) return sequenceMethod(object.items(), name);
  if (object instanceof PyNamespace) return object.attributes.get(name);
  if (object instanceof PyRecord) return object.attribute(name);
  if (object instanceof PyFloat && name === "is_integer") {
    return method(name, () => Number.isInteger(object.value));
  }
  return object instanceof PyFunction && name === "name" ? object.name : undefined;
}

function method(name: string, call: (args: CallArguments) => Value): PyFunction {
  return new PyFunction(name, call, "builtin_function_or_method");
}

function stringAttribute(text: string, name: string): Value | undefined {
  if (name === "format") {
    return method(name, (args) =>
      formatBraces(text, args, (object, key, isItem) =>
        isItem ? getItem(object, key) : getAttribute(object, toText(key)),
      ),
    );
  }
  if (name === "format_map") {
    return method(name, (args) => {
      const mapping = new BoundArguments(name, ["mapping"], args).value("mapping", null);
      const named = new Map<string, Value>();
      if (mapping instanceof PyDict) {
        for (const [key, value] of mapping.entries()) {
          if (typeof key === "string") named.set(key, value);
        }
      }
      return formatBraces(text, { positional: [], named }, getItem);
    });
  }
  const implementation = STRING_METHODS.get(name);
  return implementation && method(name, (args) => implementation(text, args));
}

function dictMethod(dict: PyDict, name: string): Value | undefined {
  switch (name) {
    case "keys":
    case "values":
    case "items":
      return method(name, (args) => {
        expectNoArguments(`dict.${name}`, args);
        return new PyView(`dict_${name}`, dict);
      });
    case "get":
      return method(name, (args) => {
        const bound = new BoundArguments(name, ["key", "default?"], args);
        return orElse(dict.get(bound.value("key", null)), bound.value("default", null));
      });
    case "copy":
      return method(name, () => {
        const copy = new PyDict();
        for (const [key, value] of dict.entries()) copy.set(key, value);
        return copy;
      });
    default:
      return undefined;
  }
}

function sequenceMethod(items: readonly Value[], name: string): Value | undefined {
  switch (name) {
    case "index":
      return method(name, (args) => {
        const wanted = new BoundArguments(name, ["value"], args).value("value", null);
        const index = items.findIndex((item) => isEqual(item, wanted));
        if (index === -1) throw failure("the value is not in list");
        return index;
      });
    case "count":
      return method(name, (args) => {
        const wanted = new BoundArguments(name, ["value"], args).value("value", null);
        return items.filter((item) => isEqual(item, wanted)).length;
      });
    default:
      return undefined;
  }
}

/** Python's `object[key]`; undefined where it raises a TypeError or LookupError. */
function itemOf(object: Value, key: Value): Value | undefined {
  if (key instanceof PySlice) return sliceOf(object, key);
  if (object instanceof PyDict) return isHashable(key) ? object.get(key) : undefined;
  if (!isInt(key)) return undefined;
  const index = Number(toInt(key));
  if (typeof object === "string") return characterAt(object, index);
  if (isList(object)) return object.at(index);
  if (object instanceof PyTuple) return object.items.at(index);
  if (object instanceof PyRange) {
    const position = index < 0 ? index + object.length : index;
    return position >= 0 && position < object.length ? object.at(position) : undefined;
  }
  return undefined;
}

function isHashable(key: Value): boolean {
  if (key instanceof PyTuple) return key.items.every(isHashable);
  return !isList(key) && !(key instanceof PyDict);
}

function characterAt(text: string, index: number): string | undefined {
  if (!hasSurrogates(text)) return text.at(index);
  return Array.from(text).at(index);
}

/** `start:stop:step` as a key. */
export class PySlice extends PyRecord {
  readonly start: number | undefined;
  readonly stop: number | undefined;
  readonly step: number;

  constructor(start: Value, stop: Value, step: Value) {
    super("slice", () => undefined);
    this.start = sliceIndex(start);
    this.stop = sliceIndex(stop);
    this.step = sliceIndex(step) ?? 1;
    if (this.step === 0) throw failure("slice step cannot be zero");
  }
}

function sliceIndex(value: Value): number | undefined {
  if (value === null) return undefined;
  if (isInt(value)) return Number(value);
  throw failure("slice indices must be integers or None or have an __index__ method");
}

/** Python's `object[start:stop:step]`; unlike other keys, Jinja does not make undefined of its failure. */
function sliceOf(object: Value, slice: PySlice): Value {
  if (typeof object === "string") {
    if (!hasSurrogates(object) && slice.step === 1) {
      return object.slice(...bounds(slice, object.length));
    }
    return takeSlice(Array.from(object), slice).join("");
  }
  if (isList(object)) return takeSlice(object, slice);
  if (object instanceof PyTuple) return new PyTuple(takeSlice(object.items, slice));
  if (object instanceof PyRange) {
    const [start, stop] = bounds(slice, object.length);
    return new PyRange(object.at(start), object.at(stop), object.step * slice.step);
  }
  throw failure(
    object instanceof PyDict
      ? "unhashable type: 'slice'"
      : `'${typeNameOf(object)}' object is not subscriptable`,
  );
}

/** First position and the one after the last, in the direction of the step. */
function bounds(slice: PySlice, length: number): [number, number] {
  const lowest = slice.step > 0 ? 0 : -1;
  const highest = slice.step > 0 ? length : length - 1;
  const clamp = (index: number | undefined, absent: number): number => {
    if (index === undefined) return absent;
    return Math.min(Math.max(index < 0 ? index + length : index, lowest), highest);
  };
  const [first, last] = slice.step > 0 ? [0, length] : [length - 1, -1];
  const start = clamp(slice.start, first);
  const stop = clamp(slice.stop, last);
  return slice.step > 0 ? [start, Math.max(start, stop)] : [start, stop];
}

function takeSlice<Item>(items: readonly Item[], slice: PySlice): Item[] {
  const [start, stop] = bounds(slice, items.length);
  if (slice.step === 1) return items.slice(start, stop);
  const taken: Item[] = [];
  const limit = stop * Math.sign(slice.step);
  for (let index = start; index * Math.sign(slice.step) < limit; index += slice.step) {
    const item = items[index];
    if (item !== undefined) taken.push(item);
  }
  return taken;
}

/** Jinja's way to name an attribute in filters: `a.b.0`, or an int. */
export function getPath(object: Value, path: Value): Value {
  if (isInt(path)) return getItem(object, path);
  if (typeof path !== "string") return getItem(object, path);
  let value = object;
  for (const name of path.split(".")) {
    value = getItem(value, /^\d+$/.test(name) ? Number(name) : name);
  }
  return value;
}

/** `dict(mapping_or_pairs, **named)` as entries. */
export function dictEntries(args: CallArguments): Map<Value, Value> {
  const entries = new Map<Value, Value>();
  const source = args.positional[0];
  if (source instanceof PyDict) {
    for (const [key, value] of source.entries()) entries.set(key, value);
  } else if (source !== undefined) {
    for (const pair of iterate(source)) {
      const [key, value, ...rest] = iterate(pair);
      if (key === undefined || value === undefined || rest.length > 0) {
        throw failure("dictionary update sequence element has the wrong length; 2 is required");
      }
      entries.set(key, value);
    }
  }
  for (const [key, value] of args.named) entries.set(key, value);
  return entries;
}
