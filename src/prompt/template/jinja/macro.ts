import { walk } from "./ast.ts";
import type { Body, Parameter } from "./ast.ts";
import type { Evaluate } from "./compile-expression.ts";
import { failure } from "./failure.ts";
import type { Scope } from "./scope.ts";
import { PyDict, PyFunction, PyTuple, PyUndefined, orElse } from "./values.ts";
import type { CallArguments, Value } from "./values.ts";

interface MacroParts {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly body: Body;
  readonly fallbacks: ReadonlyMap<string, Evaluate>;
  readonly render: (scope: Scope) => string;
}

/** The variables that a macro has only when its body names them. */
const IMPLICIT = ["caller", "kwargs", "varargs"] as const;

/** Gives a macro bound to the scope that it is defined in, as Jinja's own macros are. */
export function createMacro(parts: MacroParts): (scope: Scope) => PyFunction {
  const implicit = implicitNames(parts);
  return (scope) =>
    new PyFunction(
      parts.name,
      (args) => {
        scope.budget.step();
        const inner = scope.child();
        bind(parts, implicit, { args, scope: inner });
        return parts.render(inner);
      },
      "Macro",
    );
}

function implicitNames({ parameters, body }: MacroParts): ReadonlySet<string> {
  const named = new Set<string>();
  walk(body, (node) => {
    if (node.kind === "name") named.add(node.name);
    return true;
  });
  const declared = new Set(parameters.map(({ name }) => name));
  return new Set(IMPLICIT.filter((name) => named.has(name) && !declared.has(name)));
}

function bind(
  { name, parameters, fallbacks }: MacroParts,
  implicit: ReadonlySet<string>,
  call: { readonly args: CallArguments; readonly scope: Scope },
): void {
  const { args, scope } = call;
  const named = new Map(args.named);
  const missing: string[] = [];
  for (const [index, parameter] of parameters.entries()) {
    const value =
      index < args.positional.length ? args.positional[index] : named.get(parameter.name);
    if (index >= args.positional.length) named.delete(parameter.name);
    if (value === undefined) missing.push(parameter.name);
    scope.set(parameter.name, orElse(value, notProvided(parameter.name)));
  }
  if (implicit.has("caller")) {
    const caller = orElse(named.get("caller"), new PyUndefined("No caller defined"));
    named.delete("caller");
    scope.set("caller", caller);
  }
  bindRest(name, parameters.length, { implicit, scope, named, positional: args.positional });
  for (const parameter of missing) {
    const fallback = fallbacks.get(parameter);
    if (fallback !== undefined) scope.set(parameter, fallback(scope));
  }
}

function notProvided(name: string): PyUndefined {
  return new PyUndefined(`parameter '${name}' was not provided`);
}

function bindRest(
  name: string,
  arity: number,
  rest: {
    readonly implicit: ReadonlySet<string>;
    readonly scope: Scope;
    readonly named: ReadonlyMap<string, Value>;
    readonly positional: readonly Value[];
  },
): void {
  const { implicit, scope, named, positional } = rest;
  if (implicit.has("kwargs")) {
    const dict = new PyDict();
    for (const [key, value] of named) dict.set(key, value);
    scope.set("kwargs", dict);
  } else if (named.size > 0) {
    const first = named.keys().next().value ?? "";
    throw failure(`macro '${name}' takes no keyword argument '${first}'`);
  }
  if (implicit.has("varargs")) scope.set("varargs", new PyTuple(positional.slice(arity)));
  else if (positional.length > arity) {
    throw failure(`macro '${name}' takes not more than ${String(arity)} argument(s)`);
  }
}
