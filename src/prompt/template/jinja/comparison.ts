import { failure } from "./failure.ts";
import { PyDict, PyFloat, PyRange, PyTuple, PyUndefined, PyView } from "./values.ts";
import {
  asNumber,
  hasSurrogates,
  isInt,
  isIterable,
  isList,
  iterate,
  toInt,
  typeNameOf,
} from "./values.ts";
import type { Value } from "./values.ts";

/** Python's `==`. */
export function isEqual(left: Value, right: Value): boolean {
  if (left === right) return true;
  if (typeof left === "string" || typeof right === "string") return false;
  const leftNumber = numeric(left);
  const rightNumber = numeric(right);
  if (leftNumber !== undefined && rightNumber !== undefined) {
    // Loosely, so that an int beyond 2^53 compares exactly with a float.
    return compareNumbers(leftNumber, rightNumber) === 0;
  }
  if (left === null || right === null || typeof left !== "object" || typeof right !== "object") {
    return false;
  }
  return isEqualObject(left, right);
}

function isEqualObject(left: Value, right: Value): boolean {
  const items = sequenceItems(left);
  const others = sequenceItems(right);
  if (items !== undefined && others !== undefined) {
    return isList(left) === isList(right) && areEqual(items, others);
  }
  if (left instanceof PyDict && right instanceof PyDict) return isEqualDict(left, right);
  if (left instanceof PyRange && right instanceof PyRange) {
    return areEqual(left.items(), right.items());
  }
  if (left instanceof PyView && right instanceof PyView) return isEqualView(left, right);
  return left instanceof PyUndefined && right instanceof PyUndefined;
}

function isEqualDict(left: PyDict, right: PyDict): boolean {
  if (left.size !== right.size) return false;
  for (const [key, member] of left.entries()) {
    const other = right.get(key);
    if (other === undefined || !isEqual(member, other)) return false;
  }
  return true;
}

/** Views compare as sets do; a view of values equals only itself. */
function isEqualView(left: PyView, right: PyView): boolean {
  if (left.typeName === "dict_values" || left.dict.size !== right.dict.size) return false;
  const others = right.items();
  return left.items().every((item) => others.some((other) => isEqual(item, other)));
}

function areEqual(left: readonly Value[], right: readonly Value[]): boolean {
  return (
    left.length === right.length &&
    left.every((item, index) => {
      const other = right[index];
      return other !== undefined && isEqual(item, other);
    })
  );
}

function sequenceItems(value: Value): readonly Value[] | undefined {
  if (isList(value)) return value;
  return value instanceof PyTuple ? value.items : undefined;
}

function numeric(value: Value): number | bigint | undefined {
  if (value instanceof PyFloat) return value.value;
  return isInt(value) ? toInt(value) : undefined;
}

function compareNumbers(left: number | bigint, right: number | bigint): number {
  if (left < right) return -1;
  if (left > right) return 1;
  // oxlint-disable-next-line eqeqeq -- the only comparison of a bigint with a number
  return left == right ? 0 : Number.NaN;
}

/**
 * Less than zero, zero, or more: Python's order of two values (NaN: neither). Fails for what Python cannot order.
 */
export function compareValues(left: Value, right: Value, operator = "<"): number {
  if (typeof left === "string" && typeof right === "string") return compareText(left, right);
  const leftNumber = numeric(left);
  const rightNumber = numeric(right);
  if (leftNumber !== undefined && rightNumber !== undefined) {
    return compareNumbers(leftNumber, rightNumber);
  }
  const items = sequenceItems(left);
  const others = sequenceItems(right);
  if (items !== undefined && others !== undefined && isList(left) === isList(right)) {
    return compareSequences(items, others, operator);
  }
  failIfUndefined(left, right);
  throw failure(
    `'${operator}' not supported between instances of '${typeNameOf(left)}' and '${typeNameOf(right)}'`,
  );
}

function compareSequences(
  left: readonly Value[],
  right: readonly Value[],
  operator: string,
): number {
  for (const [index, item] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (!isEqual(item, other)) return compareValues(item, other, operator);
  }
  return left.length - right.length;
}

/** By code points, as Python does; JavaScript's own order goes by UTF-16 units. */
function compareText(left: string, right: string): number {
  if (left === right) return 0;
  if (!hasSurrogates(left) && !hasSurrogates(right)) return left < right ? -1 : 1;
  const others = right[Symbol.iterator]();
  for (const character of left) {
    const other = others.next();
    if (other.done === true) return 1;
    const difference = (character.codePointAt(0) ?? 0) - (other.value.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return -1;
}

/** Python's `item in container`. */
export function contains(container: Value, item: Value): boolean {
  if (typeof container === "string") {
    if (typeof item === "string") return container.includes(item);
    throw failure(`'in <string>' requires string as left operand, not ${typeNameOf(item)}`);
  }
  if (container instanceof PyDict) return container.has(item);
  if (container instanceof PyRange) {
    const number = asNumber(item);
    return number !== undefined && container.items().includes(number);
  }
  if (!isIterable(container)) {
    throw failure(`argument of type '${typeNameOf(container)}' is not iterable`);
  }
  for (const member of iterate(container)) {
    if (isEqual(member, item)) return true;
  }
  return false;
}

/** Fails with the first undefined operand's own message. */
export function failIfUndefined(...operands: readonly Value[]): void {
  for (const operand of operands) {
    if (operand instanceof PyUndefined) throw failure(operand.message);
  }
}
