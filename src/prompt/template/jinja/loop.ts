import { BoundArguments } from "./arguments.ts";
import { isEqual } from "./comparison.ts";
import { failure } from "./failure.ts";
import { PyFunction, PyRecord, PyTuple, PyUndefined, orElse } from "./values.ts";
import type { Callable, Value } from "./values.ts";

/** The `loop` variable over `items`; `recurse` is what `loop(...)` does in a recursive loop. */
export class Loop {
  readonly record: PyRecord;
  readonly #items: readonly Value[];
  readonly #depth: number;
  #index = 0;
  #lastChanged: Value | undefined;

  constructor(items: readonly Value[], depth: number, recurse: Callable | undefined) {
    this.#items = items;
    this.#depth = depth;
    this.record = new PyRecord(
      "LoopContext",
      (name) => this.#attribute(name),
      recurse ??
        (() => {
          throw failure("The loop must have the 'recursive' marker to be called recursively.");
        }),
    );
  }

  moveTo(index: number): void {
    this.#index = index;
  }

  #attribute(name: string): Value | undefined {
    const { length } = this.#items;
    switch (name) {
      case "index":
        return this.#index + 1;
      case "index0":
        return this.#index;
      case "revindex":
        return length - this.#index;
      case "revindex0":
        return length - this.#index - 1;
      case "first":
        return this.#index === 0;
      case "last":
        return this.#index === length - 1;
      case "length":
        return length;
      case "depth":
        return this.#depth + 1;
      case "depth0":
        return this.#depth;
      case "previtem":
        return this.#neighbour(-1, "there is no previous item");
      case "nextitem":
        return this.#neighbour(1, "there is no next item");
      default:
        return this.#method(name);
    }
  }

  #neighbour(distance: number, absent: string): Value {
    return orElse(this.#items[this.#index + distance], new PyUndefined(absent));
  }

  #method(name: string): Value | undefined {
    if (name === "cycle") {
      return new PyFunction(name, ({ positional }) => {
        const value = positional[this.#index % positional.length];
        if (value === undefined) throw failure("no items for cycling given");
        return value;
      });
    }
    if (name !== "changed") return undefined;
    return new PyFunction(name, ({ positional }) => {
      const value = new PyTuple(positional);
      if (this.#lastChanged !== undefined && isEqual(this.#lastChanged, value)) return false;
      this.#lastChanged = value;
      return true;
    });
  }
}

/** Jinja's `cycler(...)`. */
export function createCycler(items: readonly Value[]): PyRecord {
  if (items.length === 0) throw failure("at least one item has to be provided");
  let position = 0;
  return new PyRecord("Cycler", (name) => {
    if (name === "current") return items[position];
    if (name === "reset") {
      return new PyFunction(name, () => {
        position = 0;
        return null;
      });
    }
    if (name !== "next") return undefined;
    return new PyFunction(name, () => {
      const value = orElse(items[position], null);
      position = (position + 1) % items.length;
      return value;
    });
  });
}

/** Jinja's `joiner(separator)`: nothing the first time, then the separator. */
export const createJoiner: Callable = (args) => {
  const separator = new BoundArguments("joiner", ["sep?"], args).value("sep", ", ");
  let used = false;
  return new PyFunction("joiner", () => {
    const text = used ? separator : "";
    used = true;
    return text;
  });
};
