import type { TokenLogprob } from "../../core/generation-event.ts";

/** Hands out the log probabilities of a choice to the texts that its tokens spell. */
export interface LogprobRuns {
  /** Entries of the deltas to come. */
  add(entries: readonly TokenLogprob[]): void;
  /** The entries whose tokens spell this delta; all that wait when none do, e.g. where the engine changed the text. */
  take(text: string): readonly TokenLogprob[];
  /** A delta that is no text of the model as it stands. */
  skip(): void;
}

export function createLogprobRuns(): LogprobRuns {
  let waiting: readonly TokenLogprob[] = [];
  /** Deltas have come since the last entries: what is left of those belongs to markers between the texts. */
  let isStale = false;
  return {
    add(entries) {
      waiting = isStale ? entries : [...waiting, ...entries];
      isStale = false;
    },
    take(text) {
      isStale = true;
      if (waiting.length === 0) return [];
      const run = findRun(waiting, text) ?? { start: 0, end: waiting.length };
      const taken = waiting.slice(run.start, run.end);
      waiting = waiting.slice(run.end);
      return taken;
    },
    skip() {
      isStale = true;
    },
  };
}

const encoder = new TextEncoder();

/** The first entries in a row whose bytes hold the text's. */
function findRun(
  entries: readonly TokenLogprob[],
  text: string,
): { readonly start: number; readonly end: number } | null {
  const pieces = entries.map(({ bytes }) => toByteString(bytes));
  const wanted = toByteString(encoder.encode(text));
  const from = pieces.join("").indexOf(wanted);
  if (from < 0) return null;
  const to = from + wanted.length;
  let position = 0;
  let start = -1;
  let end = 0;
  for (const [index, piece] of pieces.entries()) {
    const isInside = position < to && position + piece.length > from && piece !== "";
    if (isInside) {
      if (start < 0) start = index;
      end = index + 1;
    }
    position += piece.length;
  }
  return start < 0 ? null : { start, end };
}

/** One character for each byte, so that bytes can be searched. */
function toByteString(bytes: Iterable<number>): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
