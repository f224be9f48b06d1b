import { describe, it } from "vitest";

import type {
  OutputEvent,
  OutputParser,
  ToolFormat,
} from "../../../../../src/parsers/output-parser.ts";
import { MARKUP_FORMATS } from "../../../../../src/parsers/tool/markup/markup-formats.ts";
import { foldEvents } from "../../../../support/output-parser-suite.ts";
import { TOOLS } from "./tools.ts";

/** What stands before and after the value of `code` in a call of `run`. */
const FRAMES: Readonly<Record<string, readonly [string, string]>> = {
  deepseekv32: [
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="run">\n<｜DSML｜parameter name="code" string="true">',
    "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>",
  ],
  deepseekv4: [
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="run">\n<｜DSML｜parameter name="code" string="true">',
    "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
  ],
  gemma4: ['<|tool_call>call:run{code:<|"|>', '<|"|>}<tool_call|>'],
  glm45: ["<tool_call>run\n<arg_key>code</arg_key>\n<arg_value>", "</arg_value>\n</tool_call>"],
  glm47: ["<tool_call>run<arg_key>code</arg_key><arg_value>", "</arg_value></tool_call>"],
  hunyuan: [
    "<tool_calls>\n<tool_call>run<tool_sep>\n<arg_key>code</arg_key>\n<arg_value>",
    "</arg_value>\n</tool_call>\n</tool_calls>",
  ],
  kimi_k3: [
    '<|open|>tools<|sep|><|open|>call tool="run" index="1"<|sep|><|open|>argument key="code" type="string"<|sep|>',
    "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
  ],
  mimo: [
    "<tool_call>\n<function=run>\n<parameter=code>",
    "</parameter>\n</function>\n</tool_call>",
  ],
  minicpm5: ['<function name="run"><param name="code"><![CDATA[', "]]></param></function>"],
  "minimax-m2": [
    '<minimax:tool_call>\n<invoke name="run">\n<parameter name="code">',
    "</parameter>\n</invoke>\n</minimax:tool_call>",
  ],
  "minimax-m3": [
    ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="run">]<]minimax[>[<code>',
    "]<]minimax[>[</code>]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
  ],
  muse: [
    '<atem:function_calls>\n<atem:invoke name="run">\n<atem:parameter name="code">',
    "</atem:parameter>\n</atem:invoke>\n</atem:function_calls>",
  ],
  poolside_v1: [
    "<tool_call>run\n<arg_key>code</arg_key>\n<arg_value>",
    "</arg_value>\n</tool_call>",
  ],
  qwen3_coder: [
    "<tool_call>\n<function=run>\n<parameter=code>\n",
    "\n</parameter>\n</function>\n</tool_call>",
  ],
  step3: [
    '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="run"><steptml:parameter name="code">',
    "</steptml:parameter></steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>",
  ],
};

const LINE = 'if (a < b && c["x"]) { s += "\\n 東京 🌍"; } // </x> ]]\n';

function frameOf(format: ToolFormat): readonly [string, string] {
  const frame = FRAMES[format.name];
  if (frame === undefined) throw new Error(`no frame for ${format.name}`);
  return frame;
}

function* piecesOf(text: string, length: number): Generator<string> {
  for (let at = 0; at < text.length; at += length) yield text.slice(at, at + length);
}

function readInPieces(parser: OutputParser, text: string, length: number): OutputEvent[] {
  const events: OutputEvent[] = [];
  for (const piece of piecesOf(text, length)) events.push(...parser.push(piece));
  events.push(...parser.end());
  return events;
}

/** A text of about this many code units that neither begins nor ends with white space. */
function codeOf(length: number): string {
  return `${LINE.repeat(Math.ceil(length / LINE.length))}end`;
}

describe.for(MARKUP_FORMATS)("tool format $name", (format) => {
  it("passes a string of 50,000 characters on as it arrives", ({ expect }) => {
    const [before, after] = frameOf(format);
    const code = codeOf(50_000);
    const parser = format.create({ tools: TOOLS, earlierCalls: 0 });
    const events = [...parser.push(before)];
    let maxHeld = 0;
    let deltas = 0;
    for (const piece of piecesOf(code, 50)) {
      const told = parser.push(piece);
      deltas += told.length;
      maxHeld = Math.max(maxHeld, parser.heldLength);
      events.push(...told);
    }
    events.push(...parser.push(after), ...parser.end());
    const { calls, content } = foldEvents(events);
    expect(content).toBe("");
    expect(calls.map(({ arguments: json }) => JSON.parse(json) as unknown)).toEqual([{ code }]);
    expect(deltas).toBeGreaterThan(code.length / 50 - 10);
    expect(maxHeld).toBeLessThan(50);
  });

  // Time that grows with the square of the length would not end within the time of a test.
  it.for(["string", "unknown", "object"])("reads 1,000,000 characters (%s)", (kind, { expect }) => {
    const [before, after] = frameOf(format);
    const name = kind === "unknown" ? "other" : "run";
    const code = kind === "object" ? JSON.stringify({ a: codeOf(1_000_000) }) : codeOf(1_000_000);
    const parameters = kind === "object" ? { properties: { code: { type: "object" } } } : {};
    const tools = kind === "string" ? TOOLS : [{ name, parameters }];
    const text = before.replace(/\brun\b/, name) + code + after;
    const parser = format.create({ tools, earlierCalls: 0 });
    const events = readInPieces(parser, text, 8);
    const { calls, content } = foldEvents(events);
    expect(content).toBe("");
    expect(calls).toMatchObject([{ name, isComplete: true }]);
    const [argument] = calls.map(({ arguments: json }) => JSON.parse(json) as { code: unknown });
    const isObject = typeof argument?.code === "object";
    expect(isObject ? JSON.stringify(argument.code) : argument?.code).toBe(code);
  });

  it("reads 200,000 characters of text without a call in pieces of one", ({ expect }) => {
    const text = `${"a < b \n ".repeat(25_000)}.`;
    const parser = format.create({ tools: TOOLS, earlierCalls: 0 });
    const events = readInPieces(parser, text, 1);
    expect(foldEvents(events)).toEqual({ content: text, reasoning: "", calls: [] });
  });
});
