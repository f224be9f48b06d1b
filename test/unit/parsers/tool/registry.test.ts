import { readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, it } from "vitest";

import { findToolFormat } from "../../../../src/parsers/tool/registry.ts";

/** Names as operators write them, and the format that each means. */
const NAMES = [
  ["qwen25", "qwen25"],
  ["qwen", "qwen25"],
  ["qwen3", "qwen25"],
  ["Hermes", "hermes"],
  ["trinity", "trinity"],
  ["llama3", "llama3"],
  ["llama3_json", "llama3"],
  ["pythonic", "pythonic"],
  ["llama4", "pythonic"],
  ["llama4_pythonic", "pythonic"],
  ["lfm2", "lfm2"],
  ["mistral", "mistral"],
  ["deepseekv3", "deepseekv3"],
  ["DeepSeekV31", "deepseekv31"],
  ["deepseekv32", "deepseekv32"],
  ["kimi_k2", "kimi_k2"],
  ["interns1", "interns1"],
  ["apertus2509", "apertus2509"],
  ["cohere_command4", "cohere_command4"],
  ["gigachat3", "gigachat3"],
  ["inkling", "inkling"],
  ["qwen3_coder", "qwen3_coder"],
  ["qwen_xml", "qwen3_coder"],
  ["qwen_coder", "qwen3_coder"],
  ["step3p5", "qwen3_coder"],
  ["glm", "glm45"],
  ["glm45", "glm45"],
  ["minimax-m2", "minimax-m2"],
] as const;

const DETECTED = (
  JSON.parse(
    readFileSync(
      join(import.meta.dirname, "../../../cases/output/tool/detect-tool-format.json"),
      "utf8",
    ),
  ) as readonly { readonly format?: string | null }[]
).flatMap(({ format }) => format ?? []);

describe("tool formats by name", () => {
  it.for(NAMES)("%s is %s", ([name, format], { expect }) => {
    expect(findToolFormat(name)?.name).toBe(format);
  });

  it.for(["", "none", "constructor", "__proto__", "qwen-25"])(
    "'%s' is none",
    (name, { expect }) => {
      expect(findToolFormat(name)).toBeUndefined();
    },
  );

  it.for([...new Set(DETECTED)].filter((format) => format !== "gpt-oss"))(
    "has %s, which detection gives",
    (format, { expect }) => {
      expect(findToolFormat(format)).toBeDefined();
    },
  );
});
