import { createHash } from "node:crypto";

import { EdgeError } from "../../src/core/api-error.ts";
import type { ModelManifest } from "../../src/prompt/model-asset.ts";
import type { ChatTemplateSource } from "../../src/prompt/template/chat-template.ts";
import { compileChatTemplate } from "../../src/prompt/template/compile-chat-template.ts";
import type { Tokenizer } from "../../src/prompt/tokenizer/tokenizer.ts";
import type { JsonObject } from "./json.ts";
import { parseJsonObject } from "./json.ts";
import { messageOf, ModelError } from "./model-error.ts";
import type { ModelConfigs } from "./model-facts.ts";
import {
  contextLengthOf,
  eosTokensOf,
  modelKindOf,
  samplingDefaultsOf,
  specialTokensOf,
} from "./model-facts.ts";
import type { ModelFiles } from "./model-files.ts";
import { tokenizerFileOf } from "./model-files.ts";
import type { NamedTemplates } from "./template-files.ts";
import { readTemplates } from "./template-files.ts";
import { buildTokenizer } from "./tokenizer-asset.ts";

export interface CompileOptions {
  /** Name of the model; default: what its source suggests. */
  readonly id?: string;
  readonly contextLength?: number;
  /** Takes the place of the model's own templates. */
  readonly templates?: NamedTemplates;
  /** "auto" and "bpe": our own tokenizer or an error; "huggingface": @huggingface/tokenizers. */
  readonly tokenizer?: "auto" | "bpe" | "huggingface";
  /** Milliseconds since the epoch. */
  readonly now?: number;
}

export interface CompiledModel {
  readonly manifest: ModelManifest;
  readonly tokenizerBytes: Uint8Array;
  readonly tokenizer: Tokenizer;
  readonly origin: string;
  /** How the templates take a message's content; null without a template. */
  readonly contentFormat: "string" | "openai" | null;
  /** What the operator should know, one sentence each. */
  readonly warnings: readonly string[];
}

/** A static asset may have at most 25 MiB. */
export const MAX_ASSET_BYTES = 25 * 1024 * 1024;
/** Keeps a manifest's file name within what file systems take. */
const MAX_ID_LENGTH = 96;

/** A model's files as the assets that the edge reads. Throws a ModelError; writes nothing. */
export function compileModel(model: ModelFiles, options: CompileOptions): CompiledModel {
  const id = checkId(options.id ?? model.suggestedId);
  const configs = readConfigs(model);
  const built = buildTokenizer(tokenizerFileOf(model), {
    kind: options.tokenizer ?? "auto",
    tokenizerConfig: configs.tokenizerConfig,
  });
  checkAssetSize(built.bytes.byteLength, built.kind);
  const templates = options.templates ?? readTemplates(model);
  const chatTemplate: ChatTemplateSource | null =
    templates === null
      ? null
      : { templates: templates.templates, specialTokens: specialTokensOf(configs) };
  const eos = eosTokensOf(configs, (text) => built.tokenizer.idOf(text));
  const contextLength = options.contextLength ?? contextLengthOf(configs);
  const digest = createHash("sha256").update(built.bytes).digest("hex");
  const ending = built.kind === "bpe" ? "bin" : "json";
  const manifest: ModelManifest = {
    v: 1,
    id,
    tokenizer: {
      kind: built.kind,
      file: `tokenizers/${digest.slice(0, 16)}.${ending}`,
      byteLength: built.bytes.byteLength,
    },
    chatTemplate,
    contextLength,
    eosTokenIds: eos.ids,
    generationDefaults: samplingDefaultsOf(configs),
    ...modelKindOf(configs),
    createdAt: Math.floor((options.now ?? Date.now()) / 1000),
  };
  return {
    manifest,
    tokenizerBytes: built.bytes,
    tokenizer: built.tokenizer,
    origin: model.origin,
    contentFormat: chatTemplate === null ? null : contentFormatOf(chatTemplate, templates?.from),
    warnings: [...built.warnings, ...warningsOf(manifest, eos.from, built.tokenizer, configs)],
  };
}

function checkId(id: string): string {
  const problem =
    id === ""
      ? "is empty"
      : id.length > MAX_ID_LENGTH
        ? `is longer than ${MAX_ID_LENGTH} characters`
        : id !== id.trim() || /\p{Cc}|\p{Cs}/u.test(id)
          ? "has white space around it or control characters in it"
          : null;
  if (problem === null) return id;
  throw new ModelError(`the model's name ${JSON.stringify(id)} ${problem}`, {
    hint: "Give it another with --id NAME.",
  });
}

function readConfigs(model: ModelFiles): ModelConfigs {
  const read = (fileName: string): JsonObject => {
    const bytes = model.files.get(fileName);
    return bytes === undefined ? {} : parseJsonObject(bytes, fileName);
  };
  return {
    config: read("config.json"),
    generationConfig: read("generation_config.json"),
    tokenizerConfig: read("tokenizer_config.json"),
    specialTokensMap: read("special_tokens_map.json"),
    ...(model.worker === undefined ? {} : { worker: model.worker }),
  };
}

function checkAssetSize(byteLength: number, kind: ModelManifest["tokenizer"]["kind"]): void {
  if (byteLength <= MAX_ASSET_BYTES) return;
  const size = `${(byteLength / 1024 ** 2).toFixed(1)} MiB`;
  throw new ModelError(`the tokenizer takes ${size}; a static asset may have at most 25 MiB`, {
    hint:
      kind === "huggingface"
        ? "Compile it without `--tokenizer huggingface`: our own form is smaller."
        : "This model's vocabulary is too large for the edge.",
  });
}

/** Parses all templates, so that a broken one is noticed here. */
function contentFormatOf(
  source: ChatTemplateSource,
  from = "the model's files",
): "string" | "openai" {
  try {
    return compileChatTemplate(source).contentFormat({ hasTools: false });
  } catch (error) {
    throw new ModelError(`${from}: ${detailOf(error)}`, {
      hint: "Give another template with --chat-template FILE.",
      cause: error,
    });
  }
}

function detailOf(error: unknown): string {
  const inner = error instanceof EdgeError ? error.error : undefined;
  return inner?.kind === "invalid-request" ? inner.detail : messageOf(error);
}

function warningsOf(
  manifest: ModelManifest,
  eosFrom: ReturnType<typeof eosTokensOf>["from"],
  tokenizer: Tokenizer,
  configs: ModelConfigs,
): string[] {
  const warnings: string[] = [];
  if (manifest.chatTemplate === null) {
    warnings.push(
      "It has no chat template: chat requests are refused unless you add one with --chat-template.",
    );
  }
  if (manifest.contextLength === null) {
    warnings.push(
      "Its context length is unknown: too long prompts reach the engine. Set it with --context-length.",
    );
  }
  if (eosFrom === "nowhere") {
    warnings.push("No file names an end-of-sequence token: replies may end with its text.");
  } else if (eosFrom === "tokenizer" || eosFrom === "config.json") {
    warnings.push(
      `Its end-of-sequence token comes from ${eosFrom === "tokenizer" ? "the tokenizer" : eosFrom} alone: ` +
        "a chat model's further end tokens are named in generation_config.json, which is missing or silent.",
    );
  }
  const unknown = manifest.eosTokenIds.filter((id) => tokenizer.tokenBytes(id).byteLength === 0);
  if (unknown.length > 0) {
    warnings.push(`End-of-sequence ids ${unknown.join(", ")} are not in its vocabulary.`);
  }
  const accepted = configs.worker?.maxPromptTokens ?? 0;
  if (accepted > 0 && manifest.contextLength !== null && accepted + 64 < manifest.contextLength) {
    warnings.push(
      `The worker takes prompts of at most ${accepted} tokens, less than the context length of ` +
        `${manifest.contextLength}; --context-length makes the edge refuse longer ones itself.`,
    );
  }
  return warnings;
}
