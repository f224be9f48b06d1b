import { BoundArguments } from "./arguments.ts";
import { dictEntries } from "./attributes.ts";
import { TemplateFailure, failure } from "./failure.ts";
import { createCycler, createJoiner } from "./loop.ts";
import { toText } from "./python-text.ts";
import { formatTime } from "./strftime.ts";
import { PyDict, PyFunction, PyNamespace, PyRange, isInt, typeNameOf } from "./values.ts";
import type { Callable, Value } from "./values.ts";

/** The sandbox's own limit. */
const MAX_RANGE = 100_000;

const range: Callable = ({ positional }) => {
  const [first = 0, second, step = 1] = positional.map((value) => {
    if (isInt(value)) return Number(value);
    throw failure(`'${typeNameOf(value)}' object cannot be interpreted as an integer`);
  });
  if (step === 0) throw failure("range() arg 3 must not be zero");
  const result = second === undefined ? new PyRange(0, first, 1) : new PyRange(first, second, step);
  if (result.length > MAX_RANGE) {
    throw failure(
      `Range too big. The sandbox blocks ranges larger than MAX_RANGE (${String(MAX_RANGE)}).`,
    );
  }
  return result;
};

const dict: Callable = (args) => {
  const result = new PyDict();
  for (const [key, value] of dictEntries(args)) result.set(key, value);
  return result;
};

const namespace: Callable = (args) => {
  const result = new PyNamespace();
  for (const [key, value] of dictEntries(args)) result.attributes.set(toText(key), value);
  return result;
};

const raiseException: Callable = (args) => {
  const message = new BoundArguments("raise_exception", ["message"], args).value("message", "");
  throw new TemplateFailure("raised", toText(message));
};

/** What every template can call: Jinja's globals and Hugging Face's. `now` is what `strftime_now` reads. */
export function createGlobals(now: Date): ReadonlyMap<string, Value> {
  const functions: Readonly<Record<string, Callable>> = {
    range,
    dict,
    namespace,
    raise_exception: raiseException,
    cycler: ({ positional }) => createCycler(positional),
    joiner: createJoiner,
    strftime_now: (args) =>
      formatTime(now, new BoundArguments("strftime_now", ["format"], args).text("format")),
  };
  return new Map(
    Object.entries(functions).map(([name, call]) => [name, new PyFunction(name, call)]),
  );
}
