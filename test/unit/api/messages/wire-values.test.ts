import fc from "fast-check";
import { describe, it } from "vitest";

import { parseInput } from "../../../../src/api/messages/parse-input.ts";
import {
  createThoughtSigner,
  fitsThought,
} from "../../../../src/api/messages/thought-signature.ts";
import { fromWireCallId, toWireCallId } from "../../../../src/api/messages/tool-ids.ts";

describe("the input of a call", () => {
  const rows = [
    { text: '{"a":1}', input: { a: 1 } },
    { text: "", input: {} },
    { text: "{", input: {} },
    { text: "[1]", input: {} },
    { text: "7", input: {} },
    { text: '{"a":1', input: {} },
    { text: '{"a":1,', input: { a: 1 } },
    { text: '{"a":"b', input: {} },
    { text: '{"a":"b\\', input: {} },
    { text: '{"a":"b\\"', input: {} },
    { text: '{"a":"b"', input: { a: "b" } },
    { text: '{"a" : "b", "c"', input: { a: "b" } },
    { text: '{"a":"b","c":', input: { a: "b" } },
    { text: '{"a":"{[,","c":tru', input: { a: "{[," } },
    { text: '{"a":[1,2', input: { a: [1] } },
    { text: '{"a":["x","y', input: { a: ["x"] } },
    { text: '{"a":["x","y"', input: { a: ["x", "y"] } },
    { text: '{"a":[{"b":{}},{"c"', input: { a: [{ b: {} }, {}] } },
    { text: '{"a":"line\\nnext","b":"\\u00e', input: { a: "line\nnext" } },
  ];
  it.for(rows)("$text", ({ text, input }, { expect }) => {
    expect(parseInput(text)).toEqual(input);
  });

  it("never throws, and is always an object, wherever a text is cut", ({ expect }) => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, at) => {
        const text = JSON.stringify(value);
        const input = parseInput(text.slice(0, at % (text.length + 1)));
        for (const key of Object.keys(input)) expect(Object.keys(JSON.parse(text))).toContain(key);
      }),
      { seed: 1 },
    );
  });
});

describe("the id of a call", () => {
  const rows = [
    { name: "our own", id: "call_0123abcd", wire: "toolu_0123abcd" },
    { name: "one like the client's", id: "toolu_01X", wire: "toolu_01X" },
    {
      name: "one that the model wrote",
      id: "functions.get_weather:0",
      wire: "toolu_xZnVuY3Rpb25zLmdldF93ZWF0aGVyOjA",
    },
  ];
  it.for(rows)("is written: $name", ({ id, wire }, { expect }) => {
    expect(toWireCallId(id)).toBe(wire);
  });

  it("gives the model its own id back", ({ expect }) => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (id) => {
        if (/^(call|toolu)_/.test(id)) return;
        const wire = toWireCallId(id);
        expect(wire).toMatch(/^toolu_x[A-Za-z0-9_-]+$/);
        expect(fromWireCallId(wire)).toBe(id);
      }),
      { seed: 1 },
    );
  });

  it.for(["toolu_01X", "anything", "toolu_x!", "toolu_x_w"])(
    "leaves %s alone",
    (id, { expect }) => {
      expect(fromWireCallId(id)).toBe(id);
    },
  );
});

describe("a thought's signature", () => {
  it("fits its thought however it was cut, and no other", ({ expect }) => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.string(), (pieces, other) => {
        const signer = createThoughtSigner();
        for (const piece of pieces) signer.push(piece);
        const thought = pieces.join("");
        expect(fitsThought(signer.signature(), thought)).toBe(true);
        if (other !== thought) expect(fitsThought(signer.signature(), other)).toBe(false);
      }),
      { seed: 1 },
    );
  });

  it.for(["", "bW9jaw=="])("of another server says nothing: %s", (signature, { expect }) => {
    expect(fitsThought(signature, "anything")).toBe(true);
  });
});
