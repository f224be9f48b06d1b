import type { OutputParser, ToolParserOptions, ToolSignature } from "../../output-parser.ts";
import { createGrammarParser, type OutputCursor, type Reading } from "../output-cursor.ts";
import { MarkupCall } from "./markup-call.ts";
import { readSchema, type Schema } from "./schema.ts";
import { readUpTo } from "./tags.ts";

/** The opening of a call, read. */
export interface CallHead {
  readonly name: string;
  /** It is the whole call: a tag that closes itself. */
  readonly isWhole?: boolean;
}

export type ReadHead = (cursor: OutputCursor) => Reading<CallHead | undefined>;

/** A call whose arguments are read. */
export interface CallScope {
  readonly cursor: OutputCursor;
  readonly call: MarkupCall;
  readonly schema: Schema;
  /** What may stand behind the call's own end, and means that it is over where that is missing. */
  readonly closers: readonly string[];
}

/** Reads a call from behind its head to its end; false when something else comes, or the output ends. */
export type ReadArguments = (scope: CallScope) => Reading<boolean>;

/** How a family writes calls as markup. White space between tags is layout. */
export interface MarkupGrammar {
  /** What encloses calls. Without it, calls stand by themselves. */
  readonly section?: { readonly start: string; readonly end: string };
  /** Which calls count outside of a section; "declared": only those of declared tools, as prose may hold others. */
  readonly looseCalls: "none" | "declared" | "all";
  /** What a call begins with, and how the rest of its opening is read. */
  readonly call: string;
  readonly readHead: ReadHead;
  readonly readArguments: ReadArguments;
  /** What may follow the end of a call and means nothing more. */
  readonly callTail?: string;
  /** Tags that mean nothing here: from `start` up to and with `end`, or by themselves. */
  readonly frames?: readonly { readonly start: string; readonly end?: string }[];
  /** Reads what the output may open with and is no content. */
  readonly opening?: (cursor: OutputCursor) => Reading<void>;
  /** The tool that the model means by a name. */
  readonly resolveName?: (name: string, tools: readonly ToolSignature[]) => string;
}

/** Longest frame, in code units. */
const MAX_FRAME_CHARS = 256;

/**
 * A parser of calls that are written as tags.
 *
 * A call's events begin as soon as its name is followed by something that belongs to a call (or by the end of the
 * output); before, whatever does not fit turns the whole into text. If something does not fit later, the call stays cut
 * off, and the rest is text. A call whose closing tag is missing before the section's end is complete.
 */
export function createMarkupParser(
  grammars: readonly MarkupGrammar[],
  { tools }: ToolParserOptions,
): OutputParser {
  return createGrammarParser((cursor) => new MarkupReader(cursor, grammars, tools).read());
}

/** A text that means something outside of calls. */
interface Token {
  readonly text: string;
  readonly kind: "section" | "section-end" | "call" | "tail" | "frame";
  readonly grammar: MarkupGrammar;
}

class MarkupReader {
  readonly #cursor: OutputCursor;
  readonly #grammars: readonly MarkupGrammar[];
  readonly #tools: readonly ToolSignature[];
  readonly #schemas: ReadonlyMap<string, Schema>;
  /** The grammar of the section that is open. */
  #open: MarkupGrammar | undefined;
  /** The last call in the section was read to its end: what closes the section is no text. */
  #isLayout = false;

  constructor(
    cursor: OutputCursor,
    grammars: readonly MarkupGrammar[],
    tools: readonly ToolSignature[],
  ) {
    this.#cursor = cursor;
    this.#grammars = grammars;
    this.#tools = tools;
    this.#schemas = new Map(tools.map(({ name, parameters }) => [name, readSchema(parameters)]));
  }

  *read(): Reading<void> {
    for (const { opening } of this.#grammars) {
      if (opening !== undefined) yield* opening(this.#cursor);
    }
    for (;;) {
      const tokens = this.#grammars.flatMap((grammar) => this.#tokensOf(grammar));
      const text = yield* this.#cursor.text(tokens.map((token) => token.text));
      const token = tokens.find((candidate) => candidate.text === text);
      if (token === undefined) return;
      this.#cursor.take(token.text.length);
      yield* this.#readToken(token);
    }
  }

  #tokensOf(grammar: MarkupGrammar): readonly Token[] {
    const { section, call, callTail, looseCalls, frames = [] } = grammar;
    const isOpen = this.#open === grammar;
    const tokens: Token[] = frames.map(({ start }) => ({ text: start, kind: "frame", grammar }));
    if (section !== undefined) tokens.push({ text: section.start, kind: "section", grammar });
    if (isOpen || section === undefined || looseCalls !== "none") {
      tokens.push({ text: call, kind: "call", grammar });
    }
    if (isOpen && section !== undefined) {
      tokens.push({ text: section.end, kind: "section-end", grammar });
      if (callTail !== undefined) tokens.push({ text: callTail, kind: "tail", grammar });
    }
    return tokens;
  }

  *#readToken({ text, kind, grammar }: Token): Reading<void> {
    const cursor = this.#cursor;
    switch (kind) {
      case "call":
        yield* this.#readCall(grammar);
        return;
      case "section":
        this.#open = grammar;
        this.#isLayout = false;
        yield* cursor.skipSpace();
        if (yield* cursor.literal(grammar.call)) yield* this.#readCall(grammar);
        else cursor.giveBack();
        return;
      case "frame":
        yield* this.#readFrame(grammar, text);
        return;
      case "tail":
      case "section-end":
        if (this.#isLayout) cursor.forget();
        else cursor.giveBack();
        if (kind === "section-end") this.#open = undefined;
    }
  }

  /** Reads a frame from behind its start; if it is none, it is text. */
  *#readFrame({ frames = [] }: MarkupGrammar, start: string): Reading<boolean> {
    const cursor = this.#cursor;
    const end = frames.find((frame) => frame.start === start)?.end;
    const isRead =
      end === undefined ||
      ((yield* readUpTo(cursor, [end], MAX_FRAME_CHARS)) !== undefined &&
        (yield* cursor.literal(end))) ||
      cursor.atEnd;
    if (isRead) cursor.forget();
    else cursor.giveBack();
    return isRead;
  }

  *#readCall(grammar: MarkupGrammar): Reading<void> {
    const cursor = this.#cursor;
    const head = yield* grammar.readHead(cursor);
    const name = head && (grammar.resolveName?.(head.name, this.#tools) ?? head.name);
    if (head === undefined || name === undefined || !this.#isWelcome(grammar, name)) {
      cursor.giveBack();
      return;
    }
    const call = new MarkupCall(cursor, name);
    const schema = this.#schemas.get(name) ?? readSchema(undefined);
    const closers = closersOf(grammar);
    if (head.isWhole === true) call.end();
    else if (!(yield* grammar.readArguments({ cursor, call, schema, closers }))) {
      if (call.breakOff()) this.#isLayout = false;
      return;
    }
    this.#isLayout = true;
    yield* this.#skipLayout(grammar, closers);
  }

  #isWelcome(grammar: MarkupGrammar, name: string): boolean {
    const isLoose = grammar.section !== undefined && this.#open !== grammar;
    return !isLoose || grammar.looseCalls === "all" || this.#schemas.has(name);
  }

  /** Skips what stands behind a call and closes it, its section, or its message. */
  *#skipLayout(grammar: MarkupGrammar, closers: readonly string[]): Reading<void> {
    const cursor = this.#cursor;
    const frames = (grammar.frames ?? []).map(({ start }) => start);
    let texts = [...closers, ...frames];
    while (texts.length > 0) {
      yield* cursor.skipSpace();
      const text = yield* cursor.oneOf(texts);
      if (text === undefined) {
        // At the end of the output, what was read is the beginning of one of them.
        if (cursor.atEnd) cursor.forget();
        else cursor.giveBack();
        return;
      }
      if (frames.includes(text)) {
        if (!(yield* this.#readFrame(grammar, text))) return;
      } else cursor.forget();
      if (text === grammar.section?.end) {
        this.#open = undefined;
        texts = frames;
      }
    }
  }
}

function closersOf({ section, callTail }: MarkupGrammar): readonly string[] {
  return [callTail, section?.end].filter((closer) => closer !== undefined);
}
