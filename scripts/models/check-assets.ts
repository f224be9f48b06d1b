import { createModelStore } from "../../src/prompt/load-model.ts";
import type { ModelIndexEntry } from "../../src/prompt/model-asset.ts";
import { MAX_ASSET_BYTES } from "./compile-model.ts";
import type { ModelAssets } from "./model-assets.ts";
import { sha16Of } from "./model-assets.ts";
import { messageOf } from "./model-error.ts";

export interface CheckedModel {
  readonly id: string;
  /** One sentence each; empty for a sound model. */
  readonly problems: readonly string[];
}

export interface CheckedAssets {
  readonly models: readonly CheckedModel[];
  /** Files that no model uses: harmless, but deployed. */
  readonly unused: readonly string[];
}

/** Verifies the hashes and sizes of every model's files and loads each as the edge does. */
export async function checkAssets(assets: ModelAssets): Promise<CheckedAssets> {
  const { models } = await assets.index();
  const checked: CheckedModel[] = [];
  for (const entry of models) {
    const problems = await checkFiles(assets, entry);
    if (problems.length === 0) problems.push(...(await tryLoading(assets, entry.id)));
    checked.push({ id: entry.id, problems });
  }
  return { models: checked, unused: await assets.unused() };
}

async function checkFiles(assets: ModelAssets, entry: ModelIndexEntry): Promise<string[]> {
  const bytes = await assets.read(entry.file);
  if (bytes === null) return [`${entry.file} is missing.`];
  const problems = checkSize(entry.file, bytes);
  if (entry.sha16 !== undefined && entry.sha16 !== sha16Of(bytes)) {
    problems.push(`${entry.file} is not what the index says (sha256).`);
  }
  try {
    const { tokenizer } = await assets.manifest(entry);
    problems.push(...(await checkTokenizer(assets, tokenizer)));
  } catch (error) {
    problems.push(`${messageOf(error)}.`);
  }
  return problems;
}

async function checkTokenizer(
  assets: ModelAssets,
  tokenizer: { readonly file: string; readonly byteLength: number },
): Promise<string[]> {
  const { file, byteLength } = tokenizer;
  const bytes = await assets.read(file);
  if (bytes === null) return [`${file} is missing.`];
  const problems = checkSize(file, bytes);
  if (bytes.byteLength !== byteLength) {
    problems.push(`${file} has ${bytes.byteLength} bytes instead of ${byteLength}.`);
  } else if (!file.startsWith(`tokenizers/${sha16Of(bytes)}.`)) {
    problems.push(`${file} does not hold what its name says (sha256).`);
  }
  return problems;
}

function checkSize(file: string, bytes: Uint8Array): string[] {
  return bytes.byteLength > MAX_ASSET_BYTES ? [`${file} exceeds the 25 MiB of an asset.`] : [];
}

async function tryLoading(assets: ModelAssets, id: string): Promise<string[]> {
  const store = createModelStore({ fetchAsset: (path) => fetchAsset(assets, path) });
  try {
    const model = await store.load(id);
    if (model === null) return ["The index does not list it any more."];
    const { manifest, tokenizer } = model;
    const foreign = manifest.eosTokenIds.filter((eos) => eos >= tokenizer.vocabSize);
    return foreign.length === 0 ? [] : [`It has no tokens ${foreign.join(", ")} to end a reply.`];
  } catch (error) {
    return [`It does not load: ${reasonsOf(error).join(": ")}.`];
  }
}

/** What `createModelStore` reads assets with, from a folder. */
export async function fetchAsset(assets: ModelAssets, path: string): Promise<ArrayBuffer | null> {
  const bytes = await assets.read(path);
  return bytes === null ? null : new Uint8Array(bytes).buffer;
}

function reasonsOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [messageOf(error)];
  return error.cause === undefined ? [error.message] : [error.message, ...reasonsOf(error.cause)];
}
