import { heldFrom } from "../../marker-scanner.ts";
import type { OutputParser, ToolFormat } from "../../output-parser.ts";
import type { OutputCursor, Reading } from "../output-cursor.ts";
import { attributeHead } from "./heads.ts";
import type { MarkupCall } from "./markup-call.ts";
import { createMarkupParser, type CallScope, type MarkupGrammar } from "./markup-calls.ts";
import { isFollowed, passTo, readRawValue } from "./raw-value.ts";
import type { ValueTypes } from "./schema.ts";
import { joinValues, readElement, type ElementValue } from "./tag-tree.ts";
import { readKeyUpTo } from "./tags.ts";
import { createValueWriter } from "./typed-value.ts";

/** Stands before every tag, one special token: so text with tags in it needs no escapes. */
const TOKEN = "]<]minimax[>[";

const CALL_END = `${TOKEN}</invoke>`;

/** A parameter is a tag of its own name; nested tags are objects and lists. */
const GRAMMAR: MarkupGrammar = {
  section: { start: `${TOKEN}<tool_call>`, end: `${TOKEN}</tool_call>` },
  looseCalls: "all",
  call: `${TOKEN}<invoke`,
  readHead: attributeHead("name", [">", "/>"]),
  *readArguments(scope) {
    const { cursor, call } = scope;
    const repeats = new Repeats(call);
    for (;;) {
      yield* cursor.skipSpace();
      switch (yield* readTagStart(scope)) {
        case "end":
          repeats.flush();
          call.end();
          return true;
        case "parameter":
          if (!(yield* readParameter(scope, repeats))) return false;
          break;
        case undefined:
          return false;
      }
    }
  },
};

/** Reads the end of a call, or what a parameter's tag begins with. */
function* readTagStart({ cursor, closers }: CallScope): Reading<"end" | "parameter" | undefined> {
  const start = yield* cursor.ahead(TOKEN.length + 2);
  if (start === `${TOKEN}</`) {
    if (yield* cursor.literal(CALL_END)) return "end";
    return !cursor.atEnd && (yield* isFollowed(cursor, "", closers)) ? "end" : undefined;
  }
  return (yield* cursor.literal(`${TOKEN}<`)) ? "parameter" : undefined;
}

/**
 * Reads one parameter. A string, and what else has no parts, is written at once; values that may be of several tags
 * wait for the next tag.
 */
function* readParameter({ cursor, call, schema }: CallScope, repeats: Repeats): Reading<boolean> {
  const key = yield* readKeyUpTo(cursor, ">");
  if (key === undefined) return false;
  const property = schema.property(key);
  if (!isPlain(property.types)) {
    const raw = yield* readContent(cursor, key);
    if (raw !== undefined) repeats.add(key, readElement(raw, TOKEN, property));
    return raw !== undefined;
  }
  const writer = createValueWriter(property.types);
  repeats.flush();
  call.writeKey(key);
  const end = { tag: `${TOKEN}</${key}>`, followers: [TOKEN], trim: "keep" } as const;
  const isRead = yield* readRawValue(cursor, end, (raw) => {
    call.write(writer.write(raw));
  });
  if (isRead) call.write(writer.end());
  return isRead;
}

function isPlain(types: ValueTypes): boolean {
  return types !== undefined && !types.has("object") && !types.has("array");
}

/** Reads all that a tag holds, tags of the same name included, up to and with its closing tag. */
function* readContent(cursor: OutputCursor, key: string): Reading<string | undefined> {
  const open = `${TOKEN}<${key}>`;
  let depth = 0;
  let content = "";
  const add = (text: string): void => {
    content += text;
  };
  for (;;) {
    const tag = yield* passTo(cursor, [open, `${TOKEN}</${key}>`], add);
    if (tag === undefined) return undefined;
    const taken = cursor.take(tag.length);
    if (tag !== open && depth === 0) return content;
    depth += tag === open ? 1 : -1;
    add(taken);
  }
}

/** Values that are not written yet, as a parameter of the same name right behind makes them a list. */
class Repeats {
  readonly #call: MarkupCall;
  #key = "";
  #values: ElementValue[] = [];

  constructor(call: MarkupCall) {
    this.#call = call;
  }

  add(key: string, value: ElementValue): void {
    if (key !== this.#key) this.flush();
    this.#key = key;
    this.#values.push(value);
  }

  flush(): void {
    if (this.#values.length === 0) return;
    this.#call.writeKey(this.#key);
    this.#call.write(joinValues(this.#values));
    this.#values = [];
  }
}

/** Longest white space between the token and its tag, in code units. */
const SPACED = /\]<\]minimax\[>\[[ \t\r\n]{1,64}(?=<)/g;
const MAYBE_SPACED = /\]<\]minimax\[>\[[ \t\r\n]{0,64}$/;

/** Takes out white space that the model writes between the token and its tag. */
function joinTags(parser: OutputParser): OutputParser {
  let held = "";
  return {
    push(text) {
      const all = held + text;
      const certain = MAYBE_SPACED.exec(all)?.index ?? heldFrom(all, [TOKEN]);
      held = all.slice(certain);
      return certain === 0 ? [] : parser.push(all.slice(0, certain).replaceAll(SPACED, TOKEN));
    },
    end() {
      // White space behind the token is the beginning of what is taken out.
      const text = held.startsWith(TOKEN) ? held.trimEnd() : held;
      const rest = text === "" ? [] : parser.push(text);
      held = "";
      return [...rest, ...parser.end()];
    },
    get heldLength() {
      return held.length + parser.heldLength;
    },
  };
}

export const minimaxM3: ToolFormat = {
  name: "minimax-m3",
  markers: [TOKEN],
  create: (options) => joinTags(createMarkupParser([GRAMMAR], options)),
};
