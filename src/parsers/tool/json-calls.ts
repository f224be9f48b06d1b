import { CallDraft, type CallOutcome } from "./call-draft.ts";
import { readArguments, readString, readValue } from "./json-arguments.ts";
import type { OutputCursor, Reading } from "./output-cursor.ts";

/** Longer names are none: nothing that a server declares comes near it. */
export const MAX_NAME_CHARS = 256;

/** How a call is written as a JSON object. */
export interface CallShape {
  readonly nameKey: string;
  /** The first of them that holds arguments counts. */
  readonly argumentKeys: readonly string[];
}

export const NAME_AND_ARGUMENTS: CallShape = {
  nameKey: "name",
  argumentKeys: ["arguments", "parameters", "args"],
};

/** Other keys of an object that is a call, where no marker says that it is one. */
const KNOWN_EXTRA_KEYS: ReadonlySet<string> = new Set(["id", "type"]);

/**
 * Reads a call written as `{"name": …, "arguments": …}`, whatever the order of its keys and whatever other keys it has.
 * Ids in it are not passed on: they count from 0 in every reply, or come behind the name.
 */
export function* readCallObject(
  cursor: OutputCursor,
  shape: CallShape,
  knownName?: string,
): Reading<CallOutcome> {
  if ((yield* cursor.peek()) !== "{") return "none";
  const draft = new CallDraft(cursor, knownName);
  const isWhole = yield* readMembers(cursor, (key) => readCallMember(cursor, draft, shape, key));
  return draft.settle(isWhole);
}

/**
 * The same where no marker announces a call, so that any JSON may come. It is a call if its keys say so: a name, the
 * arguments, both of the right kind, and nothing else but an id or a type. Held no longer than this is undecided.
 */
export function* readBareCallObject(cursor: OutputCursor, shape: CallShape): Reading<CallOutcome> {
  if ((yield* cursor.peek()) !== "{") return "none";
  const draft = new CallDraft(cursor);
  let hasArguments = false;
  const isWhole = yield* readMembers(cursor, function* readMember(key) {
    if (shape.argumentKeys.includes(key)) hasArguments = true;
    else if (!(draft.hasStarted || key === shape.nameKey || KNOWN_EXTRA_KEYS.has(key))) {
      return false;
    }
    return yield* readCallMember(cursor, draft, shape, key);
  });
  return isWhole && hasArguments ? draft.settle(true) : draft.settleUncertain();
}

function* readCallMember(
  cursor: OutputCursor,
  draft: CallDraft,
  shape: CallShape,
  key: string,
): Reading<boolean> {
  if (key === shape.nameKey && !draft.isNamed) {
    const name = yield* readString(cursor, MAX_NAME_CHARS);
    if (name === undefined || name.trim() === "") return false;
    draft.giveName(name);
    return true;
  }
  if (shape.argumentKeys.includes(key) && !draft.isWhole) {
    return yield* readArguments(cursor, draft);
  }
  return (yield* readValue(cursor)) !== undefined;
}

/** Reads an object whose keys are the names of tools: `{"f": {…}}`. Several keys are several calls. */
export function* readNamedCalls(cursor: OutputCursor): Reading<CallOutcome> {
  if ((yield* cursor.peek()) !== "{") return "none";
  const outcomes: CallOutcome[] = [];
  const isWhole = yield* readMembers(cursor, function* readMember(key) {
    if (key.trim() === "" || key.length > MAX_NAME_CHARS) return false;
    const draft = new CallDraft(cursor, key);
    const outcome = draft.settle(yield* readArguments(cursor, draft));
    outcomes.push(outcome);
    return outcome === "whole";
  });
  const last = outcomes.at(-1) ?? "broken";
  if (last !== "whole") return last;
  if (isWhole) cursor.forget();
  // At the end of the output it may be the beginning of one more call.
  return isWhole ? "whole" : cursor.atEnd ? "broken" : "partial";
}

/** Reads an object member by member; false when it is malformed, cut off, or a member is refused. */
function* readMembers(
  cursor: OutputCursor,
  readMember: (key: string) => Reading<boolean>,
): Reading<boolean> {
  cursor.take(1);
  yield* cursor.skipSpace();
  if (yield* cursor.literal("}")) return true;
  for (;;) {
    const key = yield* readString(cursor);
    if (key === undefined) return false;
    yield* cursor.skipSpace();
    if (!(yield* cursor.literal(":"))) return false;
    yield* cursor.skipSpace();
    if (!(yield* readMember(key))) return false;
    yield* cursor.skipSpace();
    if (yield* cursor.literal("}")) return true;
    if (!(yield* cursor.literal(","))) return false;
    yield* cursor.skipSpace();
  }
}

/**
 * Reads calls in a row: in brackets and with commas, or one after another with nothing, a comma or a semicolon between.
 * False when there is none, or the last one is broken: then what was read and not told is text.
 */
export function* readCallList(
  cursor: OutputCursor,
  readCall: () => Reading<CallOutcome>,
): Reading<boolean> {
  yield* cursor.skipSpace();
  return yield* readCallItems(cursor, readCall, yield* cursor.literal("["));
}

/** The same behind the opening bracket, if there is one. */
export function* readCallItems(
  cursor: OutputCursor,
  readCall: () => Reading<CallOutcome>,
  isBracketed: boolean,
): Reading<boolean> {
  for (let count = 0; ; count++) {
    yield* cursor.skipSpace();
    const outcome = yield* readCall();
    if (outcome === "broken") return false;
    if (outcome === "partial") return true;
    if (outcome === "none" && count === 0) return false;
    yield* cursor.skipSpace();
    if (isBracketed && (yield* cursor.literal("]"))) {
      cursor.forget();
      return true;
    }
    if (outcome === "none") return true;
    yield* cursor.oneOf([",", ";"]);
  }
}
