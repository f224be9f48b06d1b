import { readdirSync, readFileSync } from "node:fs";

const MODULES = new URL("../../../node_modules/", import.meta.url);

/** The texts of the benchmark, cut from files that every installation has. */
export interface BenchTexts {
  readonly chat: string;
  readonly english: string;
  readonly code: string;
  readonly chinese: string;
  /** Some 800 KB of all three. */
  readonly prompt: string;
}

const LENGTH = 100_000;

export function readBenchTexts(): BenchTexts {
  const english = readEnglish();
  const code = readText("typescript/lib/typescript.js").slice(2_000_000);
  const chinese = readChinese();
  const part = 270_000;
  return {
    chat: chatPrompt(english),
    english: english.slice(0, LENGTH),
    code: code.slice(0, LENGTH),
    chinese: cutBytes(chinese, LENGTH),
    prompt: `${english.slice(0, 130_000)}\n${code.slice(0, 2 * part)}\n${cutBytes(chinese, part / 2)}`,
  };
}

/** Texts of a length that a careless tokenizer takes too long for. */
export const HOSTILE: Readonly<Record<string, (bytes: number) => string>> = {
  "one letter": (bytes) => "a".repeat(bytes),
  spaces: (bytes) => " ".repeat(bytes),
  "Chinese without punctuation": (bytes) => {
    const characters = readChinese().replaceAll(/[^\u4e00-\u9fa5]/gu, "");
    const repeats = Math.ceil(bytes / (3 * characters.length));
    return cutBytes(characters.repeat(repeats), bytes);
  },
  base64: (bytes) => randomBase64(bytes),
};

function readText(path: string): string {
  return readFileSync(new URL(path, MODULES), "utf8");
}

/** Sentences of packages' READMEs and of the comments in the DOM's types, each once. */
function readEnglish(): string {
  const lines = new Set<string>();
  for (const name of readdirSync(MODULES).sort()) {
    for (const line of readIfThere(`${name}/README.md`).split("\n")) {
      if (/^[A-Z].{80,}/u.test(line) && !/http|[|`]/u.test(line)) lines.add(line);
    }
  }
  const comments = readText("typescript/lib/lib.dom.d.ts").matchAll(/\*\s+([A-Z][^*@`<]{60,})\n/gu);
  for (const [, sentence] of comments) lines.add(sentence ?? "");
  return [...lines].join("\n");
}

function readIfThere(path: string): string {
  try {
    return readText(path);
  } catch {
    return "";
  }
}

/** The Chinese messages of the TypeScript compiler. */
function readChinese(): string {
  const messages: Record<string, string> = JSON.parse(
    readText("typescript/lib/zh-cn/diagnosticMessages.generated.json"),
  );
  return Object.values(messages)
    .map((message) => message.replaceAll(/ ?['“]?\{\d\}['”]? ?/gu, ""))
    .join("\n");
}

function chatPrompt(english: string): string {
  return `<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n${english.slice(0, 850)}<|im_end|>\n<|im_start|>assistant\n`;
}

/** The start of a text that takes at most so many bytes of UTF-8. */
function cutBytes(text: string, bytes: number): string {
  const cut = Buffer.from(text, "utf8").subarray(0, bytes).toString("utf8");
  return cut.endsWith("\ufffd") ? cut.slice(0, -1) : cut;
}

function randomBase64(bytes: number): string {
  const data = Buffer.alloc(Math.ceil((bytes * 3) / 4));
  let state = 1;
  for (let index = 0; index < data.length; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    data[index] = state >>> 24;
  }
  return data.toString("base64").slice(0, bytes);
}
