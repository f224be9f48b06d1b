import { CallDraft, type CallOutcome } from "./call-draft.ts";
import { MAX_NAME_CHARS } from "./json-calls.ts";
import type { OutputCursor, Reading } from "./output-cursor.ts";
import { readItems, readPythonLiteral } from "./python-literal.ts";

/** Python's names, dotted ones included, and the dashes that tools have in theirs. */
const NAME = /[\w.\-\u0080-\uffff]*/y;

/**
 * What a name and a bracket behind it mean: no call, a call if one keyword follows with its value, or the first part of
 * a call, even if the output ends here.
 */
export type NameRating = "refused" | "possible" | "certain";

/**
 * Reads a call in Python's syntax, `f(a="x", b=3)`, with literals for arguments, all by keyword. The arguments are
 * written as JSON.
 */
export function* readPythonCall(
  cursor: OutputCursor,
  rateName: (name: string) => NameRating,
): Reading<CallOutcome> {
  const first = yield* cursor.peek();
  if (first === "" || !/[A-Za-z_\u0080-\uffff]/.test(first)) return "none";
  const name = yield* cursor.run(NAME, MAX_NAME_CHARS);
  if (name === undefined || !(yield* cursor.literal("("))) return "broken";
  const rating = rateName(name);
  if (rating === "refused") return "broken";
  const draft = new CallDraft(cursor, name);
  const write = (json: string): void => draft.write(json);
  write("{");
  const isRead = yield* readItems(cursor, ")", write, function* readArgument() {
    const key = yield* cursor.run(NAME, MAX_NAME_CHARS);
    if (key === undefined || key === "") return false;
    yield* cursor.skipSpace();
    if (!(yield* cursor.literal("="))) return false;
    yield* cursor.skipSpace();
    const next = yield* cursor.peek();
    if (next === "" || next === "=") return false;
    write(`${JSON.stringify(key)}:`);
    // A keyword with its value tells a call from any other text in brackets.
    draft.commit();
    return yield* readPythonLiteral(cursor, write);
  });
  if (isRead) write("}");
  return isRead || rating === "certain" ? draft.settle(isRead) : draft.settleUncertain();
}
