import type { ToolFormat } from "../output-parser.ts";
import type { CallOutcome } from "./call-draft.ts";
import { readFramedCalls } from "./call-frame.ts";
import { readCallList, readCallObject, type CallShape } from "./json-calls.ts";
import { createGrammarParser, type OutputCursor, type Reading } from "./output-cursor.ts";

/** A format whose calls are JSON objects between markers, one or several, with or without brackets around them. */
export interface JsonSection {
  readonly name: string;
  /** As in ToolFormat; by default the starts and the ends. */
  readonly markers?: readonly string[];
  readonly starts: readonly string[];
  readonly ends: readonly string[];
  readonly ignored?: readonly string[];
  /** How a call is written: by the keys of an object, or in a way of its own. */
  readonly call: CallShape | ((cursor: OutputCursor) => Reading<CallOutcome>);
}

export function createJsonSectionFormat(section: JsonSection): ToolFormat {
  const { name, starts, ends, ignored = [], call } = section;
  const readCall =
    typeof call === "function" ? call : (cursor: OutputCursor) => readCallObject(cursor, call);
  return {
    name,
    markers: section.markers ?? [...starts, ...ends, ...ignored],
    create: () =>
      createGrammarParser((cursor) =>
        readFramedCalls(cursor, {
          starts,
          ends,
          ignored,
          readCalls: () => readCallList(cursor, () => readCall(cursor)),
        }),
      ),
  };
}
