import type { ToolFormat } from "../output-parser.ts";
import { NAME_AND_ARGUMENTS, readNamedCalls } from "./json-calls.ts";
import { createJsonSectionFormat } from "./json-section.ts";

const TOOL_CALL = { starts: ["<tool_call>"], ends: ["</tool_call>"], call: NAME_AND_ARGUMENTS };

/** Qwen 2.5 and 3: `<tool_call>\n{"name": …, "arguments": …}\n</tool_call>`. */
export const QWEN25: ToolFormat = createJsonSectionFormat({ name: "qwen25", ...TOOL_CALL });

/** Hermes: the same without line breaks. All white space is read in both. */
export const HERMES: ToolFormat = createJsonSectionFormat({ name: "hermes", ...TOOL_CALL });

/** Arcee Trinity: Qwen's, also amid a thought, whose markers are no content. */
export const TRINITY: ToolFormat = createJsonSectionFormat({
  name: "trinity",
  ...TOOL_CALL,
  ignored: ["<think>", "</think>"],
});

/** Intern-S1: `<|action_start|> <|plugin|>\n{"name": …, "parameters": …}<|action_end|>`. */
export const INTERNS1: ToolFormat = createJsonSectionFormat({
  name: "interns1",
  markers: ["<|action_start|>", "<|plugin|>", "<|action_end|>"],
  starts: ["<|action_start|> <|plugin|>", "<|action_start|><|plugin|>"],
  ends: ["<|action_end|>"],
  call: NAME_AND_ARGUMENTS,
});

/** Apertus: `<|tools_prefix|>[{"f": {…}}, …]<|tools_suffix|>`. */
export const APERTUS2509: ToolFormat = createJsonSectionFormat({
  name: "apertus2509",
  starts: ["<|tools_prefix|>"],
  ends: ["<|tools_suffix|>"],
  call: readNamedCalls,
});

/** Cohere Command: `<|START_ACTION|>[{"tool_call_id": …, "tool_name": …, "parameters": …}]<|END_ACTION|>`. */
export const COHERE_COMMAND4: ToolFormat = createJsonSectionFormat({
  name: "cohere_command4",
  starts: ["<|START_ACTION|>"],
  ends: ["<|END_ACTION|>"],
  call: { nameKey: "tool_name", argumentKeys: ["parameters", "arguments"] },
});

/** GigaChat 3: a message of the role "function call", behind the text's if there is one; 3.1 has a marker instead. */
export const GIGACHAT3: ToolFormat = createJsonSectionFormat({
  name: "gigachat3",
  markers: ["<|message_sep|>", "<|role_sep|>", "<|function_call|>"],
  starts: ["\n\nfunction call<|role_sep|>", "function call<|role_sep|>", "<|function_call|>"],
  ends: [],
  ignored: ["<|message_sep|>"],
  call: NAME_AND_ARGUMENTS,
});
