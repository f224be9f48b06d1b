import { describe, it } from "vitest";

import { EdgeError } from "../../../../src/core/api-error.ts";
import {
  checkEbnf,
  checkRegex,
  checkTag,
} from "../../../../src/parsers/constraint/check-grammar.ts";

/** The field that is refused; null: it is taken. */
function refusedField(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof EdgeError && error.error.kind === "invalid-request") {
      return error.error.param ?? "";
    }
    throw error;
  }
}

describe("a regular expression", () => {
  const taken = [
    "[ab]+",
    "(a|b)*",
    "\\(",
    "[(]",
    "[]a]",
    "[^]a]",
    "(?:a)",
    "(?P<year>\\d{4})",
    "(?i)abc",
    "[a-z0-9_-]",
    "[\\]]",
    "a{2,3}",
    "^$",
    "[\\w-]",
    "東京|大阪",
    "\\[",
    "[a\\-z]",
  ];
  it.for(taken)("is taken: %s", (text, { expect }) => {
    expect(refusedField(() => checkRegex(text, "regex"))).toBeNull();
  });

  const refused = ["(", ")", "a)", "[", "[a", "[z-a]", "\\", "*a", "(+)", "a|*", "((a)", "[^]"];
  it.for(refused)("is refused: %s", (text, { expect }) => {
    expect(refusedField(() => checkRegex(text, "regex"))).toBe("regex");
  });
});

describe("a grammar", () => {
  it("needs a root", ({ expect }) => {
    expect(refusedField(() => checkEbnf('root ::= "a"', "ebnf"))).toBeNull();
    expect(refusedField(() => checkEbnf('b ::= "a"\n  root ::= b', "ebnf"))).toBeNull();
    expect(refusedField(() => checkEbnf("x", "ebnf"))).toBe("ebnf");
  });
});

describe("a structural tag", () => {
  const schema = { type: "object", properties: { a: { type: "integer" } } };
  const broken = { type: "strin" };
  const rows = [
    {
      name: "a good schema",
      tag: { format: { type: "json_schema", json_schema: schema } },
      refused: null,
    },
    {
      name: "a schema of no type",
      tag: { format: { type: "json_schema", json_schema: broken } },
      refused: "tag.format.json_schema",
    },
    {
      name: "a schema in a tag of several",
      tag: {
        format: {
          type: "triggered_tags",
          tags: [
            { begin: "<a>", content: { type: "json_schema", json_schema: schema }, end: "</a>" },
            {
              begin: "<b>",
              content: { type: "json_schema", json_schema: { $ref: "#/q" } },
              end: "</b>",
            },
          ],
        },
      },
      refused: "tag.format.tags[1].content.json_schema",
    },
    {
      name: "a schema of the older shape",
      tag: {
        structures: [{ begin: "<a>", schema: { $ref: "#/x" }, end: "</a>" }],
        triggers: ["<a"],
      },
      refused: "tag.structures[0].schema",
    },
    {
      name: "a regex",
      tag: { format: { type: "regex", pattern: "(" } },
      refused: "tag.format.pattern",
    },
  ];
  it.for(rows)("$name", ({ tag, refused }, { expect }) => {
    expect(refusedField(() => checkTag(tag, "tag"))).toBe(refused);
  });
});
