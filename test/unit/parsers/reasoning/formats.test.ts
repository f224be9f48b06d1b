import { describe, it } from "vitest";

import type { ReasoningFormat } from "../../../../src/parsers/output-parser.ts";
import {
  findReasoningFormat,
  REASONING_FORMATS,
} from "../../../../src/parsers/reasoning/registry.ts";
import cohereCommand4 from "../../../cases/output/reasoning/cohere-command4.json" with { type: "json" };
import gemma4 from "../../../cases/output/reasoning/gemma4.json" with { type: "json" };
import inkling from "../../../cases/output/reasoning/inkling.json" with { type: "json" };
import kimiK3 from "../../../cases/output/reasoning/kimi-k3.json" with { type: "json" };
import minimaxAppendThink from "../../../cases/output/reasoning/minimax-append-think.json" with { type: "json" };
import muse from "../../../cases/output/reasoning/muse.json" with { type: "json" };
import tagged from "../../../cases/output/reasoning/tagged.json" with { type: "json" };
import thinkTags from "../../../cases/output/reasoning/think-tags.json" with { type: "json" };
import type { OutputRow } from "../../../support/output-parser-suite.ts";
import { describeOutputParser } from "../../../support/output-parser-suite.ts";

interface ReasoningRow extends OutputRow {
  readonly startsInReasoning: boolean;
}

/** Rows that hold for several formats. */
interface RowGroup {
  readonly formats: readonly string[];
  readonly rows: readonly ReasoningRow[];
}

const groups: readonly RowGroup[] = [
  ...thinkTags,
  ...tagged,
  ...kimiK3,
  ...cohereCommand4,
  ...gemma4,
  ...muse,
  ...inkling,
  ...minimaxAppendThink,
];

function rowsOf(format: ReasoningFormat): readonly ReasoningRow[] {
  return groups.flatMap(({ formats, rows }) => (formats.includes(format.name) ? rows : []));
}

for (const format of REASONING_FORMATS) {
  describeOutputParser({ title: format.name, rows: rowsOf(format), create: format.create });
}

describe("the rows", () => {
  it.for(REASONING_FORMATS)(
    "show $name full, plain, cut off and non-ASCII",
    (format, { expect }) => {
      const rows = rowsOf(format);
      expect(rows.length).toBeGreaterThanOrEqual(6);
      expect(rows.some((row) => /[^\0-\x7f]/.test(row.input.replace(/[◁▷｜▁]/g, "")))).toBe(true);
    },
  );

  it("name only formats that exist", ({ expect }) => {
    const names = groups.flatMap(({ formats }) => formats);
    expect(names.filter((name) => findReasoningFormat(name) === undefined)).toEqual([]);
  });
});
