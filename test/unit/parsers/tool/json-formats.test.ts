import { createJsonArrayParser } from "../../../../src/parsers/tool/json-array-parser.ts";
import { JSON_FORMATS } from "../../../../src/parsers/tool/json-formats.ts";
import { describeOutputParser } from "../../../support/output-parser-suite.ts";
import { readToolRows } from "./tool-rows.ts";
import { TOOLS } from "./tools.ts";

for (const format of JSON_FORMATS) {
  describeOutputParser({
    title: `tool format ${format.name}`,
    rows: readToolRows(format.name),
    create: ({ earlierCalls = 0 }) => format.create({ tools: TOOLS, earlierCalls }),
  });
}

describeOutputParser({
  title: "array of calls that a constraint asked for",
  rows: readToolRows("json-array"),
  create: () => createJsonArrayParser(),
});
