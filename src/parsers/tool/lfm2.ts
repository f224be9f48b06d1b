import type { ToolFormat } from "../output-parser.ts";
import type { CallOutcome } from "./call-draft.ts";
import { NAME_AND_ARGUMENTS, readCallObject } from "./json-calls.ts";
import { createJsonSectionFormat } from "./json-section.ts";
import type { OutputCursor, Reading } from "./output-cursor.ts";
import { readPythonCall } from "./python-calls.ts";

/** Liquid LFM2: a list of calls between markers, in Python's syntax or as JSON. */
export const LFM2: ToolFormat = createJsonSectionFormat({
  name: "lfm2",
  starts: ["<|tool_call_start|>"],
  ends: ["<|tool_call_end|>"],
  call: readCall,
});

function* readCall(cursor: OutputCursor): Reading<CallOutcome> {
  const outcome = yield* readCallObject(cursor, NAME_AND_ARGUMENTS);
  return outcome === "none" ? yield* readPythonCall(cursor, () => "certain") : outcome;
}
