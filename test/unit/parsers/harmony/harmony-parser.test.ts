import { readFileSync } from "node:fs";
import { join } from "node:path";

import fc from "fast-check";
import { describe, it } from "vitest";

import { HARMONY_MARKERS } from "../../../../src/parsers/harmony/harmony-model.ts";
import { createHarmonyParser } from "../../../../src/parsers/harmony/harmony-parser.ts";
import {
  cutAt,
  describeOutputParser,
  foldEvents,
  joinDeltas,
  runParser,
} from "../../../support/output-parser-suite.ts";
import type { OutputRow } from "../../../support/output-parser-suite.ts";

interface HarmonyRow extends OutputRow {
  readonly tools?: readonly { readonly name: string }[];
}

const rows: readonly HarmonyRow[] = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../cases/output/harmony/replies.json"), "utf8"),
);

describeOutputParser({
  title: "Harmony",
  rows,
  create: ({ tools }) => createHarmonyParser(tools === undefined ? {} : { tools }),
});

describe("streaming", () => {
  it("names a call before its arguments, and passes them on as they come", ({ expect }) => {
    const parser = createHarmonyParser();
    expect(parser.push("<|channel|>commentary to=functions.f <|constrain|>json")).toEqual([]);
    expect(parser.push("<|message|>")).toEqual([{ type: "tool-call-start", call: 0, name: "f" }]);
    expect(parser.push('{"a":')).toEqual([
      { type: "tool-call-delta", call: 0, arguments: '{"a":' },
    ]);
    expect(joinDeltas(parser.push('"b<|'))).toEqual([
      { type: "tool-call-delta", call: 0, arguments: '"b<|' },
    ]);
    expect(parser.push('"}')).toEqual([{ type: "tool-call-delta", call: 0, arguments: '"}' }]);
    expect(parser.push("<|call|>")).toEqual([{ type: "tool-call-end", call: 0 }]);
    expect(parser.end()).toEqual([]);
  });

  it("keeps the arguments' text as it was written", ({ expect }) => {
    const text = '{ "b" : 1.0,\n"a":"\\u00e9" }';
    const events = runParser(createHarmonyParser(), [
      `<|channel|>commentary to=functions.f<|message|>${text}<|call|>`,
    ]);
    expect(foldEvents(events).calls[0]?.arguments).toBe(text);
  });

  it("holds back no more than may be a marker", ({ expect }) => {
    const parser = createHarmonyParser();
    parser.push("<|channel|>final<|message|>");
    expect(parser.heldLength).toBe(0);
    expect(parser.push("Hello <")).toEqual([{ type: "text-delta", text: "Hello " }]);
    expect(parser.heldLength).toBe(1);
    expect(parser.push("b> <|en")).toEqual([{ type: "text-delta", text: "<b> " }]);
    expect(parser.heldLength).toBe(4);
  });

  it("gives a continued text as soon as it cannot be a header", ({ expect }) => {
    const parser = createHarmonyParser();
    expect(parser.push(" to")).toEqual([]);
    expect(parser.heldLength).toBe(3);
    expect(parser.push(" be")).toEqual([{ type: "text-delta", text: " to be" }]);
  });

  it("holds a header back no longer than its limit", ({ expect }) => {
    const parser = createHarmonyParser();
    let length = 0;
    for (let i = 0; i < 2_000; i++) {
      parser.push(i === 0 ? "<|channel|>final " : "word ");
      length = Math.max(length, parser.heldLength);
    }
    expect(length).toBeLessThan(540);
  });
});

describe("any text at all", () => {
  const words = [
    ...HARMONY_MARKERS,
    "assistant",
    "analysis",
    "commentary",
    "final",
    " ",
    "\n",
    "to=functions.f",
    " to=python",
    "json",
    "{}",
    '{"a":',
    '"b',
    '"}',
    "\\",
    "text",
    "<|",
    "x".repeat(300),
    "<|en",
  ];
  const text = fc
    .array(fc.constantFrom(...words), { maxLength: 24 })
    .map((parts) => parts.join(""));

  it("means the same however it is cut", ({ expect }) => {
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 900 }), { maxLength: 12 }), (input, cuts) => {
        const whole = runParser(createHarmonyParser(), [input]);
        expect(runParser(createHarmonyParser(), cutAt(input, cuts))).toEqual(whole);
        expect(runParser(createHarmonyParser(), input.split(""))).toEqual(whole);
      }),
      { seed: 5, numRuns: 2_000 },
    );
  });

  it("keeps the rules of events, and completes only calls with a JSON object", ({ expect }) => {
    fc.assert(
      fc.property(text, (input) => {
        const { calls } = foldEvents(runParser(createHarmonyParser(), [input]));
        for (const call of calls.filter(({ isComplete }) => isComplete)) {
          expect(JSON.parse(call.arguments)).toBeTypeOf("object");
        }
      }),
      { seed: 6, numRuns: 2_000 },
    );
  });

  it("loses no word of a message", ({ expect }) => {
    const plain = fc
      .string({ unit: "grapheme", maxLength: 40 })
      .filter((each) => !each.includes("<|"));
    fc.assert(
      fc.property(plain, plain, plain, (thought, preamble, answer) => {
        const input =
          `<|channel|>analysis<|message|>${thought}<|end|><|start|>assistant<|channel|>commentary` +
          `<|message|>${preamble}<|end|><|start|>assistant<|channel|>final<|message|>${answer}<|return|>`;
        const parsed = foldEvents(runParser(createHarmonyParser(), [input]));
        expect(parsed).toEqual({ reasoning: thought, content: preamble + answer, calls: [] });
      }),
      { seed: 7 },
    );
  });
});
