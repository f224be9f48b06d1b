import type { CallDraft, CallOutcome } from "./call-draft.ts";
import { readFramedCalls } from "./call-frame.ts";
import { readArguments } from "./json-arguments.ts";
import { MAX_NAME_CHARS } from "./json-calls.ts";
import type { OutputCursor, Reading } from "./output-cursor.ts";

/** Calls of which each has its own markers, in a section with markers of its own. */
export interface TaggedCalls {
  readonly sectionStarts: readonly string[];
  readonly sectionEnds: readonly string[];
  readonly callStart: string;
  readonly callEnd: string;
  /** Reads one call behind its start marker; its end marker may stay unread. */
  readonly readCall: () => Reading<CallOutcome>;
}

/** Calls are read outside a section, too: models forget to open one. */
export function* readTaggedCalls(cursor: OutputCursor, calls: TaggedCalls): Reading<void> {
  const { sectionStarts, sectionEnds, callStart, callEnd, readCall } = calls;
  yield* readFramedCalls(cursor, {
    starts: [...sectionStarts, callStart],
    ends: sectionEnds,
    innerEnds: [callEnd],
    *readCalls(start) {
      let isCall = start === callStart;
      for (let count = 0; ; count++) {
        if (!isCall) {
          yield* cursor.skipSpace();
          if (!(yield* cursor.literal(callStart))) return count > 0;
        }
        const outcome = yield* readCall();
        if (outcome === "none" || outcome === "broken") return false;
        if (outcome === "partial") return true;
        yield* cursor.skipSpace();
        if (yield* cursor.literal(callEnd)) cursor.forget();
        isCall = false;
      }
    },
  });
}

/** Reads the arguments of a call whose header was read; nothing before the end marker is no arguments. */
export function* readTaggedArguments(
  cursor: OutputCursor,
  draft: CallDraft,
  callEnd: string,
): Reading<CallOutcome> {
  yield* cursor.skipSpace();
  const isWhole =
    (yield* cursor.literal(callEnd)) || (!cursor.atEnd && (yield* readArguments(cursor, draft)));
  return draft.settle(isWhole);
}

/** A name as it stands in a header, where nothing quotes it. */
export function toToolName(text: string): string | undefined {
  const name = text.trim();
  return name.length <= MAX_NAME_CHARS && /^[^\s<>|{}[\]()"',;=]+$/.test(name) ? name : undefined;
}
