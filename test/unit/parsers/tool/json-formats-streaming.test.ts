import { describe, it } from "vitest";

import type { OutputEvent } from "../../../../src/parsers/output-parser.ts";
import { createJsonArrayParser } from "../../../../src/parsers/tool/json-array-parser.ts";
import { JSON_FORMATS } from "../../../../src/parsers/tool/json-formats.ts";
import { foldEvents } from "../../../support/output-parser-suite.ts";
import { TOOLS } from "./tools.ts";

/** A call of `run` as each format writes it, up to the argument's text and behind it. */
const FRAMES: Readonly<Record<string, readonly [string, string]>> = {
  qwen25: ['<tool_call>\n{"name": "run", "arguments": {"code": "', '"}}\n</tool_call>'],
  trinity: ['<tool_call>\n{"name": "run", "arguments": {"code": "', '"}}\n</tool_call>'],
  hermes: ['<tool_call>{"name": "run", "arguments": {"code": "', '"}}</tool_call>'],
  llama3: ['{"name": "run", "parameters": {"code": "', '"}}'],
  pythonic: ['[run(code="', '")]'],
  lfm2: ['<|tool_call_start|>[run(code="', '")]<|tool_call_end|>'],
  mistral: ['[TOOL_CALLS] [{"name": "run", "arguments": {"code": "', '"}}]'],
  deepseekv3: [
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>run\n```json\n{"code": "',
    '"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  deepseekv31: [
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>run<｜tool▁sep｜>{"code": "',
    '"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
  ],
  kimi_k2: [
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.run:0<|tool_call_argument_begin|>{"code": "',
    '"}<|tool_call_end|><|tool_calls_section_end|>',
  ],
  interns1: [
    '<|action_start|> <|plugin|>\n{"name": "run", "parameters": {"code": "',
    '"}}<|action_end|>',
  ],
  apertus2509: ['<|tools_prefix|>[{"run": {"code": "', '"}}]<|tools_suffix|>'],
  cohere_command4: [
    '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "run", "parameters": {"code": "',
    '"}}]<|END_ACTION|>',
  ],
  gigachat3: ['function call<|role_sep|>\n{"name": "run", "arguments": {"code": "', '"}}'],
  inkling: [
    '<|message_model|>run<|content_invoke_tool_json|>{"name":"run","args":{"code":"',
    '"}}<|end_message|>',
  ],
  "json array": ['[{"name": "run", "parameters": {"code": "', '"}}]'],
};

const OPTIONS = { tools: TOOLS, earlierCalls: 0 };

const PARSERS = [
  ...JSON_FORMATS.map(({ name, create }) => ({ name, create: () => create(OPTIONS) })),
  { name: "json array", create: createJsonArrayParser },
].map(({ name, create }) => {
  const [start, end] = FRAMES[name] ?? ["", ""];
  // One character of the text: a quote alone may still be the first of three.
  return { name, create, start: `${start}>`, end };
});

describe("tool calls arrive as they are written", () => {
  it.for(PARSERS)("$name: the name before the argument's text", (row, { expect }) => {
    const parser = row.create();
    const events = row.start.split("").flatMap((char) => parser.push(char));
    expect(events[0]).toMatchObject({ type: "tool-call-start", call: 0, name: "run" });
    expect(parser.heldLength).toBe(0);
  });

  it.for(PARSERS)("$name: 50 kB of an argument, a delta for each piece", (row, { expect }) => {
    const parser = row.create();
    const events: OutputEvent[] = [...parser.push(row.start)];
    const piece = "東京 lorem ipsum dolor sit amet; }]) ";
    for (let count = 0; count < 1_500; count++) {
      const step = parser.push(piece);
      expect(step).toEqual([{ type: "tool-call-delta", call: 0, arguments: piece }]);
      expect(parser.heldLength).toBe(0);
      events.push(...step);
    }
    events.push(...parser.push(row.end), ...parser.end());
    const { content, calls } = foldEvents(events);
    expect(content).toBe("");
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ name: "run", isComplete: true });
    expect(JSON.parse(calls[0]?.arguments ?? "")).toEqual({ code: `>${piece.repeat(1_500)}` });
  });

  it.for(PARSERS)("$name: the end at the last bracket of the arguments", (row, { expect }) => {
    const parser = row.create();
    parser.push(row.start);
    const bracket = row.end.search(/[})]/) + 1;
    const events = parser.push(row.end.slice(0, bracket));
    expect(events.at(-1)).toEqual({ type: "tool-call-end", call: 0 });
  });

  it.for(PARSERS)("$name: ordinary text is not held", (row, { expect }) => {
    const parser = row.create();
    parser.push("Well, ");
    expect(parser.push("the word")).toEqual([{ type: "text-delta", text: "the word" }]);
    expect(parser.heldLength).toBe(0);
  });

  it.for(PARSERS)("$name: a name is given only when it is complete", (row, { expect }) => {
    const long = row.start.replaceAll("run", "run_until_done");
    const parser = row.create();
    const events = long.split("").flatMap((char) => parser.push(char));
    expect(events[0]).toMatchObject({ type: "tool-call-start", name: "run_until_done" });
  });
});
