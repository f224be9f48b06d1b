import fc from "fast-check";
import { describe, it } from "vitest";

import { createStringField } from "../../../../src/api/responses/json-string-field.ts";

function read(pieces: readonly string[]) {
  const field = createStringField("input");
  return { told: pieces.map((piece) => field.push(piece)), value: field.value };
}

describe("a string field of JSON that is still written", () => {
  it("reads any text, however it is escaped and cut", ({ expect }) => {
    const text = fc.string({ unit: "binary" });
    const escapeAll = (json: string) =>
      json.replace(
        /[^\x20-\x7e]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
    const cuts = fc.array(fc.nat({ max: 80 }), { maxLength: 6 });
    fc.assert(
      fc.property(text, cuts, fc.boolean(), fc.boolean(), (value, places, isEscaped, isSpaced) => {
        const compact = JSON.stringify({ input: value, more: 1 });
        const spaced = isSpaced ? compact.replace('{"input":', '{ "input" : ') : compact;
        const json = isEscaped ? escapeAll(spaced) : spaced;
        const bounds = [0, ...places.toSorted((one, other) => one - other), json.length];
        const pieces = bounds.slice(1).map((end, index) => json.slice(bounds[index], end));
        const result = read(pieces);
        expect(result.told.join("")).toBe(value);
        expect(result.value).toBe(value);
        expect(result.told.every((piece) => piece.isWellFormed())).toBe(true);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  const rows = [
    { name: "tells what is certain", pieces: ['{"input":"a\\', "n", "b"], told: ["a", "\n", "b"] },
    { name: "waits for a whole escape", pieces: ['{"input":"\\u00', "e9"], told: ["", "é"] },
    {
      name: "waits for a whole pair",
      pieces: ['{"input":"\\ud83c', '\\udf0d"}'],
      told: ["", "🌍"],
    },
    { name: "stops at the value's end", pieces: ['{"input":"a"', ',"b":"c"}'], told: ["a", ""] },
    { name: "leaves other fields alone", pieces: ['{"b":"c",', '"input":"a"}'], told: ["", ""] },
    {
      name: "gives up on a field that does not come first",
      pieces: [" ".repeat(300), '{"input":"a"}'],
      told: ["", ""],
    },
  ];

  it.for(rows)("$name", ({ pieces, told }, { expect }) => {
    expect(read(pieces).told).toEqual(told);
  });
});
