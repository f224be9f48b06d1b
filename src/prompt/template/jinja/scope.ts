import { failure } from "./failure.ts";
import { MAX_RENDERED_CHARS, MAX_STEPS } from "./limits.ts";
import { PyUndefined } from "./values.ts";
import type { Value } from "./values.ts";

/** What one rendering may use up. */
export class Budget {
  #steps = 0;
  #chars = 0;

  /** Counts one round of a loop or one call. */
  step(): void {
    this.#steps += 1;
    if (this.#steps > MAX_STEPS) throw failure("the template takes too many steps");
  }

  write(chars: number): void {
    this.#chars += chars;
    if (this.#chars > MAX_RENDERED_CHARS) throw failure("the rendered text is too long");
  }
}

/**
 * The variables of one block. Jinja gives a scope of its own to each round of a loop, each call of a macro and each
 * block with a body of its own; an `if` has none.
 */
export class Scope {
  readonly #variables = new Map<string, Value>();
  readonly #parent: Scope | undefined;
  readonly budget: Budget;

  constructor(parent: Scope | undefined, budget: Budget) {
    this.#parent = parent;
    this.budget = budget;
  }

  child(): Scope {
    return new Scope(this, this.budget);
  }

  get(name: string): Value | undefined {
    // oxlint-disable-next-line typescript/no-this-alias -- the walk up the scopes starts here
    let scope: Scope | undefined = this;
    while (scope !== undefined) {
      const value = scope.#variables.get(name);
      if (value !== undefined) return value;
      scope = scope.#parent;
    }
    return undefined;
  }

  lookUp(name: string): Value {
    const value = this.get(name);
    return value === undefined ? new PyUndefined(`'${name}' is undefined`) : value;
  }

  set(name: string, value: Value): void {
    this.#variables.set(name, value);
  }
}

/** Collects what a body prints. */
export class Output {
  readonly #budget: Budget;
  #text = "";

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  get text(): string {
    return this.#text;
  }

  write(text: string): void {
    this.#budget.write(text.length);
    this.#text += text;
  }
}
