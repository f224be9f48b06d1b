import type { Body, Expression, Parameter, Statement, Target } from "./ast.ts";
import { ExpressionParser } from "./expression-parser.ts";
import { TokenStream } from "./token-stream.ts";

/**
 * Reads a template in Jinja's language as Hugging Face sets it up: loop controls and `{% generation %}` are known;
 * what loads other templates (include, import, extends) is not. Throws TemplateFailure `syntax`.
 */
export function parseTemplate(source: string): Body {
  const stream = new TokenStream(source);
  return new StatementParser(stream).body([]);
}

class StatementParser {
  readonly #stream: TokenStream;
  readonly #expressions: ExpressionParser;
  readonly #tags: Readonly<Record<string, () => Statement>>;

  constructor(stream: TokenStream) {
    this.#stream = stream;
    this.#expressions = new ExpressionParser(stream);
    this.#tags = {
      set: () => this.#set(),
      if: () => this.#if(),
      for: () => this.#for(),
      macro: () => this.#macro(),
      call: () => this.#callBlock(),
      filter: () => this.#filterBlock(),
      with: () => this.#with(),
      generation: () => ({ kind: "scope", body: this.#until("endgeneration") }),
      block: () => this.#block(),
      autoescape: () => this.#autoescape(),
      print: () => this.#print(),
      break: () => ({ kind: "break" }),
      continue: () => ({ kind: "continue" }),
    };
  }

  /** Statements up to one of the end tags, which is left as the current token; [] reads to the end. */
  body(endTags: readonly string[]): Body {
    const statements: Statement[] = [];
    for (;;) {
      const token = this.#stream.next();
      if (token.type === "data") {
        statements.push({ kind: "text", text: token.value });
      } else if (token.type === "variable-begin") {
        statements.push({ kind: "output", value: this.#expressions.tuple({ conditions: true }) });
        this.#stream.expect("variable-end");
      } else if (token.type === "block-begin") {
        if (this.#stream.isName(...endTags)) return statements;
        statements.push(this.#statement());
        this.#stream.expect("block-end");
      } else {
        if (endTags.length === 0) return statements;
        throw this.#stream.fail(
          `unexpected end of template, looking for '${endTags.join("' or '")}'`,
        );
      }
    }
  }

  #statement(): Statement {
    const name = this.#stream.expectName();
    const parse = Object.hasOwn(this.#tags, name) ? this.#tags[name] : undefined;
    if (parse === undefined) throw this.#stream.fail(`Encountered unknown tag '${name}'.`);
    return parse();
  }

  /** The rest of an opening tag and the body up to one of the end tags. */
  #bodyOfTag(...endTags: readonly string[]): Body {
    this.#stream.skipOperator(":");
    this.#stream.expect("block-end");
    return this.body(endTags);
  }

  #until(endTag: string): Body {
    const body = this.#bodyOfTag(endTag);
    this.#stream.next();
    return body;
  }

  #set(): Statement {
    const target = this.#target({ members: true });
    if (this.#stream.skipOperator("=")) {
      return { kind: "set", target, value: this.#expressions.tuple({ conditions: true }) };
    }
    const filter = this.#expressions.filters(null);
    return { kind: "set-block", target, filter, body: this.#until("endset") };
  }

  #if(): Statement {
    const branches: { test: Expression; body: Body }[] = [];
    for (;;) {
      const test = this.#expressions.tuple({ conditions: false });
      branches.push({ test, body: this.#bodyOfTag("elif", "else", "endif") });
      if (this.#stream.skipName("elif")) continue;
      const otherwise = this.#stream.skipName("else") ? this.#bodyOfTag("endif") : [];
      this.#stream.next();
      return { kind: "if", branches, otherwise };
    }
  }

  #for(): Statement {
    const target = this.#target({ members: false, endsAt: "in" });
    if (!this.#stream.skipName("in")) throw this.#stream.unexpected("'in'");
    const iterable = this.#expressions.tuple({ conditions: false, endsAt: "recursive" });
    const test = this.#stream.skipName("if") ? this.#expressions.expression() : null;
    const recursive = this.#stream.skipName("recursive");
    const body = this.#bodyOfTag("endfor", "else");
    const otherwise = this.#stream.skipName("else") ? this.#bodyOfTag("endfor") : [];
    this.#stream.next();
    return { kind: "for", target, iterable, test, recursive, body, otherwise };
  }

  #macro(): Statement {
    const name = this.#stream.expectName();
    const parameters = this.#parameters();
    return { kind: "macro", name, parameters, body: this.#until("endmacro") };
  }

  #callBlock(): Statement {
    const parameters = this.#stream.isOperator("(") ? this.#parameters() : [];
    const call = this.#expressions.expression();
    if (call.kind !== "call") throw this.#stream.fail("expected call");
    return { kind: "call-block", parameters, call, body: this.#until("endcall") };
  }

  #filterBlock(): Statement {
    const first = this.#expressions.filter(null);
    const filter = this.#expressions.filters(first);
    return { kind: "filter-block", filter, body: this.#until("endfilter") };
  }

  #with(): Statement {
    const bindings: { target: Target; value: Expression }[] = [];
    while (this.#stream.current.type !== "block-end") {
      if (bindings.length > 0) this.#stream.expectOperator(",");
      const target = this.#simpleTarget(false);
      this.#stream.expectOperator("=");
      bindings.push({ target, value: this.#expressions.expression() });
    }
    return { kind: "with", bindings, body: this.#until("endwith") };
  }

  #block(): Statement {
    const name = this.#stream.expectName();
    this.#stream.skipName("scoped");
    this.#stream.skipName("required");
    const body = this.#until("endblock");
    this.#stream.skipName(name);
    return { kind: "scope", body };
  }

  #autoescape(): Statement {
    const option = this.#expressions.expression();
    if (option.kind !== "const" || option.value !== false) {
      throw this.#stream.fail("only '{% autoescape false %}' is supported");
    }
    return { kind: "scope", body: this.#until("endautoescape") };
  }

  #print(): Statement {
    const value = this.#expressions.tuple({ conditions: true });
    const printed: Expression =
      value.kind === "tuple" ? { kind: "concat", items: value.items } : value;
    return { kind: "output", value: printed };
  }

  #parameters(): Parameter[] {
    this.#stream.expectOperator("(");
    const parameters: Parameter[] = [];
    while (!this.#stream.isOperator(")")) {
      if (parameters.length > 0) this.#stream.expectOperator(",");
      const name = this.#stream.expectName();
      const fallback = this.#stream.skipOperator("=") ? this.#expressions.expression() : null;
      if (fallback === null && parameters.at(-1)?.fallback) {
        throw this.#stream.fail("non-default argument follows default argument");
      }
      parameters.push({ name, fallback });
    }
    this.#stream.next();
    return parameters;
  }

  #target(options: { readonly members: boolean; readonly endsAt?: string }): Target {
    const items: Target[] = [];
    let isTuple = false;
    for (;;) {
      items.push(this.#simpleTarget(options.members));
      if (!this.#stream.skipOperator(",")) break;
      isTuple = true;
      const { type } = this.#stream.current;
      if (type === "block-end" || this.#stream.isOperator(")", "=")) break;
      if (options.endsAt !== undefined && this.#stream.isName(options.endsAt)) break;
    }
    const first = items[0];
    return isTuple || first === undefined ? { kind: "targets", items } : first;
  }

  #simpleTarget(members: boolean): Target {
    if (this.#stream.skipOperator("(")) {
      const target = this.#target({ members });
      this.#stream.expectOperator(")");
      return target;
    }
    const name = this.#stream.expectName();
    if (/^(?:true|false|none|True|False|None)$/.test(name)) {
      throw this.#stream.fail(`can't assign to '${name}'`);
    }
    if (!members || !this.#stream.skipOperator(".")) return { kind: "name", name };
    return { kind: "member", namespace: name, name: this.#stream.expectName() };
  }
}
