/**
 * Finds the end of one JSON value in running text, checking its grammar on the way, so that the text can be passed on
 * as it arrives: a push machine that reads every character once and keeps only the nesting.
 *
 * Stricter than finding the closing bracket: what a scanner calls complete is what `JSON.parse` reads. One mistake that
 * models make is mended on the way: a control character in a string (a raw newline, say) comes out escaped.
 */
export interface JsonScanner {
  /**
   * Reads on from `from`. Stops behind the value's last character, at the first character that cannot belong to it, or
   * at the text's end.
   */
  scan(text: string, from?: number): JsonScan;
  /** The text is over: ends a number, which nothing else ends. */
  finish(): void;
  readonly state: "open" | "complete" | "invalid";
  /** Whether anything valid but white space came after the first bracket. */
  readonly hasContent: boolean;
}

export interface JsonScan {
  /** Where the scanner stopped. */
  readonly end: number;
  /** The JSON text that was read. */
  readonly json: string;
}

/** Deeper values are invalid: no tool's arguments look like that, and readers further on may recurse. */
const MAX_DEPTH = 500;

/** What may come next. */
type Expecting =
  | "value"
  | "value-or-close"
  | "key"
  | "key-or-close"
  | "colon"
  | "comma-or-close"
  | "string"
  | "escape"
  | "hex"
  | "word"
  | "number"
  | "nothing";

/** Number states, the characters that lead on from each (0, 9: any other digit), and where a number may end. */
const NUMBER_STEPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  minus: { "0": "zero", "9": "integer" },
  zero: { ".": "dot", e: "exponent" },
  integer: { "0": "integer", "9": "integer", ".": "dot", e: "exponent" },
  dot: { "0": "fraction", "9": "fraction" },
  fraction: { "0": "fraction", "9": "fraction", e: "exponent" },
  exponent: { "+": "sign", "-": "sign", "0": "power", "9": "power" },
  sign: { "0": "power", "9": "power" },
  power: { "0": "power", "9": "power" },
};
const NUMBER_ENDS: ReadonlySet<string> = new Set(["zero", "integer", "fraction", "power"]);

const SPACE = new Set([" ", "\n", "\t", "\r"]);
const ESCAPABLE = new Set(['"', "\\", "/", "b", "f", "n", "r", "t"]);
const WORDS: Readonly<Record<string, string>> = { t: "true", f: "false", n: "null" };

export function createJsonScanner(): JsonScanner {
  return new Scanner();
}

class Scanner implements JsonScanner {
  #expecting: Expecting = "value";
  #isInvalid = false;
  #hasContent = false;
  /** The open brackets, outermost first. */
  readonly #open: ("{" | "[")[] = [];
  /** Whether the string being read is a key. */
  #isKey = false;
  /** What is left of a word such as `true`. */
  #word = "";
  #hexLeft = 0;
  #number = "";

  get state(): "open" | "complete" | "invalid" {
    if (this.#isInvalid) return "invalid";
    return this.#expecting === "nothing" ? "complete" : "open";
  }

  get hasContent(): boolean {
    return this.#hasContent;
  }

  finish(): void {
    if (this.#expecting === "number" && this.#open.length === 0) this.#endNumber();
    if (this.state === "open") this.#isInvalid = true;
  }

  scan(text: string, from = 0): JsonScan {
    let json = "";
    let copied = from;
    let position = from;
    while (position < text.length && this.state === "open") {
      if (this.#expecting === "string") {
        position = endOfPlainText(text, position);
        if (position >= text.length) break;
        const char = text.charAt(position);
        if (char < " ") {
          json += text.slice(copied, position) + JSON.stringify(char).slice(1, -1);
          copied = position + 1;
        } else if (char === '"') this.#endString();
        else this.#expecting = "escape";
        position++;
      } else if (this.#step(text.charAt(position))) position++;
    }
    return { end: position, json: json + text.slice(copied, position) };
  }

  /** Reads a character outside plain string text; false when it is left for the next step, or for others. */
  #step(char: string): boolean {
    if (this.#expecting === "escape") return this.#readEscape(char);
    if (this.#expecting === "hex") return this.#readHex(char);
    if (this.#expecting === "word") return this.#readWord(char);
    if (this.#expecting === "number") return this.#readNumber(char);
    return SPACE.has(char) || this.#readContent(char);
  }

  #readContent(char: string): boolean {
    const isInside = this.#open.length > 0;
    const isRead = this.#readStructure(char);
    if (isInside && isRead) this.#hasContent = true;
    return isRead;
  }

  #readStructure(char: string): boolean {
    const expecting = this.#expecting;
    if (expecting === "colon") {
      if (char !== ":") return this.#fail();
      this.#expecting = "value";
      return true;
    }
    if (expecting === "comma-or-close") return this.#readSeparator(char);
    if (expecting === "value-or-close" && char === "]") return this.#close();
    if (expecting === "key-or-close" && char === "}") return this.#close();
    const isKey = expecting === "key" || expecting === "key-or-close";
    return isKey ? this.#startKey(char) : this.#startValue(char);
  }

  #readSeparator(char: string): boolean {
    const isObject = this.#open.at(-1) === "{";
    if (char === ",") {
      this.#expecting = isObject ? "key" : "value";
      return true;
    }
    return char === (isObject ? "}" : "]") ? this.#close() : this.#fail();
  }

  #startValue(char: string): boolean {
    const word = WORDS[char];
    if (char === '"') {
      this.#isKey = false;
      this.#expecting = "string";
    } else if (char === "{" || char === "[") {
      if (this.#open.length === MAX_DEPTH) return this.#fail();
      this.#open.push(char);
      this.#expecting = char === "{" ? "key-or-close" : "value-or-close";
    } else if (word !== undefined) {
      this.#word = word.slice(1);
      this.#expecting = "word";
    } else if (char === "-" || isDigit(char)) {
      this.#number = char === "-" ? "minus" : char === "0" ? "zero" : "integer";
      this.#expecting = "number";
    } else return this.#fail();
    return true;
  }

  #startKey(char: string): boolean {
    if (char !== '"') return this.#fail();
    this.#isKey = true;
    this.#expecting = "string";
    return true;
  }

  #endString(): void {
    if (this.#isKey) this.#expecting = "colon";
    else this.#endValue();
  }

  #readEscape(char: string): boolean {
    if (char === "u") {
      this.#hexLeft = 4;
      this.#expecting = "hex";
    } else if (ESCAPABLE.has(char)) this.#expecting = "string";
    else return this.#fail();
    return true;
  }

  #readHex(char: string): boolean {
    if (!/[0-9a-f]/i.test(char)) return this.#fail();
    this.#hexLeft--;
    if (this.#hexLeft === 0) this.#expecting = "string";
    return true;
  }

  #readWord(char: string): boolean {
    if (!this.#word.startsWith(char)) return this.#fail();
    this.#word = this.#word.slice(1);
    if (this.#word === "") this.#endValue();
    return true;
  }

  #readNumber(char: string): boolean {
    const kind = char === "E" ? "e" : char >= "1" && char <= "9" ? "9" : char;
    const next = NUMBER_STEPS[this.#number]?.[kind];
    if (next === undefined) {
      this.#endNumber();
      return false;
    }
    this.#number = next;
    return true;
  }

  #endNumber(): void {
    if (NUMBER_ENDS.has(this.#number)) this.#endValue();
    else this.#fail();
  }

  #close(): boolean {
    this.#open.pop();
    this.#endValue();
    return true;
  }

  #endValue(): void {
    this.#expecting = this.#open.length === 0 ? "nothing" : "comma-or-close";
  }

  #fail(): false {
    this.#isInvalid = true;
    return false;
  }
}

function isDigit(char: string): boolean {
  return char >= "0" && char <= "9";
}

/** Where string text stops being plain: at a quote, a backslash or a control character, or at the text's end. */
function endOfPlainText(text: string, from: number): number {
  let position = from;
  while (position < text.length) {
    const code = text.charCodeAt(position);
    if (code === 0x22 || code === 0x5c || code < 0x20) break;
    position++;
  }
  return position;
}
