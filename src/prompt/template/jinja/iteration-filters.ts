import { BoundArguments } from "./arguments.ts";
import { applyBinary } from "./arithmetic.ts";
import { getItem, getPath } from "./attributes.ts";
import { compareValues, isEqual } from "./comparison.ts";
import { failure } from "./failure.ts";
import type { Filter, FilterSet } from "./filter.ts";
import { checkItems, checkSize } from "./limits.ts";
import { toText } from "./python-text.ts";
import { applyTest } from "./tests.ts";
import {
  PyDict,
  PyIterator,
  PyTuple,
  PyUndefined,
  PyView,
  isList,
  isTruthy,
  iterate,
  orElse,
  typeNameOf,
} from "./values.ts";
import type { CallArguments, Value } from "./values.ts";

type Key = (item: Value) => Value;

function lazily(items: Iterable<Value>): PyIterator {
  return new PyIterator(items[Symbol.iterator]());
}

/** The value that sorts: an attribute or the item, strings without their case. */
function keyOf(attribute: Value, caseSensitive: boolean): Key {
  const paths = typeof attribute === "string" ? attribute.split(",") : [attribute];
  const fold = (value: Value): Value =>
    typeof value === "string" && !caseSensitive ? value.toLowerCase() : value;
  if (attribute === null) return fold;
  const first = orElse(paths[0], null);
  if (paths.length === 1) return (item) => fold(getPath(item, first));
  return (item) => paths.map((path) => fold(getPath(item, path)));
}

/** Python's stable `sorted`. */
function sorted(items: Iterable<Value>, key: Key, reverse: boolean): Value[] {
  const keyed = Array.from(items, (item) => ({ item, key: key(item) }));
  keyed.sort((left, right) => {
    const difference = compareValues(left.key, right.key);
    return reverse ? -difference : difference;
  });
  return keyed.map(({ item }) => item);
}

function extreme(name: "min" | "max"): Filter {
  return (value, args) => {
    const bound = new BoundArguments(name, ["case_sensitive?", "attribute?"], args);
    const key = keyOf(bound.value("attribute", null), bound.flag("case_sensitive"));
    let best: { item: Value; key: Value } | undefined;
    for (const item of iterate(value)) {
      const candidate = { item, key: key(item) };
      const difference = best === undefined ? 0 : compareValues(candidate.key, best.key);
      if (best === undefined || (name === "min" ? difference < 0 : difference > 0))
        best = candidate;
    }
    return orElse(best?.item, new PyUndefined("No aggregated item, sequence was empty."));
  };
}

function uniqueItems(items: Iterable<Value>, key: Key): Value[] {
  const seen = new PyDict();
  const kept: Value[] = [];
  for (const item of items) {
    const mark = key(item);
    if (seen.has(mark)) continue;
    seen.set(mark, true);
    kept.push(item);
  }
  return kept;
}

/** `select` and `reject`, walking over the value only when their items are asked for: by a test, or by truth. */
function selection(keep: boolean): Filter {
  return (value, args) => {
    const [name, ...rest] = args.positional;
    return lazily(select(value, keep, (item) => passes(item, name, rest)));
  };
}

/** `selectattr` and `rejectattr`. */
function attributeSelection(keep: boolean): Filter {
  return (value, args) => {
    const [attribute, name, ...rest] = args.positional;
    if (attribute === undefined) throw failure("Missing parameter for attribute name");
    return lazily(select(value, keep, (item) => passes(getPath(item, attribute), name, rest)));
  };
}

function* select(value: Value, keep: boolean, holds: (item: Value) => boolean): Generator<Value> {
  if (!isTruthy(value)) return;
  for (const item of iterate(value)) if (holds(item) === keep) yield item;
}

function passes(value: Value, test: Value | undefined, args: readonly Value[]): boolean {
  if (test === undefined) return isTruthy(value);
  return applyTest(toText(test), value, args);
}

function* mapped(value: Value, convert: Key): Generator<Value> {
  if (!isTruthy(value)) return;
  for (const item of iterate(value)) yield convert(item);
}

/** `map(attribute=…, default=…)` or `map("filter", …)`. */
function mapFilter(filters: FilterSet): Filter {
  return (value, args) => {
    const [name, ...positional] = args.positional;
    const attribute = args.named.get("attribute");
    if (name === undefined && attribute !== undefined) {
      const fallback = args.named.get("default");
      return lazily(
        mapped(value, (item) => {
          const found = getPath(item, attribute);
          return found instanceof PyUndefined && fallback !== undefined ? fallback : found;
        }),
      );
    }
    if (name === undefined) throw failure("map requires a filter argument");
    const filter = filters.get(toText(name));
    if (filter === undefined) throw failure(`No filter named '${toText(name)}'.`);
    return lazily(mapped(value, (item) => filter(item, { positional, named: args.named })));
  };
}

function groupBy(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments("groupby", ["attribute", "default?", "case_sensitive?"], args);
  const attribute = bound.value("attribute", null);
  const fallback = bound.get("default");
  const caseSensitive = bound.flag("case_sensitive");
  const plainKey = (item: Value): Value => {
    const found = getPath(item, attribute);
    return found instanceof PyUndefined && fallback !== undefined ? fallback : found;
  };
  const key = (item: Value): Value => keyOf(null, caseSensitive)(plainKey(item));
  const groups: { key: Value; grouper: Value; items: Value[] }[] = [];
  for (const item of sorted(iterate(value), key, false)) {
    const itemKey = key(item);
    const last = groups.at(-1);
    if (last !== undefined && isEqual(last.key, itemKey)) last.items.push(item);
    else groups.push({ key: itemKey, grouper: plainKey(item), items: [item] });
  }
  return groups.map((group) => new PyTuple([group.grouper, group.items]));
}

function batch(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments("batch", ["linecount", "fill_with?"], args);
  const size = bound.int("linecount", 1);
  const fill = bound.value("fill_with", null);
  const rows: Value[][] = [];
  for (const item of iterate(value)) {
    const last = rows.at(-1);
    if (last === undefined || last.length === size) rows.push([item]);
    else last.push(item);
  }
  checkItems(size);
  const rest = size - (rows.at(-1)?.length ?? size);
  if (fill !== null) rows.at(-1)?.push(...Array.from({ length: Math.max(0, rest) }, () => fill));
  return lazily(rows);
}

function sliceFilter(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments("slice", ["slices", "fill_with?"], args);
  const count = bound.int("slices", 1);
  const fill = bound.value("fill_with", null);
  if (count === 0) throw failure("integer division or modulo by zero");
  const items = Array.from(iterate(value));
  const size = Math.floor(items.length / count);
  const longer = items.length % count;
  let start = 0;
  const columns: Value[][] = [];
  checkItems(count);
  for (let index = 0; index < count; index += 1) {
    const end = start + size + (index < longer ? 1 : 0);
    const column = items.slice(start, end);
    if (fill !== null && index >= longer) column.push(fill);
    columns.push(column);
    start = end;
  }
  return lazily(columns);
}

function dictSort(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments("dictsort", ["case_sensitive?", "by?", "reverse?"], args);
  const by = bound.text("by", "key");
  if (by !== "key" && by !== "value") {
    throw failure('You can only sort by either "key" or "value"');
  }
  if (!(value instanceof PyDict)) {
    throw failure(`'${typeNameOf(value)}' object has no attribute 'items'`);
  }
  const fold = keyOf(null, bound.flag("case_sensitive"));
  const position = by === "key" ? 0 : 1;
  return sorted(
    new PyView("dict_items", value).items(),
    (pair) => fold(getItem(pair, position)),
    bound.flag("reverse"),
  );
}

function join(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments("join", ["d?", "attribute?"], args);
  const attribute = bound.value("attribute", null);
  const separator = toText(bound.value("d", ""));
  const texts = Array.from(iterate(value), (item) =>
    toText(attribute === null ? item : getPath(item, attribute)),
  );
  checkSize(texts.reduce((sum, text) => sum + text.length + separator.length, 0));
  return texts.join(separator);
}

function sumFilter(value: Value, args: CallArguments): Value {
  const bound = new BoundArguments("sum", ["attribute?", "start?"], args);
  const attribute = bound.value("attribute", null);
  let total = bound.value("start", 0);
  for (const item of iterate(value)) {
    total = applyBinary("+", total, attribute === null ? item : getPath(item, attribute));
  }
  return total;
}

function reverseFilter(value: Value): Value {
  if (typeof value === "string") return Array.from(value).toReversed().join("");
  const items = Array.from(iterate(value)).toReversed();
  return new PyIterator(
    items[Symbol.iterator](),
    isList(value) ? "list_reverseiterator" : "reversed",
  );
}

function firstFilter(value: Value): Value {
  const nothing = new PyUndefined("No first item, sequence was empty.");
  if (value instanceof PyIterator) return orElse(value.next(), nothing);
  for (const item of iterate(value)) return item;
  return nothing;
}

function lastFilter(value: Value): Value {
  if (value instanceof PyIterator) throw failure(`'${value.typeName}' object is not reversible`);
  const nothing = new PyUndefined("No last item, sequence was empty.");
  return orElse(Array.from(iterate(value)).at(-1), nothing);
}

/** The filters that walk over their operand; `filters` are all, for `map`. */
export function iterationFilters(filters: FilterSet): [string, Filter][] {
  return [
    ["batch", batch],
    ["dictsort", dictSort],
    ["first", firstFilter],
    ["groupby", groupBy],
    ["join", join],
    ["last", lastFilter],
    ["list", (value) => Array.from(iterate(value))],
    ["map", mapFilter(filters)],
    ["max", extreme("max")],
    ["min", extreme("min")],
    ["reject", selection(false)],
    ["rejectattr", attributeSelection(false)],
    ["reverse", reverseFilter],
    ["select", selection(true)],
    ["selectattr", attributeSelection(true)],
    ["slice", sliceFilter],
    [
      "sort",
      (value, args) => {
        const bound = new BoundArguments(
          "sort",
          ["reverse?", "case_sensitive?", "attribute?"],
          args,
        );
        const key = keyOf(bound.value("attribute", null), bound.flag("case_sensitive"));
        return sorted(iterate(value), key, bound.flag("reverse"));
      },
    ],
    ["sum", sumFilter],
    [
      "unique",
      (value, args) => {
        const bound = new BoundArguments("unique", ["case_sensitive?", "attribute?"], args);
        const key = keyOf(bound.value("attribute", null), bound.flag("case_sensitive"));
        return lazily(uniqueItems(iterate(value), key));
      },
    ],
  ];
}
