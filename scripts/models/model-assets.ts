import { createHash, randomUUID } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { modelFile } from "../../src/prompt/load-model.ts";
import type { ModelIndex, ModelIndexEntry, ModelManifest } from "../../src/prompt/model-asset.ts";
import { parseModelIndex, parseModelManifest } from "../../src/prompt/schema.ts";
import { withAssetLock } from "./asset-lock.ts";
import { MAX_ASSET_BYTES } from "./compile-model.ts";
import { messageOf, ModelError } from "./model-error.ts";

const INDEX_FILE = "models/index.json";
const FOLDERS = ["models", "tokenizers"];

export interface ModelToWrite {
  readonly manifest: ModelManifest;
  readonly tokenizerBytes: Uint8Array;
}

/** The compiled models in a folder of static assets. */
export interface ModelAssets {
  readonly folder: string;
  /** The bytes of an asset; null when there is none. */
  read(path: string): Promise<Uint8Array | null>;
  index(): Promise<ModelIndex>;
  manifest(entry: ModelIndexEntry): Promise<ModelManifest>;
  /** Writes models, in place of those of the same names, and deletes what no model uses any more. */
  write(models: readonly ModelToWrite[]): Promise<void>;
  /** Whether there was a model of that name. */
  remove(id: string): Promise<boolean>;
  /** Files that no model uses. */
  unused(): Promise<readonly string[]>;
}

/**
 * Every file is written under another name and renamed, the index last: a reader sees the old models or the new ones.
 * Writers wait for each other.
 */
export function openModelAssets(folder: string): ModelAssets {
  const assets: ModelAssets = {
    folder,
    read: (path) => readOrNull(join(folder, path)),
    async index() {
      const bytes = await assets.read(INDEX_FILE);
      if (bytes === null) return { v: 1, models: [] };
      return parseFile(
        INDEX_FILE,
        bytes,
        parseModelIndex,
        `Delete ${folder} and add the models again.`,
      );
    },
    async manifest(entry) {
      const bytes = await assets.read(entry.file);
      if (bytes === null) throw new ModelError(`${entry.file} is missing`, { hint: ADD_AGAIN });
      return parseFile(entry.file, bytes, parseModelManifest, ADD_AGAIN);
    },
    write: (models) => withAssetLock(folder, () => writeModels(assets, models)),
    remove: (id) => withAssetLock(folder, () => removeModel(assets, id)),
    unused: () => findUnused(assets),
  };
  return assets;
}

const ADD_AGAIN = "Add the model again.";

function parseFile<T>(
  path: string,
  bytes: Uint8Array,
  parse: (text: string) => T,
  hint: string,
): T {
  try {
    return parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw new ModelError(`${path} is damaged: ${messageOf(error)}`, { hint, cause: error });
  }
}

/** `assets.write` for one who holds the lock already. */
export async function writeModels(
  assets: ModelAssets,
  models: readonly ModelToWrite[],
): Promise<void> {
  const entries: ModelIndexEntry[] = [];
  const files: { readonly path: string; readonly bytes: Uint8Array }[] = [];
  for (const { manifest, tokenizerBytes } of models) {
    const bytes = new TextEncoder().encode(`${JSON.stringify(manifest)}\n`);
    if (bytes.byteLength > MAX_ASSET_BYTES) {
      throw new ModelError(`the chat templates of ${manifest.id} exceed the 25 MiB of an asset`);
    }
    const file = modelFile(manifest.id);
    files.push({ path: manifest.tokenizer.file, bytes: tokenizerBytes }, { path: file, bytes });
    entries.push({
      id: manifest.id,
      file,
      createdAt: manifest.createdAt,
      sha16: sha16Of(bytes),
    });
  }
  const { models: old } = await assets.index();
  const kept = old.filter((entry) => !entries.some((added) => added.id === entry.id));
  for (const { path, bytes } of files) await writeAtomically(join(assets.folder, path), bytes);
  await writeIndex(assets, [...kept, ...entries]);
  await removeUnused(assets);
}

async function removeModel(assets: ModelAssets, id: string): Promise<boolean> {
  const { models } = await assets.index();
  const kept = models.filter((entry) => entry.id !== id);
  if (kept.length === models.length) return false;
  await writeIndex(assets, kept);
  await removeUnused(assets);
  return true;
}

async function writeIndex(assets: ModelAssets, entries: readonly ModelIndexEntry[]): Promise<void> {
  const models = [...entries].sort((a, b) => (a.id < b.id ? -1 : 1));
  const text = `${JSON.stringify({ v: 1, models } satisfies ModelIndex, null, 2)}\n`;
  await writeAtomically(join(assets.folder, INDEX_FILE), new TextEncoder().encode(text));
}

async function removeUnused(assets: ModelAssets): Promise<void> {
  for (const path of await findUnused(assets)) await rm(join(assets.folder, path), { force: true });
}

async function findUnused(assets: ModelAssets): Promise<readonly string[]> {
  const used = new Set([INDEX_FILE]);
  for (const entry of (await assets.index()).models) {
    used.add(entry.file);
    try {
      used.add((await assets.manifest(entry)).tokenizer.file);
    } catch {
      // Which tokenizer a damaged manifest wants is unknown, so none counts as unused.
      return [];
    }
  }
  const found: string[] = [];
  for (const folder of FOLDERS) {
    for (const name of await listFolder(join(assets.folder, folder)))
      found.push(`${folder}/${name}`);
  }
  return found.filter((path) => !used.has(path)).sort();
}

async function listFolder(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function readOrNull(path: string): Promise<Uint8Array | null> {
  try {
    return new Uint8Array(await readFile(path));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Leaves a file alone that holds these bytes already: tokenizers are named by their content. */
async function writeAtomically(path: string, bytes: Uint8Array): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  if (await hasContent(path, bytes)) return;
  const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
  try {
    await writeFile(temporary, bytes);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function hasContent(path: string, bytes: Uint8Array): Promise<boolean> {
  try {
    if ((await stat(path)).size !== bytes.byteLength) return false;
    return Buffer.compare(await readFile(path), bytes) === 0;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

/** First 16 hex digits of the sha256. */
export function sha16Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}
