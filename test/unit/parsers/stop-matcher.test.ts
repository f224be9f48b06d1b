import fc from "fast-check";
import { describe, it } from "vitest";

import { createStopMatcher } from "../../../src/parsers/stop-matcher.ts";

interface Row {
  readonly name: string;
  readonly stops: readonly string[];
  readonly text: string;
  readonly shown: string;
  readonly matched: string | null;
  readonly keepMatch?: true;
}

const rows: readonly Row[] = [
  { name: "no stop strings", stops: [], text: "abc", shown: "abc", matched: null },
  {
    name: "a stop in the middle",
    stops: ["own fox"],
    text: "The quick brown fox jumps",
    shown: "The quick br",
    matched: "own fox",
  },
  { name: "a stop at the start", stops: ["ab"], text: "abc", shown: "", matched: "ab" },
  { name: "a stop at the end", stops: ["c"], text: "abc", shown: "ab", matched: "c" },
  {
    name: "a start that does not become a stop",
    stops: ["\n\nHuman"],
    text: "one\n\nHum",
    shown: "one\n\nHum",
    matched: null,
  },
  {
    name: "a newline that never comes",
    stops: ["\n"],
    text: "Mars?",
    shown: "Mars?",
    matched: null,
  },
  {
    name: "the stop that ends first wins",
    stops: ["bcde", "cd"],
    text: "abcdef",
    shown: "ab",
    matched: "cd",
  },
  {
    name: "of two that end together, the longer",
    stops: ["cd", "bcd"],
    text: "abcdef",
    shown: "a",
    matched: "bcd",
  },
  {
    name: "the order of the list does not matter",
    stops: ["bcd", "cd"],
    text: "abcdef",
    shown: "a",
    matched: "bcd",
  },
  { name: "a repeated prefix", stops: ["aab"], text: "aaaab!", shown: "aa", matched: "aab" },
  {
    name: "kept with no_stop_trim, nothing behind it",
    stops: ["cd"],
    text: "abcdef",
    shown: "abcd",
    matched: "cd",
    keepMatch: true,
  },
  { name: "astral characters", stops: ["🌍!"], text: "hi 🌍🌍!x", shown: "hi 🌍", matched: "🌍!" },
];

function run(row: Pick<Row, "stops" | "keepMatch">, pieces: readonly string[]) {
  const matcher = createStopMatcher(row.stops, { keepMatch: row.keepMatch ?? false });
  let shown = "";
  for (const piece of pieces) {
    const step = matcher.push(piece, true);
    shown += step.text;
    if (step.matched !== null) return { shown, matched: step.matched };
  }
  return { shown: shown + matcher.end(), matched: null };
}

describe("stop matcher", () => {
  it.for(rows)("$name", (row, { expect }) => {
    const expected = { shown: row.shown, matched: row.matched };
    expect(run(row, [row.text])).toEqual(expected);
    expect(run(row, row.text.split(""))).toEqual(expected);
    for (let cut = 0; cut <= row.text.length; cut++) {
      expect(run(row, [row.text.slice(0, cut), row.text.slice(cut)])).toEqual(expected);
    }
  });

  it("does not depend on how the text is cut", ({ expect }) => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 30 });
    const stops = fc.array(
      fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 }),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(
        fc.array(letters, { maxLength: 8 }),
        stops,
        fc.boolean(),
        (pieces, stopStrings, keepMatch) => {
          const row = { stops: stopStrings, ...(keepMatch ? { keepMatch: true as const } : {}) };
          expect(run(row, pieces)).toEqual(run(row, [pieces.join("")]));
        },
      ),
    );
  });

  it("holds back only what may become a stop string", ({ expect }) => {
    const matcher = createStopMatcher(["STOP"], { keepMatch: false });
    expect(matcher.push("hello S", true).text).toBe("hello ");
    expect(matcher.push("T", true).text).toBe("");
    expect(matcher.push("x", true).text).toBe("STx");
  });

  it("matches over invisible text and never shows it", ({ expect }) => {
    const matcher = createStopMatcher(["a<|end|>b", "zz"], { keepMatch: false });
    expect(matcher.push("xa", true)).toEqual({ text: "x", matched: null });
    expect(matcher.push("<|end|>", false)).toEqual({ text: "", matched: null });
    expect(matcher.push("c", true)).toEqual({ text: "ac", matched: null });
    expect(matcher.push("a", true).text).toBe("");
    expect(matcher.push("<|end|>", false).text).toBe("");
    expect(matcher.push("b", true)).toEqual({ text: "", matched: "a<|end|>b" });
  });
});
