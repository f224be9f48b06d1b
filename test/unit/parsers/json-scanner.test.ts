import fc from "fast-check";
import { describe, it } from "vitest";

import { createJsonScanner } from "../../../src/parsers/json-scanner.ts";

interface Scanned {
  readonly state: string;
  readonly json: string;
  readonly rest: string;
}

function scanPieces(pieces: readonly string[]): Scanned {
  const scanner = createJsonScanner();
  let json = "";
  let rest = "";
  for (const piece of pieces) {
    const scan = scanner.scan(piece);
    json += scan.json;
    rest += piece.slice(scan.end);
  }
  scanner.finish();
  return { state: scanner.state, json, rest };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const VALUES = [
  "{}",
  "[]",
  ' { "a" : [ 1 , { } ] } ',
  '"a\\"}{\\\\"',
  '"\\u00e9\\/\\b\\f\\n\\r\\t"',
  "true",
  "false",
  "null",
  "0",
  "-0",
  "12",
  "-1.50",
  "1e5",
  "1E+05",
  "0.1e-2",
  '{"東京":"🌍"}',
];

const BROKEN = [
  "{",
  "{]",
  "[1,]",
  '{"a":1,}',
  "{a:1}",
  "{'a':1}",
  '{"a" 1}',
  '{"a":}',
  '{"a"}',
  "[1 2]",
  "01",
  "-",
  "1.",
  ".5",
  "1e",
  "+1",
  "0x1",
  "NaN",
  "Infinity",
  "tru",
  "trux",
  "nul",
  '"\\x41"',
  '"\\u12g4"',
  '"open',
  '"\\',
  "",
  " ",
  "]",
  ",",
];

describe("the end of a JSON value", () => {
  it.for(VALUES)("finds it: %s", (text, { expect }) => {
    const scanned = scanPieces([text]);
    expect(scanned.state).toBe("complete");
    expect(JSON.parse(scanned.json)).toEqual(JSON.parse(text));
    expect(scanned.rest.trim()).toBe("");
  });

  it.for(BROKEN)("is not found: %s", (text, { expect }) => {
    const { state, json, rest } = scanPieces([text]);
    // What comes first may be a value by itself, as the 0 of 01.
    if (state === "complete") expect([isJson(json), rest.trim() !== ""]).toEqual([true, true]);
    else expect(state).toBe("invalid");
  });

  it("leaves what comes behind the value", ({ expect }) => {
    expect(scanPieces(['{"a":"}"} more'])).toEqual({
      state: "complete",
      json: '{"a":"}"}',
      rest: " more",
    });
    expect(scanPieces(["12, 13"])).toEqual({ state: "complete", json: "12", rest: ", 13" });
  });

  it("stops at the first character that does not belong there", ({ expect }) => {
    expect(scanPieces(['{"a": oops}'])).toEqual({
      state: "invalid",
      json: '{"a": ',
      rest: "oops}",
    });
  });

  it("escapes control characters in strings", ({ expect }) => {
    const { state, json } = scanPieces(['{"a\n": "b\t\u0000', '\r"}']);
    expect(state).toBe("complete");
    expect(JSON.parse(json)).toEqual({ "a\n": "b\t\u0000\r" });
  });

  it("refuses what is nested too deep", ({ expect }) => {
    expect(scanPieces(["[".repeat(500) + "]".repeat(500)]).state).toBe("complete");
    expect(scanPieces(["[".repeat(501) + "]".repeat(501)]).state).toBe("invalid");
  });

  it("agrees with JSON.parse on any JSON, however it is cut, and gives it unchanged", ({
    expect,
  }) => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, at) => {
        const cut = at % (text.length + 1);
        for (const pieces of [[text], [text.slice(0, cut), text.slice(cut)], text.split("")]) {
          expect(scanPieces(pieces)).toEqual({ state: "complete", json: text, rest: "" });
        }
      }),
      { seed: 3, numRuns: 500 },
    );
  });

  it("agrees with JSON.parse on JSON with one character changed", ({ expect }) => {
    const changes = fc.constantFrom(...'{}[]",:\\0-1.eEtfn x+u'.split(""));
    fc.assert(
      fc.property(fc.json(), fc.nat(), changes, (text, at, char) => {
        const cut = at % text.length;
        const changed = text.slice(0, cut) + char + text.slice(cut + 1);
        const { state, rest } = scanPieces([changed]);
        expect(state === "complete" && rest.trim() === "").toBe(isJson(changed));
      }),
      { seed: 4, numRuns: 3_000 },
    );
  });
});
