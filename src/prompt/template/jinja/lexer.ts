import { TemplateFailure } from "./failure.ts";
import { normalizeInt } from "./values.ts";
import type { Int } from "./values.ts";

/** `operator` tokens carry their own text, e.g. `==`. `begin`/`end` enclose a block tag or a variable tag. */
export type Token =
  | {
      readonly type: "data" | "name" | "string" | "operator";
      readonly value: string;
      readonly line: number;
    }
  | { readonly type: "integer"; readonly value: Int; readonly line: number }
  | { readonly type: "float"; readonly value: number; readonly line: number }
  | {
      readonly type: "block-begin" | "block-end" | "variable-begin" | "variable-end" | "end";
      readonly value: "";
      readonly line: number;
    };

/** Python's whitespace, as a character class: JavaScript's `\s` has U+FEFF too and lacks U+001C to U+001F and U+0085. */
export const PYTHON_SPACE =
  "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

const SPACE = new RegExp(`[${PYTHON_SPACE}]+`, "y");
const ONLY_SPACE = new RegExp(`^[${PYTHON_SPACE}]+$`);
const FLOAT = /(?:\d+_)*\d+(?:(?:\.(?:\d+_)*\d+)?e[+-]?(?:\d+_)*\d+|\.(?:\d+_)*\d+)/iy;
const INTEGER = /0b(?:_?[01])+|0o(?:_?[0-7])+|0x(?:_?[\da-f])+|[1-9](?:_?\d)*|0(?:_?0)*/iy;
const NAME = /[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}]*/uy;
const STRING = /'[^'\\]*(?:\\[^][^'\\]*)*'|"[^"\\]*(?:\\[^][^"\\]*)*"/y;
const OPERATOR = /\/\/|\*\*|==|!=|>=|<=|[-+/*%~[\](){}><=.:|,;]/y;
const RAW_BEGIN = new RegExp(
  `\\{%[-+]?[${PYTHON_SPACE}]*raw[${PYTHON_SPACE}]*(?:-%\\}[${PYTHON_SPACE}]*|%\\})`,
  "y",
);
const RAW_END = new RegExp(
  `\\{%([-+]?)[${PYTHON_SPACE}]*endraw[${PYTHON_SPACE}]*(?:\\+%\\}|-%\\}[${PYTHON_SPACE}]*|%\\}\\n?)`,
  "g",
);
const BLOCK_END = new RegExp(`\\+%\\}|-%\\}[${PYTHON_SPACE}]*|%\\}\\n?`, "y");
const VARIABLE_END = new RegExp(`-\\}\\}[${PYTHON_SPACE}]*|\\}\\}`, "y");
const COMMENT_END = new RegExp(`\\+#\\}|-#\\}[${PYTHON_SPACE}]*|#\\}\\n?`, "g");

const CLOSERS: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/**
 * Jinja's tokens of a template, with `trim_blocks` and `lstrip_blocks` on, one trailing newline dropped and all
 * newlines as "\n". Throws TemplateFailure `syntax`. Linear in the source's length.
 */
export function tokenize(template: string): Token[] {
  return new Lexer(template).run();
}

class Lexer {
  readonly #source: string;
  readonly #tokens: Token[] = [];
  #position = 0;
  #line = 1;
  /** The text so far ends a line, so that blanks before a tag may be stripped. */
  #lineStarting = true;

  constructor(template: string) {
    const source = template.replaceAll(/\r\n?/g, "\n");
    this.#source = source.endsWith("\n") ? source.slice(0, -1) : source;
  }

  run(): Token[] {
    while (this.#position < this.#source.length) this.#root();
    this.#tokens.push({ type: "end", value: "", line: this.#line });
    return this.#tokens;
  }

  #root(): void {
    const start = this.#nextTag();
    if (start === -1) {
      this.#data(this.#source.slice(this.#position));
      this.#position = this.#source.length;
      return;
    }
    const text = this.#source.slice(this.#position, start);
    const kind = this.#source.charAt(start + 1);
    const sign = /[-+]/.test(this.#source.charAt(start + 2)) ? this.#source.charAt(start + 2) : "";
    this.#data(this.#stripBefore(text, sign, kind !== "{"), text);
    this.#position = start;
    if (kind === "%" && this.#match(RAW_BEGIN) !== undefined) {
      this.#raw();
      return;
    }
    this.#position = start + 2 + sign.length;
    if (kind === "#") this.#comment();
    else this.#tag(kind === "%" ? "block" : "variable");
  }

  #nextTag(): number {
    for (let at = this.#position; ; at += 1) {
      at = this.#source.indexOf("{", at);
      if (at === -1) return -1;
      const next = this.#source.charAt(at + 1);
      if (next === "%" || next === "{" || next === "#") return at;
    }
  }

  /** `-` strips all whitespace before a tag; without a sign `lstrip_blocks` strips a line's blanks. */
  #stripBefore(text: string, sign: string, lstrip: boolean): string {
    if (sign === "-") return trimEnd(text);
    if (sign === "+" || !lstrip) return text;
    const lineStart = text.lastIndexOf("\n") + 1;
    const blanks = text.slice(lineStart);
    return (lineStart > 0 || this.#lineStarting) && ONLY_SPACE.test(blanks)
      ? text.slice(0, lineStart)
      : text;
  }

  #data(text: string, whole = text): void {
    if (text !== "") this.#tokens.push({ type: "data", value: text, line: this.#line });
    this.#countLines(whole);
  }

  #countLines(text: string): void {
    for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) this.#line += 1;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#position;
    const text = pattern.exec(this.#source)?.[0];
    if (text === undefined) return undefined;
    this.#position += text.length;
    this.#countLines(text);
    return text;
  }

  #comment(): void {
    COMMENT_END.lastIndex = this.#position;
    const end = COMMENT_END.exec(this.#source);
    if (end === null) throw this.#fail("Missing end of comment tag");
    this.#countLines(this.#source.slice(this.#position, end.index + end[0].length));
    this.#position = end.index + end[0].length;
    this.#lineStarting = end[0].endsWith("\n");
  }

  #raw(): void {
    this.#lineStarting = this.#source.charAt(this.#position - 1) === "\n";
    RAW_END.lastIndex = this.#position;
    const end = RAW_END.exec(this.#source);
    if (end === null) throw this.#fail("Missing end of raw directive");
    const text = this.#source.slice(this.#position, end.index);
    this.#data(this.#stripBefore(text, end[1] ?? "", true), text + end[0]);
    this.#position = end.index + end[0].length;
    this.#lineStarting = end[0].endsWith("\n");
  }

  #tag(kind: "block" | "variable"): void {
    this.#tokens.push({ type: `${kind}-begin`, value: "", line: this.#line });
    const endPattern = kind === "block" ? BLOCK_END : VARIABLE_END;
    const open: string[] = [];
    while (this.#position < this.#source.length) {
      const line = this.#line;
      const end = open.length === 0 ? this.#match(endPattern) : undefined;
      if (end !== undefined) {
        this.#tokens.push({ type: `${kind}-end`, value: "", line });
        this.#lineStarting = end.endsWith("\n");
        return;
      }
      this.#token(open);
    }
    throw this.#fail("unexpected end of template");
  }

  #token(open: string[]): void {
    if (this.#match(SPACE) !== undefined) return;
    const line = this.#line;
    const float = this.#source.charAt(this.#position - 1) === "." ? undefined : this.#match(FLOAT);
    if (float !== undefined) {
      this.#tokens.push({ type: "float", value: Number(float.replaceAll("_", "")), line });
      return;
    }
    const integer = this.#match(INTEGER);
    if (integer !== undefined) {
      const value = normalizeInt(BigInt(integer.replaceAll("_", "").toLowerCase()));
      this.#tokens.push({ type: "integer", value, line });
      return;
    }
    const name = this.#match(NAME);
    if (name !== undefined) {
      this.#tokens.push({ type: "name", value: name, line });
      return;
    }
    const string = this.#match(STRING);
    if (string !== undefined) {
      this.#tokens.push({ type: "string", value: unescapeString(string.slice(1, -1), line), line });
      return;
    }
    const operator = this.#match(OPERATOR);
    if (operator === undefined) {
      throw this.#fail(`unexpected char '${this.#source.charAt(this.#position)}'`);
    }
    this.#balance(operator, open);
    this.#tokens.push({ type: "operator", value: operator, line });
  }

  #balance(operator: string, open: string[]): void {
    const closer = CLOSERS[operator];
    if (closer !== undefined) open.push(closer);
    if (operator !== ")" && operator !== "]" && operator !== "}") return;
    const expected = open.pop();
    if (expected === undefined) throw this.#fail(`unexpected '${operator}'`);
    if (expected !== operator) {
      throw this.#fail(`unexpected '${operator}', expected '${expected}'`);
    }
  }

  #fail(message: string): TemplateFailure {
    return new TemplateFailure("syntax", `${message} (line ${String(this.#line)})`);
  }
}

/** `text.rstrip()` in time linear in the text. */
function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && ONLY_SPACE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  "\n": "",
  "\\": "\\",
  "'": "'",
  '"': '"',
  a: "\u0007",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
};

const ESCAPE = /\\(?:([0-7]{1,3})|x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|[^])/g;

/** Python's "unicode-escape"; an escape that Python does not know keeps its backslash. */
function unescapeString(text: string, line: number): string {
  if (!text.includes("\\")) return text;
  return text.replaceAll(ESCAPE, (whole, octal?: string, ...rest: unknown[]) => {
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    const hex = rest.slice(0, 3).find((group) => typeof group === "string");
    if (typeof hex === "string") {
      const code = Number.parseInt(hex, 16);
      if (code <= 0x10_ffff) return String.fromCodePoint(code);
      throw new TemplateFailure("syntax", `illegal Unicode character (line ${String(line)})`);
    }
    const letter = whole.slice(1);
    if (/^[xuUN]$/.test(letter)) {
      throw new TemplateFailure("syntax", `truncated escape in a string (line ${String(line)})`);
    }
    return SIMPLE_ESCAPES[letter] ?? whole;
  });
}
