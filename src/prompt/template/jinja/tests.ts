import { applyBinary } from "./arithmetic.ts";
import { compareValues, contains, failIfUndefined, isEqual } from "./comparison.ts";
import { failure } from "./failure.ts";
import { toText } from "./python-text.ts";
import { isLower, isUpper } from "./string-predicates.ts";
import {
  PyDict,
  PyFloat,
  PyFunction,
  PyRange,
  PyRecord,
  PyTuple,
  PyUndefined,
  isInt,
  isIterable,
  isList,
  orElse,
} from "./values.ts";
import type { Value } from "./values.ts";

type Test = (value: Value, argument: Value) => boolean;

function order(holds: (difference: number) => boolean, operator: string): Test {
  return (value, argument) => holds(compareValues(value, argument, operator));
}

const equal: Test = (value, argument) => isEqual(value, argument);
const greater = order((difference) => difference > 0, ">");
const atLeast = order((difference) => difference >= 0, ">=");
const less = order((difference) => difference < 0, "<");
const atMost = order((difference) => difference <= 0, "<=");
const differs: Test = (value, argument) => !isEqual(value, argument);

/** Whether `value % divisor` is `remainder`. */
function leaves(value: Value, divisor: Value, remainder: number): boolean {
  return isEqual(applyBinary("%", value, divisor), remainder);
}

function isCallable(value: Value): boolean {
  return (
    value instanceof PyFunction ||
    value instanceof PyUndefined ||
    (value instanceof PyRecord && value.call !== undefined)
  );
}

/** Jinja's tests by name. */
const TESTS: ReadonlyMap<string, Test> = new Map<string, Test>([
  ["boolean", (value) => typeof value === "boolean"],
  ["callable", isCallable],
  ["defined", (value) => !(value instanceof PyUndefined)],
  ["divisibleby", (value, argument) => leaves(value, argument, 0)],
  ["escaped", () => false],
  ["even", (value) => leaves(value, 2, 0)],
  ["odd", (value) => leaves(value, 2, 1)],
  ["false", (value) => value === false],
  ["true", (value) => value === true],
  ["float", (value) => value instanceof PyFloat],
  ["in", (value, argument) => contains(argument, value)],
  ["integer", (value) => isInt(value) && typeof value !== "boolean"],
  ["iterable", isIterable],
  ["lower", (value) => isLower(toText(value))],
  ["upper", (value) => isUpper(toText(value))],
  ["mapping", (value) => value instanceof PyDict],
  ["none", (value) => value === null],
  ["number", (value) => isInt(value) || value instanceof PyFloat],
  ["sameas", (value, argument) => isSame(value, argument)],
  [
    "sequence",
    (value) =>
      typeof value === "string" ||
      isList(value) ||
      value instanceof PyTuple ||
      value instanceof PyDict ||
      value instanceof PyRange ||
      value instanceof PyUndefined,
  ],
  ["string", (value) => typeof value === "string"],
  ["undefined", (value) => value instanceof PyUndefined],
  ["eq", equal],
  ["equalto", equal],
  ["==", equal],
  ["ne", differs],
  ["!=", differs],
  ["gt", greater],
  ["greaterthan", greater],
  [">", greater],
  ["ge", atLeast],
  [">=", atLeast],
  ["lt", less],
  ["lessthan", less],
  ["<", less],
  ["le", atMost],
  ["<=", atMost],
]);

/** Identity: objects by reference, small values by type and value. */
function isSame(value: Value, argument: Value): boolean {
  return value === argument;
}

/** Applies a test by name; fails for an unknown one. */
export function applyTest(name: string, value: Value, args: readonly Value[]): boolean {
  const test = TESTS.get(name);
  if (test === undefined) throw failure(`No test named '${name}'.`);
  const argument = orElse(args[0], null);
  if (args.length === 0 && test.length > 1) {
    throw failure(`the test '${name}' misses its argument`);
  }
  if (name === "divisibleby" || name === "even" || name === "odd") failIfUndefined(value, argument);
  return test(value, argument);
}
