import { messageOf, ModelError } from "./model-error.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isTokenId(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0;
}

/** The JSON of a model's file. Throws a ModelError that names the file. */
export function parseJson(bytes: Uint8Array, fileName: string): unknown {
  const text = decodeText(bytes, fileName);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ModelError(`${fileName} is not valid JSON: ${messageOf(error)}`, { cause: error });
  }
}

/** The JSON object of a model's file. Throws a ModelError that names the file. */
export function parseJsonObject(bytes: Uint8Array, fileName: string): JsonObject {
  const value = parseJson(bytes, fileName);
  if (isObject(value)) return value;
  throw new ModelError(`${fileName} holds no JSON object`);
}

/** The text of a model's file, without a byte order mark. Throws a ModelError that names the file. */
export function decodeText(bytes: Uint8Array, fileName: string): string {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new ModelError(`${fileName} is not UTF-8 text`, { cause: error });
  }
  if (text.startsWith("version https://git-lfs.")) {
    throw new ModelError(`${fileName} is a Git LFS pointer, not the file itself`, {
      hint: "Run `git lfs pull` in that folder, or add the model by its Hugging Face id.",
    });
  }
  return text;
}
