import { NO_CALL_ARGUMENTS } from "./arguments.ts";
import { applyBinary, applySign } from "./arithmetic.ts";
import type { ArgumentList, CompareOperator, Expression } from "./ast.ts";
import { PySlice, getAttribute, getItem } from "./attributes.ts";
import { compareValues, contains, isEqual } from "./comparison.ts";
import { failure } from "./failure.ts";
import { FILTERS } from "./filters.ts";
import { checkSize } from "./limits.ts";
import { toText } from "./python-text.ts";
import type { Scope } from "./scope.ts";
import { applyTest } from "./tests.ts";
import {
  PyDict,
  PyFunction,
  PyRecord,
  PyTuple,
  PyUndefined,
  isTruthy,
  iterate,
  typeNameOf,
} from "./values.ts";
import type { CallArguments, Value } from "./values.ts";

/** An expression made ready: gives its value in a scope. */
export type Evaluate = (scope: Scope) => Value;

type ExpressionOf<Kind extends Expression["kind"] = Expression["kind"]> = {
  [Each in Kind]: Extract<Expression, { kind: Each }>;
}[Kind];

type Compilers = {
  readonly [Kind in Expression["kind"]]: (node: ExpressionOf<Kind>) => Evaluate;
};

const COMPILERS: Compilers = {
  name:
    ({ name }) =>
    (scope) =>
      scope.lookUp(name),
  const:
    ({ value }) =>
    () =>
      value,
  tuple: ({ items }) => {
    const evaluate = compileAll(items);
    return (scope) => new PyTuple(evaluate(scope));
  },
  list: ({ items }) => compileAll(items),
  dict: ({ items }) => {
    const pairs = items.map(
      ([key, value]) => [compileExpression(key), compileExpression(value)] as const,
    );
    return (scope) => {
      const dict = new PyDict();
      for (const [key, value] of pairs) dict.set(key(scope), value(scope));
      return dict;
    };
  },
  condition: ({ test, consequent, otherwise, line }) => {
    const [holds, first] = [compileExpression(test), compileExpression(consequent)];
    const second = otherwise === null ? undefined : compileExpression(otherwise);
    const message = `the inline if-expression on line ${String(line)} evaluated to false and no else section was defined.`;
    return (scope) => {
      if (isTruthy(holds(scope))) return first(scope);
      return second === undefined ? new PyUndefined(message) : second(scope);
    };
  },
  and: ({ left, right }) => {
    const [first, second] = [compileExpression(left), compileExpression(right)];
    return (scope) => {
      const value = first(scope);
      return isTruthy(value) ? second(scope) : value;
    };
  },
  or: ({ left, right }) => {
    const [first, second] = [compileExpression(left), compileExpression(right)];
    return (scope) => {
      const value = first(scope);
      return isTruthy(value) ? value : second(scope);
    };
  },
  not: ({ operand }) => {
    const evaluate = compileExpression(operand);
    return (scope) => !isTruthy(evaluate(scope));
  },
  compare: ({ first, rest }) => {
    const start = compileExpression(first);
    const links = rest.map(({ operator, operand }) => ({
      operator,
      evaluate: compileExpression(operand),
    }));
    return (scope) => {
      let left = start(scope);
      for (const { operator, evaluate } of links) {
        const right = evaluate(scope);
        if (!compare(operator, left, right)) return false;
        left = right;
      }
      return true;
    };
  },
  binary: ({ operator, left, right }) => {
    const [first, second] = [compileExpression(left), compileExpression(right)];
    return (scope) => applyBinary(operator, first(scope), second(scope));
  },
  concat: ({ items }) => {
    const evaluate = compileAll(items);
    return (scope) => {
      const texts = evaluate(scope).map(toText);
      checkSize(texts.reduce((sum, text) => sum + text.length, 0));
      return texts.join("");
    };
  },
  sign: ({ operator, operand }) => {
    const evaluate = compileExpression(operand);
    return (scope) => applySign(operator, evaluate(scope));
  },
  attribute: ({ object, name }) => {
    const evaluate = compileExpression(object);
    return (scope) => getAttribute(evaluate(scope), name);
  },
  item: ({ object, key }) => {
    const [container, index] = [compileExpression(object), compileExpression(key)];
    return (scope) => getItem(container(scope), index(scope));
  },
  slice: ({ start, stop, step }) => {
    const compileBound = (bound: Expression | null): Evaluate =>
      bound === null ? () => null : compileExpression(bound);
    const [first, last, stride] = [compileBound(start), compileBound(stop), compileBound(step)];
    return (scope) => new PySlice(first(scope), last(scope), stride(scope));
  },
  call: ({ callee, args }) => {
    const [evaluate, argumentsOf] = [compileExpression(callee), compileArguments(args)];
    return (scope) => {
      scope.budget.step();
      return callValue(evaluate(scope), argumentsOf(scope));
    };
  },
  filter: ({ name, operand, args }) => {
    const filter = compileFilter(name, args);
    const evaluate = operand === null ? undefined : compileExpression(operand);
    if (evaluate === undefined)
      throw new TypeError("a filter of a block is compiled with its body");
    return (scope) => filter(evaluate(scope), scope);
  },
  test: ({ name, operand, args }) => {
    const [evaluate, argumentsOf] = [compileExpression(operand), compileArguments(args)];
    if (name === "filter" || name === "test") return compileNameTest(name, evaluate);
    return (scope) => applyTest(name, evaluate(scope), argumentsOf(scope).positional);
  },
};

function compileNameTest(name: "filter" | "test", evaluate: Evaluate): Evaluate {
  return (scope) => {
    const wanted = toText(evaluate(scope));
    if (name === "filter") return FILTERS.has(wanted);
    try {
      applyTest(wanted, null, [null]);
      return true;
    } catch (error) {
      return !(error instanceof Error && error.message.startsWith("No test named"));
    }
  };
}

export function compileExpression<Kind extends Expression["kind"]>(
  node: ExpressionOf<Kind>,
): Evaluate {
  const kind: Kind = node.kind;
  return COMPILERS[kind](node);
}

function compileAll(nodes: readonly Expression[]): (scope: Scope) => Value[] {
  const evaluators = nodes.map(compileExpression);
  return (scope) => evaluators.map((evaluate) => evaluate(scope));
}

function compileArguments(args: ArgumentList): (scope: Scope) => CallArguments {
  const positional = compileAll(args.positional);
  const named = args.named.map(({ key, value }) => ({ key, evaluate: compileExpression(value) }));
  const spread = args.spread === null ? undefined : compileExpression(args.spread);
  const namedSpread = args.namedSpread === null ? undefined : compileExpression(args.namedSpread);
  if (args.positional.length + named.length === 0 && !spread && !namedSpread) {
    return () => NO_CALL_ARGUMENTS;
  }
  return (scope) => {
    const values = positional(scope);
    if (spread !== undefined) values.push(...iterate(spread(scope)));
    const byName = new Map<string, Value>();
    for (const { key, evaluate } of named) byName.set(key, evaluate(scope));
    if (namedSpread !== undefined) addNamed(byName, namedSpread(scope));
    return { positional: values, named: byName };
  };
}

function addNamed(named: Map<string, Value>, mapping: Value): void {
  if (!(mapping instanceof PyDict)) {
    throw failure(`argument after ** must be a mapping, not ${typeNameOf(mapping)}`);
  }
  for (const [key, value] of mapping.entries()) {
    if (typeof key !== "string") throw failure("keywords must be strings");
    named.set(key, value);
  }
}

/** A filter with its arguments, ready to be applied. */
export function compileFilter(
  name: string,
  args: ArgumentList,
): (value: Value, scope: Scope) => Value {
  const argumentsOf = compileArguments(args);
  const filter = FILTERS.get(name);
  return (value, scope) => {
    if (filter === undefined) throw failure(`No filter named '${name}'.`);
    return filter(value, argumentsOf(scope));
  };
}

function callValue(callee: Value, args: CallArguments): Value {
  if (callee instanceof PyFunction) return callee.call(args);
  if (callee instanceof PyRecord && callee.call !== undefined) return callee.call(args);
  if (callee instanceof PyUndefined) throw failure(callee.message);
  throw failure(`'${typeNameOf(callee)}' object is not callable`);
}

function compare(operator: CompareOperator, left: Value, right: Value): boolean {
  switch (operator) {
    case "==":
      return isEqual(left, right);
    case "!=":
      return !isEqual(left, right);
    case "<":
      return compareValues(left, right, operator) < 0;
    case "<=":
      return compareValues(left, right, operator) <= 0;
    case ">":
      return compareValues(left, right, operator) > 0;
    case ">=":
      return compareValues(left, right, operator) >= 0;
    case "in":
      return contains(right, left);
    case "not in":
      return !contains(right, left);
  }
}
