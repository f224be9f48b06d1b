import { readFileSync } from "node:fs";

import { describe, it } from "vitest";

import { TAGGED_FORMATS } from "../../../src/parsers/constraint/structural-tags.ts";
import { REASONING_FORMATS } from "../../../src/parsers/reasoning/registry.ts";
import { JSON_FORMATS } from "../../../src/parsers/tool/json-formats.ts";
import { MARKUP_FORMATS } from "../../../src/parsers/tool/markup/markup-formats.ts";
import { findToolFormat } from "../../../src/parsers/tool/registry.ts";

const text = readFileSync(new URL("../../../docs/output-formats.md", import.meta.url), "utf8");
const [, calls = "", thoughts = ""] = text.split(/^## (?:Tool calls|Thoughts)$/m);
const callRows = Array.from(calls.matchAll(/^\| `([^`]+)`(.*?) \| .* \| (yes|no) \|$/gm));

describe("docs/output-formats.md", () => {
  it("lists every format of calls, with what constrains it", ({ expect }) => {
    const listed = callRows.map(([, name, , tags]) => [name, tags === "yes"]);
    const names = [...JSON_FORMATS, ...MARKUP_FORMATS].map(({ name }) => name);
    const known = [...names, "gpt-oss"].map((name) => [name, TAGGED_FORMATS.includes(name)]);
    const sorted = (rows: unknown[][]): string[] => rows.map((row) => row.join(" ")).sort();
    expect(sorted(listed)).toEqual(sorted(known));
  });

  it("lists other names that are known", ({ expect }) => {
    for (const [, name = "", others = ""] of callRows) {
      if (name === "gpt-oss") continue;
      for (const [, alias = ""] of others.matchAll(/`([^`]+)`/g)) {
        expect(findToolFormat(alias)?.name).toBe(name);
      }
    }
  });

  it("lists every format of thoughts", ({ expect }) => {
    for (const { name } of REASONING_FORMATS) expect(thoughts).toContain(`\`${name}\``);
  });
});
