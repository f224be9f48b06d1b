import type { Body, Expression, Parameter, Statement, Target } from "./ast.ts";
import { compileExpression, compileFilter } from "./compile-expression.ts";
import type { Evaluate } from "./compile-expression.ts";
import { failure } from "./failure.ts";
import { Loop } from "./loop.ts";
import { createMacro } from "./macro.ts";
import { toText } from "./python-text.ts";
import { Budget, Output, Scope } from "./scope.ts";
import type { PyFunction } from "./values.ts";
import { PyNamespace, isIterable, isTruthy, iterate, orElse, typeNameOf } from "./values.ts";
import type { Value } from "./values.ts";

/** How a statement ended: loop controls go up to their loop. */
type Signal = "break" | "continue" | undefined;

/** A statement made ready: prints into `output`. */
type Execute = (scope: Scope, output: Output) => Signal;

type StatementOf<Kind extends Statement["kind"] = Statement["kind"]> = {
  [Each in Kind]: Extract<Statement, { kind: Each }>;
}[Kind];

type Compilers = {
  readonly [Kind in Statement["kind"]]: (node: StatementOf<Kind>) => Execute;
};

const COMPILERS: Compilers = {
  text:
    ({ text }) =>
    (_scope, output) => {
      output.write(text);
      return undefined;
    },
  output: ({ value }) => {
    const evaluate = compileExpression(value);
    return (scope, output) => {
      output.write(toText(evaluate(scope)));
      return undefined;
    };
  },
  if: ({ branches, otherwise }) => {
    const compiled = branches.map(({ test, body }) => ({
      holds: compileExpression(test),
      run: compileBody(body),
    }));
    const last = compileBody(otherwise);
    return (scope, output) => {
      const branch = compiled.find(({ holds }) => isTruthy(holds(scope)));
      return (branch?.run ?? last)(scope, output);
    };
  },
  for: compileFor,
  set: ({ target, value }) => {
    const [assign, evaluate] = [compileTarget(target), compileExpression(value)];
    return (scope) => {
      assign(scope, evaluate(scope));
      return undefined;
    };
  },
  "set-block": ({ target, filter, body }) => {
    const [assign, render, convert] = [
      compileTarget(target),
      compileCapture(body),
      compileBlockFilter(filter),
    ];
    return (scope) => {
      assign(scope, convert(render(scope.child()), scope));
      return undefined;
    };
  },
  macro: ({ name, parameters, body }) => {
    const define = compileMacro(name, parameters, body);
    return (scope) => {
      scope.set(name, define(scope));
      return undefined;
    };
  },
  "call-block": ({ parameters, call, body }) => {
    const define = compileMacro("None", parameters, body);
    const callee = compileExpression({
      ...call,
      args: { ...call.args, named: [...call.args.named, { key: "caller", value: CALLER }] },
    });
    return (scope, output) => {
      const inner = scope.child();
      inner.set(CALLER.name, define(scope));
      output.write(toText(callee(inner)));
      return undefined;
    };
  },
  "filter-block": ({ filter, body }) => {
    const [render, convert] = [compileCapture(body), compileBlockFilter(filter)];
    return (scope, output) => {
      output.write(toText(convert(render(scope.child()), scope)));
      return undefined;
    };
  },
  with: ({ bindings, body }) => {
    const compiled = bindings.map(({ target, value }) => ({
      assign: compileTarget(target),
      evaluate: compileExpression(value),
    }));
    const run = compileBody(body);
    return (scope, output) => {
      const inner = scope.child();
      const values = compiled.map(({ assign, evaluate }) => ({ assign, value: evaluate(scope) }));
      for (const { assign, value } of values) assign(inner, value);
      return run(inner, output);
    };
  },
  scope: ({ body }) => {
    const run = compileBody(body);
    return (scope, output) => run(scope.child(), output);
  },
  break: () => () => "break",
  continue: () => () => "continue",
};

/** A name that no template can write. */
const CALLER = { kind: "name", name: "{caller}" } as const;

function compileStatement<Kind extends Statement["kind"]>(node: StatementOf<Kind>): Execute {
  const kind: Kind = node.kind;
  return COMPILERS[kind](node);
}

function compileBody(body: Body): Execute {
  const statements = body.map((node) => compileStatement(node));
  return (scope, output) => {
    for (const run of statements) {
      const signal = run(scope, output);
      if (signal !== undefined) return signal;
    }
    return undefined;
  };
}

/** A body whose text is a value. */
function compileCapture(body: Body): (scope: Scope) => string {
  const run = compileBody(body);
  return (scope) => {
    const output = new Output(scope.budget);
    run(scope, output);
    return output.text;
  };
}

function compileMacro(
  name: string,
  parameters: readonly Parameter[],
  body: Body,
): (scope: Scope) => PyFunction {
  const fallbacks = new Map<string, Evaluate>();
  for (const parameter of parameters) {
    if (parameter.fallback !== null)
      fallbacks.set(parameter.name, compileExpression(parameter.fallback));
  }
  return createMacro({ name, parameters, body, fallbacks, render: compileCapture(body) });
}

/** The filters of a block, innermost first; without any, the text as it is. */
function compileBlockFilter(node: Expression | null): (text: string, scope: Scope) => Value {
  if (node?.kind !== "filter") return (text) => text;
  const inner = compileBlockFilter(node.operand);
  const outer = compileFilter(node.name, node.args);
  return (text, scope) => {
    const value = inner(text, scope);
    return outer(value, scope);
  };
}

function compileTarget(target: Target): (scope: Scope, value: Value) => void {
  switch (target.kind) {
    case "name":
      return (scope, value) => {
        scope.set(target.name, value);
      };
    case "member":
      return (scope, value) => {
        const namespace = scope.lookUp(target.namespace);
        if (!(namespace instanceof PyNamespace)) {
          throw failure("cannot assign attribute on non-namespace object");
        }
        namespace.attributes.set(target.name, value);
      };
    case "targets": {
      const assigns = target.items.map(compileTarget);
      return (scope, value) => {
        if (!isIterable(value))
          throw failure(`cannot unpack non-iterable ${typeNameOf(value)} object`);
        const items = Array.from(iterate(value));
        checkCount(items.length, assigns.length);
        for (const [index, assign] of assigns.entries()) assign(scope, orElse(items[index], null));
      };
    }
  }
}

function checkCount(got: number, wanted: number): void {
  if (got > wanted) throw failure(`too many values to unpack (expected ${String(wanted)})`);
  if (got < wanted) {
    throw failure(`not enough values to unpack (expected ${String(wanted)}, got ${String(got)})`);
  }
}

function compileFor(node: Extract<Statement, { kind: "for" }>): Execute {
  const iterable = compileExpression(node.iterable);
  const test = node.test === null ? undefined : compileExpression(node.test);
  const assign = compileTarget(node.target);
  const [body, otherwise] = [compileBody(node.body), compileBody(node.otherwise)];

  const select = (source: Value, scope: Scope): readonly Value[] => {
    const items = Array.from(iterate(source));
    if (test === undefined) return items;
    return items.filter((item) => {
      scope.budget.step();
      const inner = scope.child();
      assign(inner, item);
      return isTruthy(test(inner));
    });
  };

  const run = (items: readonly Value[], place: Place): Signal => {
    const { scope, output, depth } = place;
    if (items.length === 0) return otherwise(scope.child(), output);
    const recurse = ({ positional }: { readonly positional: readonly Value[] }): Value => {
      const inner = new Output(scope.budget);
      run(select(orElse(positional[0], []), scope), { scope, output: inner, depth: depth + 1 });
      return inner.text;
    };
    const loop = new Loop(items, depth, node.recursive ? recurse : undefined);
    for (const [index, item] of items.entries()) {
      scope.budget.step();
      loop.moveTo(index);
      const inner = scope.child();
      inner.set("loop", loop.record);
      assign(inner, item);
      if (body(inner, output) === "break") break;
    }
    return undefined;
  };

  return (scope, output) => run(select(iterable(scope), scope), { scope, output, depth: 0 });
}

interface Place {
  readonly scope: Scope;
  readonly output: Output;
  readonly depth: number;
}

/** A template made ready: renders with the given variables. Throws TemplateFailure. */
export function compileTemplate(
  body: Body,
): (globals: ReadonlyMap<string, Value>, variables: ReadonlyMap<string, Value>) => string {
  const run = compileBody(body);
  return (globals, variables) => {
    const budget = new Budget();
    const context = new Scope(undefined, budget);
    for (const [name, value] of [...globals, ...variables]) context.set(name, value);
    const output = new Output(budget);
    run(context.child(), output);
    return output.text;
  };
}
