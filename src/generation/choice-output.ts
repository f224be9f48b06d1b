import type { FinishReason } from "../core/generation-event.ts";
import type { EngineComplete } from "../engine/engine-message.ts";
import { createStopMatcher } from "../parsers/stop-matcher.ts";
import type { Tokenizer } from "../prompt/tokenizer/tokenizer.ts";

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
}

/**
 * Turns the token ids of one choice into its text. Split-invariant: however the ids are cut into pushes, the joined
 * text, the counted tokens and the end are the same.
 */
export interface ChoiceOutput {
  push(tokenIds: readonly number[]): ChoiceStep;
  /** The engine has ended the choice. */
  complete(end: Pick<EngineComplete, "finishReason" | "matchedStop">): ChoiceEnd;
  /** Tokens of the reply so far; stops counting at a stop string. */
  readonly completionTokens: number;
}

export interface ChoiceStep {
  readonly text: string;
  /** The stop string that ends the choice here, or null: whatever the engine still says is not part of it. */
  readonly stoppedBy: string | null;
}

export interface ChoiceEnd {
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly matchedStop: number | string | null;
}

/** `complete` must not be called for an aborted choice: that is an error, not an end. */
export function createChoiceOutput(options: ChoiceOutputOptions): ChoiceOutput {
  const { tokenizer, skipSpecialTokens } = options;
  // Special tokens are left out here, not in the detokenizer: a stop string may name them.
  const detokenizer = tokenizer.createDetokenizer({ skipSpecialTokens: false });
  const stops = createStopMatcher(options.stopStrings, { keepMatch: options.noStopTrim });
  const needsHiddenText = options.stopStrings.length > 0;
  /**
   * A token that may be the one that ended the reply: the engine sends it before it says so. Held until the next token
   * or the end, so that an end token never shows; it stands for no text of its own, so nothing visible waits.
   */
  let heldToken: number | null = null;
  let completionTokens = 0;

  const emit = (id: number): ChoiceStep => {
    if (!skipSpecialTokens || !tokenizer.isSpecial(id)) return toStep(detokenizer.push(id), true);
    return needsHiddenText
      ? toStep(tokenizer.decode([id], { skipSpecialTokens: false }), false)
      : { text: "", stoppedBy: null };
  };
  const toStep = (text: string, visible: boolean): ChoiceStep => {
    const step = stops.push(text, visible);
    return { text: step.text, stoppedBy: step.matched };
  };
  const emitHeld = (): ChoiceStep => {
    if (heldToken === null) return { text: "", stoppedBy: null };
    const id = heldToken;
    heldToken = null;
    return emit(id);
  };

  return {
    get completionTokens() {
      return completionTokens;
    },
    push(tokenIds) {
      let text = "";
      for (const id of tokenIds) {
        const held = emitHeld();
        text += held.text;
        if (held.stoppedBy !== null) return { text, stoppedBy: held.stoppedBy };
        completionTokens += 1;
        if (options.endTokenIds.has(id) || tokenizer.isSpecial(id)) {
          heldToken = id;
          continue;
        }
        const step = emit(id);
        text += step.text;
        if (step.stoppedBy !== null) return { text, stoppedBy: step.stoppedBy };
      }
      return { text, stoppedBy: null };
    },
    complete({ finishReason, matchedStop }) {
      const isEndToken =
        heldToken !== null && (matchedStop === heldToken || options.endTokenIds.has(heldToken));
      if (isEndToken && !options.noStopTrim) heldToken = null;
      const steps = [emitHeld()];
      if (steps[0]?.stoppedBy === null) steps.push(toStep(detokenizer.end(), true));
      const stoppedBy = steps.find((step) => step.stoppedBy !== null)?.stoppedBy ?? null;
      const text =
        steps.map((step) => step.text).join("") + (stoppedBy === null ? stops.end() : "");
      return stoppedBy === null
        ? { text, finishReason: finishReason === "length" ? "length" : "stop", matchedStop }
        : { text, finishReason: "stop", matchedStop: stoppedBy };
    },
  };
}
