/**
 * Finds stop strings in running text.
 *
 * The match that ends first wins; of those that end together, the longest. So the result depends on the text alone, not
 * on how it was cut. Only a suffix that is a proper prefix of some stop string is held back (at most the longest stop
 * string less one character), and only until it turns out not to be one.
 */
export interface StopMatcher {
  /**
   * Takes the next piece of the raw text. An invisible piece (a special token that the client does not see) takes part
   * in the match but is never given out. After a match the matcher is spent.
   */
  push(text: string, visible: boolean): StopStep;
  /** What was held back and turned out to be ordinary text. */
  end(): string;
  /** Code units of visible text that are held back. */
  readonly heldLength: number;
}

export interface StopStep {
  /** Visible text that is certain now. */
  readonly text: string;
  /** The stop string that was found, or null. */
  readonly matched: string | null;
}

interface Piece {
  readonly text: string;
  readonly visible: boolean;
}

/** `keepMatch`: give the matched text out as well (`no_stop_trim`). */
export function createStopMatcher(
  stops: readonly string[],
  options: { readonly keepMatch: boolean },
): StopMatcher {
  /** Raw text that may be the start of a stop string, as pieces of one visibility each. */
  let held: Piece[] = [];
  let heldText = "";

  const release = (length: number): string => {
    let text = "";
    let left = length;
    while (left > 0) {
      const piece = held.shift();
      if (piece === undefined) break;
      const taken = piece.text.slice(0, left);
      if (piece.visible) text += taken;
      if (taken.length < piece.text.length) {
        held.unshift({ text: piece.text.slice(left), visible: piece.visible });
      }
      left -= taken.length;
    }
    heldText = heldText.slice(length);
    return text;
  };

  return {
    push(text, visible) {
      if (stops.length === 0) return { text: visible ? text : "", matched: null };
      if (text === "") return { text: "", matched: null };
      held.push({ text, visible });
      heldText += text;
      const match = findFirst(heldText, stops);
      if (match === null) {
        return { text: release(heldText.length - suffixLength(heldText, stops)), matched: null };
      }
      const end = match.start + (options.keepMatch ? match.stop.length : 0);
      const step = { text: release(end), matched: match.stop };
      held = [];
      heldText = "";
      return step;
    },
    end: () => release(heldText.length),
    get heldLength() {
      let length = 0;
      for (const piece of held) if (piece.visible) length += piece.text.length;
      return length;
    },
  };
}

function findFirst(
  text: string,
  stops: readonly string[],
): { readonly start: number; readonly stop: string } | null {
  let best: { readonly start: number; readonly stop: string } | null = null;
  for (const stop of stops) {
    const start = text.indexOf(stop);
    if (start < 0) continue;
    const end = start + stop.length;
    const bestEnd = best === null ? Infinity : best.start + best.stop.length;
    if (end < bestEnd || (end === bestEnd && best !== null && start < best.start)) {
      best = { start, stop };
    }
  }
  return best;
}

/** Length of the longest suffix that is a proper prefix of some stop string. */
function suffixLength(text: string, stops: readonly string[]): number {
  let longest = 0;
  for (const stop of stops) {
    for (let length = Math.min(stop.length - 1, text.length); length > longest; length--) {
      if (stop.startsWith(text.slice(text.length - length))) longest = length;
    }
  }
  return longest;
}
