import type { ToolFormat } from "../output-parser.ts";
import { readFramedCalls } from "./call-frame.ts";
import { MAX_NAME_CHARS, NAME_AND_ARGUMENTS, readCallObject } from "./json-calls.ts";
import { createGrammarParser, type OutputCursor, type Reading } from "./output-cursor.ts";
import { toToolName } from "./tagged-calls.ts";

const MESSAGE = "<|message_model|>";
const CALL = "<|content_invoke_tool_json|>";
const TEXT = "<|content_text|>";
const END_MESSAGE = "<|end_message|>";
const END_SAMPLING = "<|content_model_end_sampling|>";

/** What may stand between a message's start and its kind: no white space, and not the beginning of a marker. */
const HEADER = /[^\s<]*/y;

/**
 * Inkling: a reply is a row of messages, each with a header and a kind. A call's header is the tool's name, which is in
 * its JSON again; the start of the first message may have been in the prompt. What only frames messages is no content.
 */
export const INKLING: ToolFormat = {
  name: "inkling",
  markers: [MESSAGE, CALL, TEXT, END_MESSAGE, END_SAMPLING],
  create: () => createGrammarParser(readInkling),
};

function* readInkling(cursor: OutputCursor): Reading<void> {
  if (!(yield* readHeadedCall(cursor))) cursor.giveBack();
  yield* readFramedCalls(cursor, {
    starts: [MESSAGE, CALL],
    ends: [],
    ignored: [TEXT, END_MESSAGE, END_SAMPLING],
    *readCalls(start) {
      if (start === CALL) return yield* readCall(cursor, undefined);
      cursor.forget();
      return yield* readHeadedCall(cursor);
    },
  });
}

/** Reads a header, and the call if it heads one. */
function* readHeadedCall(cursor: OutputCursor): Reading<boolean> {
  const header = yield* cursor.run(HEADER, MAX_NAME_CHARS);
  if (header === undefined) return false;
  return (yield* cursor.literal(CALL)) && (yield* readCall(cursor, toToolName(header)));
}

function* readCall(cursor: OutputCursor, name: string | undefined): Reading<boolean> {
  yield* cursor.skipSpace();
  const outcome = yield* readCallObject(cursor, NAME_AND_ARGUMENTS, name);
  return outcome === "partial" || outcome === "whole";
}
