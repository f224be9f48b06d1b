/**
 * Reads what a model writes: a push machine over the raw text of one choice, special tokens included.
 *
 * Split-invariant: however the text is cut into pushes, single UTF-16 code units included, the events are the same after
 * neighbouring deltas of one kind (and one call) are joined. Never throws, and loses no text: what cannot be read as what
 * it looked like comes out as text.
 */
export interface OutputParser {
  /** The events that this piece decides. */
  push(text: string): readonly OutputEvent[];
  /** The output is over: what was held back. Called once, after the last push. */
  end(): readonly OutputEvent[];
  /** Code units at the end of the input about which no event has told yet: held back, or read and still undecided. */
  readonly heldLength: number;
}

export type OutputEvent =
  | TextDelta
  | { readonly type: "reasoning-delta"; readonly text: string }
  | ToolCallEvent;

/** Text that the client sees as content. Never empty. */
export interface TextDelta {
  readonly type: "text-delta";
  readonly text: string;
}

/** `call` counts the calls of the reply from 0. The events of one call are not mixed with those of another. */
export type ToolCallEvent =
  /** The whole name, once it is certain. `id`: the id that the format itself gives, else absent. */
  | {
      readonly type: "tool-call-start";
      readonly call: number;
      readonly name: string;
      readonly id?: string;
    }
  /** More of the arguments' JSON text. Never empty. */
  | { readonly type: "tool-call-delta"; readonly call: number; readonly arguments: string }
  /** The call is complete; its deltas join to valid JSON text (an object). Absent for a call that was cut off. */
  | { readonly type: "tool-call-end"; readonly call: number };

/** A tool as a parser sees it. */
export interface ToolSignature {
  readonly name: string;
  /** JSON schema of the arguments; undefined when the client gave none. */
  readonly parameters: Readonly<Record<string, unknown>> | undefined;
}

export interface ToolParserOptions {
  readonly tools: readonly ToolSignature[];
  /** Calls that the conversation held before this reply: formats that number calls go on from there. */
  readonly earlierCalls: number;
}

/** One way of writing tool calls. */
export interface ToolFormat {
  /** SGLang's name of the parser. */
  readonly name: string;
  /**
   * Every text that the format gives a meaning to and that some model has as a special token. Special tokens of the
   * vocabulary that are named here reach the parser as text; all others are dropped before it.
   */
  readonly markers: readonly string[];
  readonly create: (options: ToolParserOptions) => OutputParser;
}

/** What decides in which state a reply starts. */
export interface ReasoningContext {
  /** The rendered prompt. */
  readonly prompt: string;
  /** The chat template's source; "" when unknown. */
  readonly template: string;
  readonly templateKwargs: Readonly<Record<string, unknown>>;
  readonly reasoningEffort: string | undefined;
  /** The text of the final message that the reply goes on with; undefined: the reply is a turn of its own. */
  readonly continuedText?: string | undefined;
}

/** One way of writing thoughts. Its parsers emit reasoning and text only, never tool calls. */
export interface ReasoningFormat {
  /** SGLang's name of the parser. */
  readonly name: string;
  /** As in ToolFormat. */
  readonly markers: readonly string[];
  readonly startsInReasoning: (context: ReasoningContext) => boolean;
  /** The reply may begin with a thought: the engine counts it, and constrains only what comes after. */
  readonly expectsReasoning: (context: ReasoningContext) => boolean;
  readonly create: (options: { readonly startsInReasoning: boolean }) => OutputParser;
}
