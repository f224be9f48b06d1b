import { walk } from "./ast.ts";
import type { Body, Expression, Parameter, Statement, Target } from "./ast.ts";

/** How a template works on the content of messages: "walked": over its parts or into one; "typed": asks for its type. */
export type ContentUse = "walked" | "typed" | "none";

const TYPE_TESTS = new Set(["string", "iterable", "sequence", "mapping"]);
/** Filters that give the list, or a part of it, on. */
const PASSING_FILTERS = new Set([
  "list",
  "reverse",
  "default",
  "d",
  "selectattr",
  "rejectattr",
  "select",
  "reject",
]);
/** Filters that only make sense on a list of parts. */
const WALKING_FILTERS = new Set(["map", "selectattr", "rejectattr", "first", "last"]);

/**
 * Follows the content of messages through assignments, loops, `with` and macros' parameters. Names count for the whole
 * template, whatever their scope; that errs towards finding a use.
 */
export function findContentUse(body: Body): ContentUse {
  return new ContentTracer(body).use();
}

class ContentTracer {
  readonly #body: Body;
  /** Names that hold the content of a message. */
  readonly #names = new Set<string>();
  readonly #macros = new Map<string, readonly Parameter[]>();
  #changed = false;

  constructor(body: Body) {
    this.#body = body;
    walk(body, (node) => {
      if (node.kind === "macro") this.#macros.set(node.name, node.parameters);
      return true;
    });
  }

  use(): ContentUse {
    do {
      this.#changed = false;
      walk(this.#body, (node) => {
        this.#follow(node);
        return true;
      });
    } while (this.#changed);
    let use: ContentUse = "none";
    walk(this.#body, (node) => {
      const own = this.#useOf(node);
      if (own === "walked" || use === "none") use = own;
      return use !== "walked";
    });
    return use;
  }

  #follow(node: Expression | Statement): void {
    if (node.kind === "call") this.#followCall(node);
    const bindings = node.kind === "set" ? [node] : node.kind === "with" ? node.bindings : [];
    for (const { target, value } of bindings) {
      if (this.#isContent(value)) this.#add(target);
    }
  }

  #followCall({ callee, args }: Extract<Expression, { kind: "call" }>): void {
    const parameters = callee.kind === "name" ? this.#macros.get(callee.name) : undefined;
    if (parameters === undefined) return;
    for (const [index, parameter] of parameters.entries()) {
      const value =
        args.positional[index] ?? args.named.find(({ key }) => key === parameter.name)?.value;
      if (value !== undefined && this.#isContent(value))
        this.#add({ kind: "name", name: parameter.name });
    }
  }

  #add(target: Target): void {
    const name =
      target.kind === "name"
        ? target.name
        : target.kind === "member"
          ? `${target.namespace}.${target.name}`
          : "";
    if (name === "" || this.#names.has(name)) return;
    this.#names.add(name);
    this.#changed = true;
  }

  /** Whether an expression may be a message's content, unchanged. */
  #isContent(node: Expression | null): boolean {
    if (node === null) return false;
    if (node.kind === "condition") {
      return this.#isContent(node.consequent) || this.#isContent(node.otherwise);
    }
    if (node.kind === "and" || node.kind === "or") {
      return this.#isContent(node.left) || this.#isContent(node.right);
    }
    if (node.kind === "filter") {
      return PASSING_FILTERS.has(node.name) && this.#isContent(node.operand);
    }
    return this.#isContentAccess(node);
  }

  #isContentAccess(node: Expression): boolean {
    if (node.kind === "name") return this.#names.has(node.name);
    if (node.kind === "attribute") return node.name === "content" || this.#isKnownMember(node);
    if (node.kind === "call") return isContentLookup(node);
    if (node.kind !== "item") return false;
    if (node.key.kind === "slice") return this.#isContent(node.object);
    return node.key.kind === "const" && node.key.value === "content";
  }

  #isKnownMember(node: Extract<Expression, { kind: "attribute" }>): boolean {
    return node.object.kind === "name" && this.#names.has(`${node.object.name}.${node.name}`);
  }

  #useOf(node: Expression | Statement): ContentUse {
    if (node.kind === "for") return this.#isContent(node.iterable) ? "walked" : "none";
    if (node.kind === "item") {
      return isIndex(node.key) && this.#isContent(node.object) ? "walked" : "none";
    }
    if (node.kind === "filter") {
      return WALKING_FILTERS.has(node.name) && this.#isContent(node.operand) ? "walked" : "none";
    }
    if (node.kind !== "test" || !TYPE_TESTS.has(node.name)) return "none";
    return this.#isContent(node.operand) ? "typed" : "none";
  }
}

function isIndex(key: Expression): boolean {
  return key.kind === "const" && (typeof key.value === "number" || key.value === "text");
}

/** `message.get("content")` */
function isContentLookup({ callee, args }: Extract<Expression, { kind: "call" }>): boolean {
  const key = args.positional[0];
  return (
    callee.kind === "attribute" &&
    callee.name === "get" &&
    key?.kind === "const" &&
    key.value === "content"
  );
}
