import fc from "fast-check";
import { describe, it } from "vitest";

import type { OutputEvent, ReasoningFormat } from "../../../../src/parsers/output-parser.ts";
import { MAX_LEADING_SPACE } from "../../../../src/parsers/reasoning/phase-parser.ts";
import { REASONING_FORMATS } from "../../../../src/parsers/reasoning/registry.ts";
import { cutAt, runParser } from "../../../support/output-parser-suite.ts";

/** Markers of several tokens, and tokens that make one only together: whole, so that random replies hold them. */
const COMPOSED: Readonly<Record<string, readonly string[]>> = {
  kimi_k3: [
    "<|open|>think<|sep|>",
    "<|close|>think<|sep|>",
    "<|open|>response<|sep|>",
    "<|close|>response<|sep|>",
    "<|close|>message<|sep|>",
    "<|open|>tools<|sep|>",
    "<|close|>tools<|sep|>",
  ],
  gemma4: ["<|channel>thought\n", "<|channel>thought<channel|>"],
  muse: [
    " to=self<|message|>",
    "<|start|>assistant to=self<|message|>",
    "<|start|>assistant to=user<|message|>",
    "<|start|>assistant to=f<|message|>",
  ],
  inkling: [
    "<|message_model|><|content_thinking|>",
    "<|message_model|><|content_text|>",
    "<|message_model|>f<|content_invoke_tool_json|>",
  ],
};

/** Tokens that begin a header, whose name is dropped: not alone among digits. */
const HEADER_TOKENS = new Set(["<|message_model|>", "<|start|>"]);

/** Code units that a header may take beside its tokens: names and further white space. */
const HEADER_BOUND: Readonly<Record<string, number>> = { inkling: 256, muse: 256 };

const SPACE = [" ", "\n", "\n\n"];
const LOOK_ALIKES = ["<", "<|", "</", "◁", "[", "]", ">", "think", "<b>", "to", "=", "🗼", "é"];

/** No digit is in a marker, so digits stand for the text that must arrive. */
const DIGITS = Array.from("0123456789");

function markersOf(format: ReasoningFormat): string[] {
  const tokens = format.markers.filter((marker) => !HEADER_TOKENS.has(marker));
  return [...tokens, ...(COMPOSED[format.name] ?? [])];
}

function replies(pieces: readonly string[]): fc.Arbitrary<string> {
  return fc.array(fc.constantFrom(...pieces), { maxLength: 24 }).map((parts) => parts.join(""));
}

function textOf(events: readonly OutputEvent[]): string {
  return events
    .map((event) =>
      event.type === "text-delta" || event.type === "reasoning-delta" ? event.text : "",
    )
    .join("");
}

function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (const character of whole) if (part.startsWith(character, at)) at += character.length;
  return at === part.length;
}

const RUNS = { seed: 1, numRuns: 300 };

for (const format of REASONING_FORMATS.filter(({ name }) => name !== "minimax-append-think")) {
  describe(`random replies read as ${format.name}`, () => {
    const markers = markersOf(format);
    // Of single tokens only: other halves may meet and make a header's token.
    const halves = format.markers.flatMap((marker) => {
      if (HEADER_TOKENS.has(marker)) return [];
      const middle = marker.length >> 1;
      return [marker.slice(0, middle), marker.slice(middle)];
    });

    it("lose and double no text, and come in order", ({ expect }) => {
      const pieces = [...markers, ...halves, ...SPACE, ...LOOK_ALIKES, ...DIGITS, ...DIGITS];
      fc.assert(
        fc.property(replies(pieces), fc.boolean(), (reply, startsInReasoning) => {
          const text = textOf(runParser(format.create({ startsInReasoning }), [reply]));
          expect(text.replace(/\D/g, "")).toBe(reply.replace(/\D/g, ""));
          expect(isSubsequence(text, reply)).toBe(true);
        }),
        RUNS,
      );
    });

    it("are the same however they are cut", ({ expect }) => {
      const pieces = [
        ...format.markers,
        ...markers,
        ...halves,
        ...SPACE,
        ...LOOK_ALIKES,
        ...DIGITS,
      ];
      const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 12 });
      fc.assert(
        fc.property(replies(pieces), cuts, fc.boolean(), (reply, positions, isIn) => {
          const run = (parts: readonly string[]): readonly OutputEvent[] =>
            runParser(format.create({ startsInReasoning: isIn }), parts);
          const whole = run([reply]);
          expect(run(cutAt(reply, positions))).toEqual(whole);
          expect(run(reply.split(""))).toEqual(whole);
        }),
        RUNS,
      );
    });

    it("without a marker pass unchanged", ({ expect }) => {
      const pieces = [...LOOK_ALIKES, ...SPACE, ...DIGITS, "x"];
      fc.assert(
        fc.property(replies(pieces), fc.boolean(), (reply, startsInReasoning) => {
          const type = startsInReasoning ? "reasoning-delta" : "text-delta";
          const expected = reply === "" ? [] : [{ type, text: reply }];
          expect(runParser(format.create({ startsInReasoning }), [reply])).toEqual(expected);
        }),
        RUNS,
      );
    });

    it("are held back no longer than a marker may still come", ({ expect }) => {
      const longest = Math.max(...markers.map((marker) => marker.length));
      const bound = MAX_LEADING_SPACE + longest + (HEADER_BOUND[format.name] ?? 0);
      const pieces = [...markers, ...halves, ...LOOK_ALIKES, ...DIGITS, " ".repeat(40), "text"];
      fc.assert(
        fc.property(replies(pieces), fc.boolean(), (reply, startsInReasoning) => {
          const parser = format.create({ startsInReasoning });
          for (const unit of reply.split("")) {
            parser.push(unit);
            expect(parser.heldLength).toBeLessThanOrEqual(bound);
          }
        }),
        RUNS,
      );
    });
  });
}

describe("what is held back", () => {
  const rows = [
    { format: "qwen3", reply: "a <", held: 1 },
    { format: "qwen3", reply: "a <", held: 0, isIn: false },
    { format: "qwen3", reply: "a </thin", held: 6 },
    { format: "qwen3", reply: "a </thing", held: 0 },
    { format: "qwen3", reply: "a <tool_ca", held: 8 },
    { format: "qwen3", reply: "a <to ", held: 0 },
    { format: "qwen3", reply: "\n\n", held: 2 },
    { format: "qwen3", reply: "\n <thi", held: 6 },
    { format: "qwen3", reply: "\n <thin ", held: 0 },
    { format: "qwen3", reply: "a</think>\n", held: 0 },
    { format: "kimi_k3", reply: "a<|close|>thi", held: 12 },
    { format: "gemma4", reply: "a<|channel>thou", held: 14, isIn: false },
    { format: "muse", reply: " to=sel", held: 7, isIn: false },
    { format: "muse", reply: " to lunch", held: 0, isIn: false },
    { format: "inkling", reply: "a<|message_model|>nam", held: 20, isIn: false },
    { format: "inkling", reply: `<|message_model|>${"x".repeat(256)}`, held: 273, isIn: false },
    { format: "inkling", reply: `<|message_model|>${"x".repeat(257)}`, held: 0, isIn: false },
  ];

  it.for(rows)("$format: '$reply' holds $held", (row, { expect }) => {
    const format = REASONING_FORMATS.find(({ name }) => name === row.format);
    const parser = format?.create({ startsInReasoning: row.isIn ?? true });
    parser?.push(row.reply);
    expect(parser?.heldLength).toBe(row.held);
  });
});
