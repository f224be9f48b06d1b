import fc from "fast-check";
import { describe, it } from "vitest";

import type { ToolFormat } from "../../../../src/parsers/output-parser.ts";
import { JSON_FORMATS } from "../../../../src/parsers/tool/json-formats.ts";
import { cutAt, foldEvents, runParser } from "../../../support/output-parser-suite.ts";
import { readToolRows } from "./tool-rows.ts";
import { TOOLS } from "./tools.ts";

/** Formats whose plain text loses markers. */
const DROPPING: ReadonlySet<string> = new Set(["trinity", "gigachat3", "inkling"]);

/** Outputs made of parts of the format's cases: calls that break off anywhere and go on as others. */
function splicedOutputs(format: ToolFormat): fc.Arbitrary<string> {
  const inputs = readToolRows(format.name).map(({ input }) => input);
  const whole = fc.constantFrom(...inputs.filter((input) => input !== ""));
  const part = fc.tuple(whole, fc.nat(), fc.nat()).map(([input, from, length]) => {
    const start = from % input.length;
    return input.slice(start, start + 1 + (length % (input.length - start)));
  });
  const small = fc.constantFrom(..."{}[]()\"':,;=\\ \n".split(""), ...format.markers);
  return fc
    .array(fc.oneof({ weight: 2, arbitrary: whole }, { weight: 3, arbitrary: part }, small), {
      maxLength: 8,
    })
    .map((pieces) => pieces.join(""));
}

describe("tool formats read anything", () => {
  it.for(JSON_FORMATS)(
    "$name: the same however it is cut, and nothing lost",
    (format, { expect }) => {
      const create = () => format.create({ tools: TOOLS, earlierCalls: 0 });
      const cuts = fc.array(fc.nat({ max: 400 }), { maxLength: 8 });
      fc.assert(
        fc.property(splicedOutputs(format), cuts, (output, positions) => {
          const whole = runParser(create(), [output]);
          expect(runParser(create(), cutAt(output, positions))).toEqual(whole);
          expect(runParser(create(), output.split(""))).toEqual(whole);
          const { content, calls } = foldEvents(whole);
          for (const call of calls.filter(({ isComplete }) => isComplete)) {
            expect(JSON.parse(call.arguments)).toBeTypeOf("object");
          }
          if (calls.length === 0 && !DROPPING.has(format.name)) expect(content).toBe(output);
        }),
        { seed: 7, numRuns: 1_000 },
      );
    },
  );
});
