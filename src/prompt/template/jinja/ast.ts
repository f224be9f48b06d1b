import type { Value } from "./values.ts";

export interface KeywordArgument {
  readonly key: string;
  readonly value: Expression;
}

export interface ArgumentList {
  readonly positional: readonly Expression[];
  readonly named: readonly KeywordArgument[];
  /** `*items` */
  readonly spread: Expression | null;
  /** `**mapping` */
  readonly namedSpread: Expression | null;
}

export type BinaryOperator = "+" | "-" | "*" | "/" | "//" | "%" | "**";
export type CompareOperator = "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in";

export type Expression =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "const"; readonly value: Value }
  | { readonly kind: "tuple"; readonly items: readonly Expression[] }
  | { readonly kind: "list"; readonly items: readonly Expression[] }
  | { readonly kind: "dict"; readonly items: readonly (readonly [Expression, Expression])[] }
  | {
      readonly kind: "condition";
      readonly test: Expression;
      readonly consequent: Expression;
      readonly otherwise: Expression | null;
      readonly line: number;
    }
  | { readonly kind: "and"; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "or"; readonly left: Expression; readonly right: Expression }
  | { readonly kind: "not"; readonly operand: Expression }
  | {
      readonly kind: "compare";
      readonly first: Expression;
      readonly rest: readonly {
        readonly operator: CompareOperator;
        readonly operand: Expression;
      }[];
    }
  | {
      readonly kind: "binary";
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: "concat"; readonly items: readonly Expression[] }
  | { readonly kind: "sign"; readonly operator: "+" | "-"; readonly operand: Expression }
  | { readonly kind: "attribute"; readonly object: Expression; readonly name: string }
  | { readonly kind: "item"; readonly object: Expression; readonly key: Expression }
  | {
      readonly kind: "slice";
      readonly start: Expression | null;
      readonly stop: Expression | null;
      readonly step: Expression | null;
    }
  | { readonly kind: "call"; readonly callee: Expression; readonly args: ArgumentList }
  /** `operand` null: the body of a filter block or of a block assignment. */
  | {
      readonly kind: "filter";
      readonly name: string;
      readonly operand: Expression | null;
      readonly args: ArgumentList;
    }
  | {
      readonly kind: "test";
      readonly name: string;
      readonly operand: Expression;
      readonly args: ArgumentList;
    };

export type Target =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "member"; readonly namespace: string; readonly name: string }
  | { readonly kind: "targets"; readonly items: readonly Target[] };

export interface Parameter {
  readonly name: string;
  readonly fallback: Expression | null;
}

export type Body = readonly Statement[];

export type Statement =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "output"; readonly value: Expression }
  | {
      readonly kind: "if";
      readonly branches: readonly { readonly test: Expression; readonly body: Body }[];
      readonly otherwise: Body;
    }
  | {
      readonly kind: "for";
      readonly target: Target;
      readonly iterable: Expression;
      readonly test: Expression | null;
      readonly recursive: boolean;
      readonly body: Body;
      readonly otherwise: Body;
    }
  | { readonly kind: "set"; readonly target: Target; readonly value: Expression }
  | {
      readonly kind: "set-block";
      readonly target: Target;
      readonly filter: Expression | null;
      readonly body: Body;
    }
  | {
      readonly kind: "macro";
      readonly name: string;
      readonly parameters: readonly Parameter[];
      readonly body: Body;
    }
  | {
      readonly kind: "call-block";
      readonly parameters: readonly Parameter[];
      readonly call: Extract<Expression, { kind: "call" }>;
      readonly body: Body;
    }
  | { readonly kind: "filter-block"; readonly filter: Expression; readonly body: Body }
  | {
      readonly kind: "with";
      readonly bindings: readonly { readonly target: Target; readonly value: Expression }[];
      readonly body: Body;
    }
  /** `{% generation %}`, `{% block %}`, `{% autoescape false %}`: a scope of its own. */
  | { readonly kind: "scope"; readonly body: Body }
  | { readonly kind: "break" }
  | { readonly kind: "continue" };

/** Calls `visit` for a node and everything in it; where it returns false, not for what is inside. */
export function walk(node: unknown, visit: (node: Expression | Statement) => boolean): void {
  if (Array.isArray(node)) {
    for (const item of node) walk(item, visit);
    return;
  }
  if (typeof node !== "object" || node === null) return;
  if (isNode(node) && (!visit(node) || node.kind === "const")) return;
  for (const child of Object.values(node)) {
    if (typeof child === "object") walk(child, visit);
  }
}

function isNode(node: object): node is Expression | Statement {
  return "kind" in node && node.kind !== "targets" && node.kind !== "member";
}
