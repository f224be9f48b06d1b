import { it } from "vitest";

import { compileTemplate } from "../../../../src/prompt/template/jinja/compile-template.ts";
import { TemplateFailure } from "../../../../src/prompt/template/jinja/failure.ts";
import { createGlobals } from "../../../../src/prompt/template/jinja/globals.ts";
import { parseTemplate } from "../../../../src/prompt/template/jinja/parser.ts";
import { toValue } from "../../../../src/prompt/template/jinja/values.ts";
import { readFeatures } from "./fixtures.ts";

const { now, data, rows } = readFeatures();
const globals = createGlobals(now);
const variables = new Map(Object.entries(data).map(([name, value]) => [name, toValue(value)]));

function render(template: string): { readonly target: string } | { readonly error: string } {
  try {
    return { target: compileTemplate(parseTemplate(template))(globals, variables) };
  } catch (error) {
    if (!(error instanceof TemplateFailure)) throw error;
    return { error: error.kind };
  }
}

/** Errors that Jinja raises while it reads a template. */
const SYNTAX_ERRORS = new Set(["TemplateSyntaxError", "TemplateAssertionError"]);

it.for(rows)("$template", (row, { expect }) => {
  const outcome = render(row.template);
  if (row.target !== undefined) {
    expect(outcome).toEqual({ target: row.target });
  } else if (row.error === "TemplateError") {
    expect(outcome).toEqual({ error: "raised" });
  } else if (SYNTAX_ERRORS.has(row.error ?? "") && !/^No (?:filter|test)/.test(row.message ?? "")) {
    expect(outcome).toEqual({ error: "syntax" });
  } else {
    // A tag that loads another template is a syntax error here.
    expect(outcome).toEqual({ error: row.template.includes("include") ? "syntax" : "failed" });
  }
});

it("covers the language", ({ expect }) => {
  expect(rows.length).toBeGreaterThan(500);
});
