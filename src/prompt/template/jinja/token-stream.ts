import { TemplateFailure } from "./failure.ts";
import { tokenize } from "./lexer.ts";
import type { Token } from "./lexer.ts";

/** A cursor over a template's tokens. */
export class TokenStream {
  readonly #tokens: readonly Token[];
  #index = 0;

  constructor(source: string) {
    this.#tokens = tokenize(source);
  }

  get current(): Token {
    return this.look(0);
  }

  look(distance: number): Token {
    const token = this.#tokens[Math.min(this.#index + distance, this.#tokens.length - 1)];
    if (token === undefined) throw new TemplateFailure("syntax", "empty token stream");
    return token;
  }

  next(): Token {
    const token = this.current;
    this.#index += 1;
    return token;
  }

  isName(...names: readonly string[]): boolean {
    const token = this.current;
    return token.type === "name" && names.includes(token.value);
  }

  isOperator(...operators: readonly string[]): boolean {
    const token = this.current;
    return token.type === "operator" && operators.includes(token.value);
  }

  skipName(name: string): boolean {
    if (!this.isName(name)) return false;
    this.#index += 1;
    return true;
  }

  skipOperator(operator: string): boolean {
    if (!this.isOperator(operator)) return false;
    this.#index += 1;
    return true;
  }

  expectOperator(operator: string): void {
    if (!this.skipOperator(operator)) throw this.unexpected(`'${operator}'`);
  }

  expectName(): string {
    const token = this.current;
    if (token.type !== "name") throw this.unexpected("a name");
    this.#index += 1;
    return token.value;
  }

  expect(type: "block-end" | "variable-end"): void {
    if (this.current.type !== type) throw this.unexpected(type === "block-end" ? "'%}'" : "'}}'");
    this.#index += 1;
  }

  unexpected(wanted: string): TemplateFailure {
    const token = this.current;
    const got = token.value === "" ? token.type : `'${String(token.value)}'`;
    return this.fail(`expected ${wanted}, got ${got}`);
  }

  fail(message: string): TemplateFailure {
    return new TemplateFailure("syntax", `${message} (line ${String(this.current.line)})`);
  }
}
