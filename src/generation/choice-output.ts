import type { FinishReason, TokenLogprob } from "../core/generation-event.ts";
import type { EngineComplete, EngineLogprob } from "../engine/engine-message.ts";
import type { OutputEvent, OutputParser } from "../parsers/output-parser.ts";
import { createStopMatcher } from "../parsers/stop-matcher.ts";
import type { Tokenizer } from "../prompt/tokenizer/tokenizer.ts";
import { createLogprobQueue, type LogprobQueue } from "./logprob-queue.ts";

export interface ChoiceOutputOptions {
  readonly tokenizer: Tokenizer;
  readonly stopStrings: readonly string[];
  /**
   * Tokens that end a reply: end-of-sequence ids and the request's own stop ids; none with `ignore_eos`, which makes the
   * engine ignore both.
   */
  readonly endTokenIds: ReadonlySet<number>;
  readonly skipSpecialTokens: boolean;
  readonly noStopTrim: boolean;
  /** Reads thoughts and calls out of the text; null: all of it is text. */
  readonly parser: OutputParser | null;
  /** Special tokens that the parser must see even though the client does not. */
  readonly parserTokenIds: ReadonlySet<number>;
}

/**
 * Turns the token ids of one choice into its text, thoughts and calls. Split-invariant: however the ids are cut into
 * pushes, the joined events, the counted tokens and the end are the same.
 */
export interface ChoiceOutput {
  /** `logprobs`: one for each id, or absent. */
  push(tokenIds: readonly number[], logprobs?: readonly EngineLogprob[]): ChoiceStep;
  /**
   * The engine has ended the choice. "abort" only releases what was held back: that is an error, which the caller tells.
   */
  complete(end: Pick<EngineComplete, "finishReason" | "matchedStop">): ChoiceStep & {
    readonly end: ChoiceEnd;
  };
  /** Tokens of the reply so far; stops counting at a stop string. */
  readonly completionTokens: number;
}

export interface ChoiceStep {
  readonly events: readonly OutputEvent[];
  /** Of the tokens that these events show. */
  readonly logprobs: readonly TokenLogprob[];
  /** The choice is over: whatever the engine still says is not part of it. */
  readonly end: ChoiceEnd | null;
}

export interface ChoiceEnd {
  readonly finishReason: FinishReason;
  readonly matchedStop: number | string | null;
}

export function createChoiceOutput(options: ChoiceOutputOptions): ChoiceOutput {
  return new TokenOutput(options);
}

class TokenOutput implements ChoiceOutput {
  readonly #options: ChoiceOutputOptions;
  readonly #detokenizer;
  readonly #stops;
  readonly #logprobs: LogprobQueue;
  /**
   * A token that may be the one that ended the reply: the engine sends it before it says so. Held until the next token
   * or the end, so that an end token never shows; it stands for no text of its own, so nothing visible waits.
   */
  #held: { readonly id: number; readonly logprob: EngineLogprob | undefined } | null = null;
  #completionTokens = 0;
  /** Visible text: pushed into the stop matcher, and let through by it, in code units. */
  #pushedLength = 0;
  #shownLength = 0;
  /** Code units of the second half of a surrogate pair before each position are counted once. */
  #surrogates = 0;
  #hasCalls = false;

  constructor(options: ChoiceOutputOptions) {
    this.#options = options;
    // Special tokens are left out here, not in the detokenizer: a stop string may name them.
    this.#detokenizer = options.tokenizer.createDetokenizer({ skipSpecialTokens: false });
    this.#stops = createStopMatcher(options.stopStrings, { keepMatch: options.noStopTrim });
    this.#logprobs = createLogprobQueue(
      options.tokenizer,
      (position) => position - this.#surrogates,
    );
  }

  get completionTokens(): number {
    return this.#completionTokens;
  }

  push(tokenIds: readonly number[], logprobs?: readonly EngineLogprob[]): ChoiceStep {
    const { endTokenIds, tokenizer } = this.#options;
    let text = "";
    for (let position = 0; position < tokenIds.length; position++) {
      const id = tokenIds[position] ?? -1;
      const logprob = logprobs?.[position];
      if (this.#held !== null) {
        const held = this.#emitHeld();
        text += held.text;
        if (held.matched !== null) return this.#stop(text, held.matched);
      }
      this.#completionTokens += 1;
      if (endTokenIds.has(id) || tokenizer.isSpecial(id)) {
        this.#held = { id, logprob };
        continue;
      }
      const step = this.#emit(id, logprob);
      text += step.text;
      if (step.matched !== null) return this.#stop(text, step.matched);
    }
    return this.#toStep(text);
  }

  complete({
    finishReason,
    matchedStop,
  }: Pick<EngineComplete, "finishReason" | "matchedStop">): ChoiceStep & {
    readonly end: ChoiceEnd;
  } {
    let text = "";
    let matched = this.#endHeldToken(matchedStop, (shown) => (text += shown));
    if (matched === null) {
      const rest = this.#detokenizer.end();
      this.#pushedLength += rest.length;
      const step = this.#stops.push(rest, true);
      text += step.text;
      matched = step.matched;
    }
    if (matched !== null) return this.#stop(text, matched);
    text += this.#stops.end();
    return this.#finish(text, finishReason === "length" ? "length" : "stop", matchedStop);
  }

  /** The token that ended the reply is trimmed, but for a parser that reads it; another held one is shown. */
  #endHeldToken(matchedStop: number | string | null, show: (text: string) => void): string | null {
    const { endTokenIds, noStopTrim, parserTokenIds } = this.#options;
    const held = this.#held;
    if (held === null) return null;
    const endsReply = matchedStop === held.id || endTokenIds.has(held.id);
    if (endsReply && !noStopTrim) {
      if (!parserTokenIds.has(held.id)) return null;
      this.#held = { id: held.id, logprob: undefined };
    }
    const step = this.#emitHeld();
    show(step.text);
    return step.matched;
  }

  #emitHeld(): { readonly text: string; readonly matched: string | null } {
    const held = this.#held;
    this.#held = null;
    return held === null ? { text: "", matched: null } : this.#emit(held.id, held.logprob);
  }

  #emit(
    id: number,
    logprob: EngineLogprob | undefined,
  ): { readonly text: string; readonly matched: string | null } {
    const { tokenizer, skipSpecialTokens, parserTokenIds, stopStrings } = this.#options;
    const start = this.#pushedLength;
    if (skipSpecialTokens && tokenizer.isSpecial(id) && !parserTokenIds.has(id)) {
      if (logprob !== undefined) this.#logprobs.add(logprob, { start, end: start });
      if (stopStrings.length === 0) return { text: "", matched: null };
      return this.#stops.push(tokenizer.decode([id], { skipSpecialTokens: false }), false);
    }
    const text = this.#detokenizer.push(id);
    this.#pushedLength += text.length;
    if (logprob !== undefined) {
      const isOpen = text === "" && tokenizer.tokenBytes(id).length > 0;
      this.#logprobs.add(logprob, { start, end: isOpen ? undefined : this.#pushedLength });
      this.#surrogates += countPairs(text);
    }
    return this.#stops.push(text, true);
  }

  #toStep(text: string): ChoiceStep {
    const events = this.#parse(text);
    const held = this.#stops.heldLength + (this.#options.parser?.heldLength ?? 0);
    return { events, logprobs: this.#logprobs.take(this.#pushedLength - held), end: null };
  }

  #stop(text: string, matched: string): ChoiceStep & { readonly end: ChoiceEnd } {
    return this.#finish(text, "stop", matched);
  }

  #finish(
    text: string,
    reason: "stop" | "length",
    matchedStop: number | string | null,
  ): ChoiceStep & { readonly end: ChoiceEnd } {
    const events = [...this.#parse(text), ...(this.#options.parser?.end() ?? [])];
    this.#hasCalls ||= events.some((event) => event.type === "tool-call-start");
    return {
      events,
      logprobs: this.#logprobs.takeRest(this.#shownLength),
      end: {
        finishReason: reason === "stop" && this.#hasCalls ? "tool-calls" : reason,
        matchedStop,
      },
    };
  }

  #parse(text: string): readonly OutputEvent[] {
    this.#shownLength += text.length;
    const { parser } = this.#options;
    if (parser === null) return text === "" ? [] : [{ type: "text-delta", text }];
    if (text === "") return [];
    const events = parser.push(text);
    this.#hasCalls ||= events.some((event) => event.type === "tool-call-start");
    return events;
  }
}

/** Characters that take two code units. */
function countPairs(text: string): number {
  let count = 0;
  for (let position = 0; position < text.length; position++) {
    if ((text.charCodeAt(position) & 0xfc00) === 0xd800) count += 1;
  }
  return count;
}
