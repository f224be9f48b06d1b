import fc from "fast-check";
import { describe, it } from "vitest";

import type { TokenLogprob } from "../../../src/core/generation-event.ts";
import type { EngineLogprob } from "../../../src/engine/engine-message.ts";
import {
  createChoiceOutput,
  type ChoiceEnd,
  type ChoiceOutputOptions,
} from "../../../src/generation/choice-output.ts";
import type { OutputEvent } from "../../../src/parsers/output-parser.ts";
import { cutAt, joinDeltas } from "../../support/output-parser-suite.ts";
import { loadModel } from "../prompt/tokenizer/compiled-models.ts";

const qwen = loadModel("qwen3");
const llama = loadModel("llama3_1");
const MODELS = [
  { name: "qwen3", tokenizer: qwen, endText: "<|im_end|>" },
  { name: "llama3_1", tokenizer: llama, endText: "<|eot_id|>" },
];

const TEXTS = [
  "Hello, world!",
  "삼겹살 ďábelské 🌍👨‍👩‍👧 naïve café",
  "日本語のテキスト、中文文本。Ελληνικά العربية",
  "line one\nline two\n\n\tindented  spaces   end ",
  "𝕳𝖊𝖑𝖑𝖔 e\u0301 \u200d🏳️‍🌈 \ufffd",
];

function optionsFor(
  tokenizer: typeof qwen,
  more: Partial<ChoiceOutputOptions> = {},
): ChoiceOutputOptions {
  return {
    tokenizer,
    stopStrings: [],
    endTokenIds: new Set(),
    skipSpecialTokens: true,
    noStopTrim: false,
    parser: null,
    parserTokenIds: new Set(),
    ...more,
  };
}

interface Run {
  readonly text: string;
  readonly events: readonly OutputEvent[];
  readonly entries: readonly TokenLogprob[];
  readonly end: ChoiceEnd | null;
  readonly completionTokens: number;
}

/** Runs ids in pieces; checks on the way that no entry comes before its text. */
function run(
  options: ChoiceOutputOptions,
  pieces: readonly (readonly number[])[],
  last: { readonly finishReason: "stop" | "length"; readonly matchedStop: number | string | null },
): Run {
  const output = createChoiceOutput(options);
  const events: OutputEvent[] = [];
  const entries: TokenLogprob[] = [];
  let end: ChoiceEnd | null = null;
  for (const ids of pieces) {
    const step = output.push(ids, ids.map(toRow));
    events.push(...step.events);
    entries.push(...step.logprobs);
    if (step.end !== null) {
      end = step.end;
      break;
    }
  }
  if (end === null) {
    const step = output.complete(last);
    events.push(...step.events);
    entries.push(...step.logprobs);
    ({ end } = step);
  }
  const text = events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
  const { completionTokens } = output;
  return { text, events: joinDeltas(events), entries, end, completionTokens };
}

function toRow(tokenId: number): EngineLogprob {
  return { tokenId, logprob: -tokenId / 1_000_000, top: [{ tokenId, logprob: -0.5 }] };
}

function cutIds(ids: readonly number[], positions: readonly number[]): number[][] {
  const marks = "x".repeat(ids.length);
  let start = 0;
  return cutAt(marks, positions).map((piece) => ids.slice(start, (start += piece.length)));
}

const STOPPED = { finishReason: "stop", matchedStop: null } as const;
const cuts = fc.array(fc.nat({ max: 200 }), { maxLength: 20 });

describe.for(MODELS)("the output of a choice, $name", ({ tokenizer, endText }) => {
  const encode = (text: string): number[] => [
    ...tokenizer.encode(text, { addSpecialTokens: false }),
  ];
  const endId = tokenizer.idOf(endText) ?? -1;

  it.for(TEXTS)("is the decoded text however the ids are cut: %j", (text, { expect }) => {
    const ids = encode(text);
    fc.assert(
      fc.property(cuts, (positions) => {
        const result = run(optionsFor(tokenizer), cutIds(ids, positions), STOPPED);
        expect(result.text).toBe(tokenizer.decode(ids, { skipSpecialTokens: true }));
        expect(result.completionTokens).toBe(ids.length);
        expect(result.entries.flatMap(({ bytes }) => bytes)).toEqual([
          ...new TextEncoder().encode(tokenizer.decode(ids, { skipSpecialTokens: true })),
        ]);
      }),
      { seed: 7, numRuns: 60 },
    );
  });

  it.for(TEXTS)("never shows the end token: %j", (text, { expect }) => {
    const ids = [...encode(text), endId];
    const options = optionsFor(tokenizer, { endTokenIds: new Set([endId]) });
    for (const matchedStop of [endId, null]) {
      const result = run(options, [ids], { finishReason: "stop", matchedStop });
      expect(result.text).toBe(tokenizer.decode(ids.slice(0, -1), { skipSpecialTokens: true }));
      expect(result.entries).toHaveLength(ids.length - 1);
      expect(result.end).toEqual({ finishReason: "stop", matchedStop });
    }
  });

  it.for(TEXTS)(
    "stops where a stop string ends first, however the ids are cut: %j",
    (text, { expect }) => {
      const ids = encode(`${text} and then ${text}`);
      const whole = tokenizer.decode(ids, { skipSpecialTokens: true });
      const characters = Array.from(whole);
      fc.assert(
        fc.property(
          fc.nat({ max: characters.length - 2 }),
          fc.integer({ min: 1, max: 6 }),
          cuts,
          (at, length, positions) => {
            const stop = characters.slice(at, at + length).join("");
            const options = optionsFor(tokenizer, { stopStrings: [stop] });
            const result = run(options, cutIds(ids, positions), STOPPED);
            expect(result.text).toBe(whole.slice(0, whole.indexOf(stop)));
            expect(result.end).toEqual({ finishReason: "stop", matchedStop: stop });
            const keeping = run({ ...options, noStopTrim: true }, cutIds(ids, positions), STOPPED);
            expect(keeping.text).toBe(whole.slice(0, whole.indexOf(stop) + stop.length));
          },
        ),
        { seed: 11, numRuns: 80 },
      );
    },
  );

  it("has an entry for every token that is shown, and none for what a stop trimmed", ({
    expect,
  }) => {
    const ids = encode("The quick brown fox jumps");
    const stop = " fox";
    const result = run(
      optionsFor(tokenizer, { stopStrings: [stop] }),
      ids.map((id) => [id]),
      STOPPED,
    );
    expect(result.text).toBe("The quick brown");
    expect(result.entries.map(({ token }) => token).join("")).toBe("The quick brown");
  });

  it("counts offsets in characters", ({ expect }) => {
    const ids = encode("𝕳i 🌍 ok");
    const { entries } = run(optionsFor(tokenizer), [ids], STOPPED);
    const decoder = tokenizer.createDetokenizer({ skipSpecialTokens: false });
    let characters = 0;
    const expected = ids.map((id) => {
      const offset = characters;
      characters += Array.from(decoder.push(id)).length;
      return offset;
    });
    expect(entries.map(({ textOffset }) => textOffset)).toEqual(expected);
  });

  it("matches a stop string that names a special token, and shows nothing of it", ({ expect }) => {
    const special = endText;
    const ids = [...encode("before"), endId, ...encode(" after")];
    const options = optionsFor(tokenizer, { stopStrings: [special] });
    const result = run(options, [ids], STOPPED);
    expect(result.text).toBe("before");
    expect(result.end?.matchedStop).toBe(special);
  });

  it("shows special tokens when the client asks for them", ({ expect }) => {
    const ids = [...encode("a"), endId, ...encode("b")];
    const options = optionsFor(tokenizer, { skipSpecialTokens: false });
    expect(run(options, [ids], STOPPED).text).toBe(`a${endText}b`);
  });

  it("turns a character that is cut off by the length into one U+FFFD", ({ expect }) => {
    const ids = encode("𒀭");
    const result = run(optionsFor(tokenizer), [ids.slice(0, 1)], {
      finishReason: "length",
      matchedStop: null,
    });
    expect(result.text).toBe("\ufffd");
    expect(result.entries).toHaveLength(1);
    expect(result.end).toEqual({ finishReason: "length", matchedStop: null });
  });
});
