import { readFileSync } from "node:fs";
import { join } from "node:path";

import { MARKUP_FORMATS } from "../../../../../src/parsers/tool/markup/markup-formats.ts";
import { describeOutputParser, type OutputRow } from "../../../../support/output-parser-suite.ts";
import { TOOLS } from "./tools.ts";

interface ToolRow extends OutputRow {
  readonly format: string;
}

const CASES = join(import.meta.dirname, "../../../../cases/output/tool/markup");

function readRows(file: string): readonly ToolRow[] {
  return JSON.parse(readFileSync(join(CASES, `${file}.json`), "utf8")) as readonly ToolRow[];
}

for (const format of MARKUP_FORMATS) {
  describeOutputParser({
    title: `tool format ${format.name}`,
    rows: readRows(format.name),
    create: () => format.create({ tools: TOOLS, earlierCalls: 0 }),
  });
}
