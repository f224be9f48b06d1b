import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { OutputRow } from "../../../support/output-parser-suite.ts";

/** A row of the case files of tool formats, one file for each format. */
export interface ToolRow extends OutputRow {
  readonly format: string;
  readonly earlierCalls?: number;
}

const CASES = join(import.meta.dirname, "../../../cases/output/tool");

export function readToolRows(format: string): readonly ToolRow[] {
  return JSON.parse(readFileSync(join(CASES, `${format}.json`), "utf8")) as readonly ToolRow[];
}
