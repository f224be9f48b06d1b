import { failure } from "./failure.ts";
import { isInt, isTruthy, orElse, typeNameOf } from "./values.ts";
import type { CallArguments, Value } from "./values.ts";

export const NO_CALL_ARGUMENTS: CallArguments = { positional: [], named: new Map() };

/** The arguments of a call, bound to the parameters of a function of Python's or Jinja's. */
export class BoundArguments {
  readonly #values: ReadonlyMap<string, Value>;
  readonly #function: string;

  /** `parameters`: names in order; a trailing `?` marks an optional one. */
  constructor(functionName: string, parameters: readonly string[], args: CallArguments) {
    const names = parameters.map((parameter) => parameter.replace("?", ""));
    if (args.positional.length > names.length) {
      throw failure(
        `${functionName}() takes at most ${String(names.length)} arguments (${String(args.positional.length)} given)`,
      );
    }
    const values = new Map<string, Value>();
    for (const [index, value] of args.positional.entries()) values.set(names[index] ?? "", value);
    for (const [name, value] of args.named) {
      if (!names.includes(name)) {
        throw failure(`${functionName}() got an unexpected keyword argument '${name}'`);
      }
      if (values.has(name)) {
        throw failure(`${functionName}() got multiple values for argument '${name}'`);
      }
      values.set(name, value);
    }
    const missing = parameters.find(
      (parameter) => !parameter.endsWith("?") && !values.has(parameter),
    );
    if (missing !== undefined) {
      throw failure(`${functionName}() missing 1 required positional argument: '${missing}'`);
    }
    this.#values = values;
    this.#function = functionName;
  }

  get(name: string): Value | undefined {
    return this.#values.get(name);
  }

  value(name: string, fallback: Value): Value {
    return orElse(this.#values.get(name), fallback);
  }

  flag(name: string): boolean {
    return isTruthy(this.value(name, false));
  }

  text(name: string, fallback?: string): string {
    const value = orElse(this.#values.get(name), fallback ?? null);
    if (typeof value === "string") return value;
    throw failure(`${this.#function}() argument must be str, not ${typeNameOf(value)}`);
  }

  /** undefined for None and for an absent argument. */
  optionalText(name: string): string | undefined {
    return this.value(name, null) === null ? undefined : this.text(name);
  }

  int(name: string, fallback: number): number {
    const value = this.value(name, fallback);
    if (isInt(value)) return Number(value);
    throw failure(`'${typeNameOf(value)}' object cannot be interpreted as an integer`);
  }
}

/** Fails for a call with any argument. */
export function expectNoArguments(functionName: string, args: CallArguments): void {
  if (args.positional.length + args.named.size === 0) return;
  throw failure(
    `${functionName}() takes no arguments (${String(args.positional.length + args.named.size)} given)`,
  );
}
