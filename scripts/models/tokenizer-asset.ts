import type { ModelManifest } from "../../src/prompt/model-asset.ts";
import { createHuggingFaceTokenizer } from "../../src/prompt/tokenizer/huggingface-tokenizer.ts";
import { loadTokenizer } from "../../src/prompt/tokenizer/load-tokenizer.ts";
import type { Tokenizer } from "../../src/prompt/tokenizer/tokenizer.ts";
import type { JsonObject } from "./json.ts";
import { parseJsonObject } from "./json.ts";
import { messageOf, ModelError } from "./model-error.ts";
import { TOKENIZER_FILE } from "./model-files.ts";
import { compileTokenizer, UnsupportedTokenizerError } from "./tokenizer/compile-tokenizer.ts";

export interface BuiltTokenizer {
  readonly kind: ModelManifest["tokenizer"]["kind"];
  readonly bytes: Uint8Array;
  /** The same bytes loaded as the edge loads them. */
  readonly tokenizer: Tokenizer;
  readonly warnings: readonly string[];
}

/** tokenizer.json as the asset that the edge loads. Throws a ModelError. */
export function buildTokenizer(
  tokenizerFile: Uint8Array,
  options: {
    readonly kind: "auto" | "bpe" | "huggingface";
    readonly tokenizerConfig: JsonObject;
  },
): BuiltTokenizer {
  const json = parseJsonObject(tokenizerFile, TOKENIZER_FILE);
  return options.kind === "huggingface"
    ? buildHuggingFace(json, options.tokenizerConfig)
    : buildBpe(json, options.tokenizerConfig);
}

function buildBpe(json: JsonObject, tokenizerConfig: JsonObject): BuiltTokenizer {
  try {
    const { bytes } = compileTokenizer(json, tokenizerConfig);
    return { kind: "bpe", bytes, tokenizer: loadTokenizer(copyBuffer(bytes)), warnings: [] };
  } catch (error) {
    if (!(error instanceof UnsupportedTokenizerError)) {
      throw new ModelError(`tokenizer.json cannot be compiled: ${messageOf(error)}`, {
        cause: error,
      });
    }
    throw new ModelError(`this tokenizer is not supported: ${error.message}`, {
      hint:
        "`--tokenizer huggingface` serves it with @huggingface/tokenizers: several times the memory, " +
        "and many times slower.",
      cause: error,
    });
  }
}

function buildHuggingFace(json: JsonObject, tokenizerConfig: JsonObject): BuiltTokenizer {
  // Written anew without the white space, which is a third of some files.
  const bytes = new TextEncoder().encode(
    JSON.stringify({ tokenizer: json, config: tokenizerConfig }),
  );
  try {
    return {
      kind: "huggingface",
      bytes,
      tokenizer: createHuggingFaceTokenizer(copyBuffer(bytes)),
      warnings: [],
    };
  } catch (error) {
    throw new ModelError(
      `@huggingface/tokenizers cannot read this tokenizer: ${messageOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

function copyBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}
