import type { JsonObject } from "./json.ts";
import { ModelError } from "./model-error.ts";

/** A model's files, wherever they came from. */
export interface ModelFiles {
  /** For people: a folder, `package@version`, `org/name@revision`, a URL. */
  readonly origin: string;
  /** The model's name when nobody gives it another. */
  readonly suggestedId: string;
  /** Contents by name (see `isWantedFile`). */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Tokenizer files in other formats that lie beside them, by name. */
  readonly foreignFiles: readonly string[];
  /** What a running worker said about its model. */
  readonly worker?: WorkerFacts;
}

export interface WorkerFacts {
  readonly eosTokenIds: readonly number[];
  /** Largest prompt that the worker takes, in tokens; 0 when it does not say. */
  readonly maxPromptTokens: number;
  readonly samplingDefaults: JsonObject;
  readonly modelType: string | null;
  readonly architectures: readonly string[];
}

export const TOKENIZER_FILE = "tokenizer.json";

/** Files of fixed names that the compiler reads; all but tokenizer.json may be missing. */
export const MODEL_FILE_NAMES = [
  TOKENIZER_FILE,
  "tokenizer_config.json",
  "config.json",
  "generation_config.json",
  "special_tokens_map.json",
  "chat_template.jinja",
  "chat_template.json",
] as const;

/** Where Hugging Face keeps a model's named templates. */
export const TEMPLATE_FOLDER = "additional_chat_templates";

/** Tokenizers in formats that the compiler does not read: named in its error message. */
const FOREIGN_FILE =
  /^(?:tokenizer\.model(?:\.v\d+)?|spiece\.model|sentencepiece\.bpe\.model|tekken\.json|vocab\.(?:json|txt)|merges\.txt|.*\.tiktoken|tiktoken\.model)$/u;

/** Whether the compiler reads a file of that name (a path below the model's folder, with `/`). */
export function isWantedFile(name: string): boolean {
  return MODEL_FILE_NAMES.some((known) => known === name) || templateNameOf(name) !== null;
}

export function isForeignFile(name: string): boolean {
  return FOREIGN_FILE.test(name);
}

/** The name of the template that a file holds: `default` for chat_template.jinja; null when it is no template file. */
export function templateNameOf(fileName: string): string | null {
  const match = /^(?:additional_chat_templates\/)?([^/]+)\.jinja$/u.exec(fileName);
  const stem = match?.[1];
  if (stem === undefined) return null;
  return stem === "chat_template" ? "default" : stem;
}

/** The bytes of tokenizer.json. Throws a ModelError that says what to do when there is none. */
export function tokenizerFileOf(model: ModelFiles): Uint8Array {
  const bytes = model.files.get(TOKENIZER_FILE);
  if (bytes !== undefined) return bytes;
  const found = model.foreignFiles;
  if (found.length === 0) {
    throw new ModelError(`no tokenizer.json in ${model.origin}`, {
      hint: "A model needs at least tokenizer.json; take it from the model's Hugging Face page.",
    });
  }
  throw new ModelError(
    `no tokenizer.json in ${model.origin}, only ${found.join(", ")}, which cannot be compiled`,
    {
      hint:
        "Let transformers convert it, then add the folder it writes:\n" +
        `  python -c 'from transformers import AutoTokenizer; ` +
        `AutoTokenizer.from_pretrained("MODEL").save_pretrained("converted")'\n` +
        "  npm run models -- add ./converted --id NAME",
    },
  );
}
