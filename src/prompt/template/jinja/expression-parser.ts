import type {
  ArgumentList,
  BinaryOperator,
  CompareOperator,
  Expression,
  KeywordArgument,
} from "./ast.ts";
import type { TokenStream } from "./token-stream.ts";
import { PyFloat } from "./values.ts";

const COMPARE_OPERATORS: readonly CompareOperator[] = ["==", "!=", "<", "<=", ">", ">="];
const NO_ARGUMENTS: ArgumentList = { positional: [], named: [], spread: null, namedSpread: null };

/** Jinja's expression grammar, rule by rule; each level of precedence is one method. */
export class ExpressionParser {
  readonly #stream: TokenStream;

  constructor(stream: TokenStream) {
    this.#stream = stream;
  }

  /** One expression, or a tuple without parentheses. `endsAt`: names that end the tuple after a comma. */
  tuple(options: { readonly conditions: boolean; readonly endsAt?: string }): Expression {
    const items: Expression[] = [];
    let isTuple = false;
    while (!this.#endsTuple(options.endsAt)) {
      items.push(options.conditions ? this.expression() : this.#or());
      if (!this.#stream.skipOperator(",")) break;
      isTuple = true;
    }
    const first = items[0];
    if (first === undefined) throw this.#stream.unexpected("an expression");
    return isTuple ? { kind: "tuple", items } : first;
  }

  #endsTuple(endsAt: string | undefined): boolean {
    const { type } = this.#stream.current;
    if (type === "variable-end" || type === "block-end" || this.#stream.isOperator(")"))
      return true;
    return endsAt !== undefined && this.#stream.isName(endsAt);
  }

  expression(): Expression {
    const { line } = this.#stream.current;
    let value = this.#or();
    while (this.#stream.skipName("if")) {
      const test = this.#or();
      const otherwise = this.#stream.skipName("else") ? this.expression() : null;
      value = { kind: "condition", test, consequent: value, otherwise, line };
    }
    return value;
  }

  #or(): Expression {
    let left = this.#and();
    while (this.#stream.skipName("or")) left = { kind: "or", left, right: this.#and() };
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.#stream.skipName("and")) left = { kind: "and", left, right: this.#not() };
    return left;
  }

  #not(): Expression {
    return this.#stream.skipName("not") ? { kind: "not", operand: this.#not() } : this.#compare();
  }

  #compare(): Expression {
    const first = this.#sum();
    const rest: { operator: CompareOperator; operand: Expression }[] = [];
    for (let operator = this.#compareOperator(); operator !== null;) {
      rest.push({ operator, operand: this.#sum() });
      operator = this.#compareOperator();
    }
    return rest.length === 0 ? first : { kind: "compare", first, rest };
  }

  #compareOperator(): CompareOperator | null {
    for (const operator of COMPARE_OPERATORS) {
      if (this.#stream.skipOperator(operator)) return operator;
    }
    if (this.#stream.skipName("in")) return "in";
    const next = this.#stream.look(1);
    if (!this.#stream.isName("not") || next.type !== "name" || next.value !== "in") return null;
    this.#stream.next();
    this.#stream.next();
    return "not in";
  }

  #binary(operators: readonly BinaryOperator[], operand: () => Expression): Expression {
    let left = operand();
    for (;;) {
      const operator = operators.find((candidate) => this.#stream.skipOperator(candidate));
      if (operator === undefined) return left;
      left = { kind: "binary", operator, left, right: operand() };
    }
  }

  #sum(): Expression {
    return this.#binary(["+", "-"], () => this.#concat());
  }

  #concat(): Expression {
    const first = this.#product();
    if (!this.#stream.isOperator("~")) return first;
    const items = [first];
    while (this.#stream.skipOperator("~")) items.push(this.#product());
    return { kind: "concat", items };
  }

  #product(): Expression {
    return this.#binary(["*", "/", "//", "%"], () => this.#power());
  }

  #power(): Expression {
    return this.#binary(["**"], () => this.#unary(true));
  }

  #unary(withFilters: boolean): Expression {
    let node: Expression;
    if (this.#stream.skipOperator("-")) {
      node = { kind: "sign", operator: "-", operand: this.#unary(false) };
    } else if (this.#stream.skipOperator("+")) {
      node = { kind: "sign", operator: "+", operand: this.#unary(false) };
    } else {
      node = this.primary();
    }
    node = this.#postfix(node);
    return withFilters ? this.#filtersAndTests(node) : node;
  }

  primary(): Expression {
    const token = this.#stream.current;
    if (token.type === "operator") return this.#bracketed(token.value);
    if (token.type === "string") return { kind: "const", value: this.#strings() };
    if (token.type !== "name" && token.type !== "integer" && token.type !== "float") {
      throw this.#stream.unexpected("an expression");
    }
    this.#stream.next();
    if (token.type === "name") return nameOrConstant(token.value);
    return {
      kind: "const",
      value: token.type === "float" ? new PyFloat(token.value) : token.value,
    };
  }

  /** Strings side by side are one. */
  #strings(): string {
    let text = "";
    for (;;) {
      const { current } = this.#stream;
      if (current.type !== "string") return text;
      text += current.value;
      this.#stream.next();
    }
  }

  #bracketed(operator: string): Expression {
    if (operator === "(") {
      this.#stream.next();
      const value: Expression = this.#stream.isOperator(")")
        ? { kind: "tuple", items: [] }
        : this.tuple({ conditions: true });
      this.#stream.expectOperator(")");
      return value;
    }
    if (operator === "[") {
      return { kind: "list", items: this.#items("]", () => this.expression()) };
    }
    if (operator === "{") {
      const pair = (): readonly [Expression, Expression] => {
        const key = this.expression();
        this.#stream.expectOperator(":");
        return [key, this.expression()];
      };
      return { kind: "dict", items: this.#items("}", pair) };
    }
    throw this.#stream.unexpected("an expression");
  }

  #items<Item>(closer: string, parse: () => Item): Item[] {
    this.#stream.next();
    const items: Item[] = [];
    while (!this.#stream.isOperator(closer)) {
      if (items.length > 0) this.#stream.expectOperator(",");
      if (this.#stream.isOperator(closer)) break;
      items.push(parse());
    }
    this.#stream.next();
    return items;
  }

  #postfix(start: Expression): Expression {
    let node = start;
    for (;;) {
      if (this.#stream.skipOperator(".")) node = this.#dot(node);
      else if (this.#stream.skipOperator("[")) node = this.#subscript(node);
      else if (this.#stream.isOperator("("))
        node = { kind: "call", callee: node, args: this.#arguments() };
      else return node;
    }
  }

  #dot(object: Expression): Expression {
    const token = this.#stream.next();
    if (token.type === "name") return { kind: "attribute", object, name: token.value };
    if (token.type !== "integer") throw this.#stream.fail("expected name or number");
    return { kind: "item", object, key: { kind: "const", value: token.value } };
  }

  #subscript(object: Expression): Expression {
    const keys: Expression[] = [];
    while (!this.#stream.isOperator("]")) {
      if (keys.length > 0) this.#stream.expectOperator(",");
      keys.push(this.#subscriptKey());
    }
    this.#stream.next();
    const only = keys.length === 1 ? keys[0] : undefined;
    return { kind: "item", object, key: only ?? { kind: "tuple", items: keys } };
  }

  #subscriptKey(): Expression {
    let start: Expression | null = null;
    if (!this.#stream.isOperator(":")) {
      start = this.expression();
      if (!this.#stream.isOperator(":")) return start;
    }
    this.#stream.next();
    const stop = this.#stream.isOperator(":", "]", ",") ? null : this.expression();
    let step: Expression | null = null;
    if (this.#stream.skipOperator(":") && !this.#stream.isOperator("]", ","))
      step = this.expression();
    return { kind: "slice", start, stop, step };
  }

  #filtersAndTests(start: Expression): Expression {
    let node = start;
    for (;;) {
      if (this.#stream.isOperator("|")) node = this.filters(node);
      else if (this.#stream.skipName("is")) node = this.#test(node);
      else if (this.#stream.isOperator("("))
        node = { kind: "call", callee: node, args: this.#arguments() };
      else return node;
    }
  }

  /** `|a|b(c)` after an operand; null: a filter of a block. */
  filters(operand: Expression): Expression;
  filters(operand: Expression | null): Expression | null;
  filters(operand: Expression | null): Expression | null {
    let node = operand;
    while (this.#stream.skipOperator("|")) node = this.filter(node);
    return node;
  }

  /** One filter, its bar already read. */
  filter(operand: Expression | null): Expression {
    const name = this.#dottedName();
    const args = this.#stream.isOperator("(") ? this.#arguments() : NO_ARGUMENTS;
    return { kind: "filter", name, operand, args };
  }

  #dottedName(): string {
    let name = this.#stream.expectName();
    while (this.#stream.skipOperator(".")) name += `.${this.#stream.expectName()}`;
    return name;
  }

  #test(operand: Expression): Expression {
    const negated = this.#stream.skipName("not");
    const name = this.#dottedName();
    const test: Expression = { kind: "test", name, operand, args: this.#testArguments() };
    return negated ? { kind: "not", operand: test } : test;
  }

  #testArguments(): ArgumentList {
    if (this.#stream.isOperator("(")) return this.#arguments();
    const { type } = this.#stream.current;
    const startsValue =
      type === "name" ||
      type === "string" ||
      type === "integer" ||
      type === "float" ||
      this.#stream.isOperator("[", "{");
    if (!startsValue || this.#stream.isName("else", "or", "and")) return NO_ARGUMENTS;
    if (this.#stream.isName("is")) {
      throw this.#stream.fail("You cannot chain multiple tests with is");
    }
    return { ...NO_ARGUMENTS, positional: [this.#postfix(this.primary())] };
  }

  #arguments(): ArgumentList {
    this.#stream.expectOperator("(");
    const positional: Expression[] = [];
    const named: KeywordArgument[] = [];
    let spread: Expression | null = null;
    let namedSpread: Expression | null = null;
    while (!this.#stream.isOperator(")")) {
      const ordered = namedSpread === null;
      if (this.#stream.skipOperator("*")) {
        this.#ensure(ordered && spread === null);
        spread = this.expression();
      } else if (this.#stream.skipOperator("**")) {
        this.#ensure(ordered);
        namedSpread = this.expression();
      } else if (this.#isKeyword()) {
        this.#ensure(ordered);
        const key = this.#stream.expectName();
        this.#stream.next();
        named.push({ key, value: this.expression() });
      } else {
        this.#ensure(ordered && spread === null && named.length === 0);
        positional.push(this.expression());
      }
      if (!this.#stream.isOperator(")")) this.#stream.expectOperator(",");
    }
    this.#stream.next();
    return { positional, named, spread, namedSpread };
  }

  #isKeyword(): boolean {
    const next = this.#stream.look(1);
    return this.#stream.current.type === "name" && next.type === "operator" && next.value === "=";
  }

  #ensure(allowed: boolean): void {
    if (!allowed) throw this.#stream.fail("invalid syntax for function call expression");
  }
}

function nameOrConstant(name: string): Expression {
  switch (name) {
    case "true":
    case "True":
      return { kind: "const", value: true };
    case "false":
    case "False":
      return { kind: "const", value: false };
    case "none":
    case "None":
      return { kind: "const", value: null };
    default:
      return { kind: "name", name };
  }
}
