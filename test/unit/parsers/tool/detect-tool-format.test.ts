import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, it } from "vitest";

import { readGgufTemplates } from "../../../../scripts/models/gguf-templates.ts";
import { detectToolFormat } from "../../../../src/parsers/tool/detect-tool-format.ts";

interface Row {
  readonly name: string;
  readonly modelName?: string;
  /** A package with a tokenizer_config.json, or `gguf:` and a model of Ollama's library. */
  readonly template?: string;
  /** The template itself. */
  readonly source?: string;
  readonly tokens?: readonly string[];
  /** Absent or null: none. */
  readonly format?: string | null;
}

const ROOT = join(import.meta.dirname, "../../../..");
const CASES = join(ROOT, "test/cases/output/tool/detect-tool-format.json");
const ROWS = JSON.parse(readFileSync(CASES, "utf8")) as readonly Row[];

const ggufTemplates = new Map(
  readGgufTemplates().map(({ model, template }) => [model, template] as const),
);

function readTemplate({ template, source = "" }: Row): string {
  if (template === undefined) return source;
  const found = template.startsWith("gguf:")
    ? ggufTemplates.get(template.slice("gguf:".length))
    : readPackageTemplate(template);
  if (found === undefined) throw new Error(`no template ${template}`);
  return found;
}

function readPackageTemplate(name: string): string | undefined {
  const path = join(ROOT, "node_modules", name, "models/tokenizer_config.json");
  const config = JSON.parse(readFileSync(path, "utf8")) as { readonly chat_template?: string };
  return config.chat_template;
}

describe("the tool format of a model that nobody configured", () => {
  it.for(ROWS)("$name", (row, { expect }) => {
    const tokens = new Set(row.tokens);
    const format = detectToolFormat({
      modelName: row.modelName ?? "model",
      template: readTemplate(row),
      hasToken: (text) => tokens.has(text),
    });
    expect(format ?? null).toBe(row.format ?? null);
  });
});
