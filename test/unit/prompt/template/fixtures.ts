import { readFileSync } from "node:fs";
import { join } from "node:path";

const CASES = join(import.meta.dirname, "../../../cases/template");

export interface ChatCase {
  readonly name: string;
  readonly messages: readonly { readonly role: string; readonly content: string | null }[];
  readonly tools?: readonly unknown[];
  readonly kwargs?: Readonly<Record<string, unknown>>;
  readonly addGenerationPrompt?: boolean;
  readonly continueFinalMessage?: boolean;
}

/** What Hugging Face gives for a case: the text, the start of its SHA-256, or the error that it raises. */
export interface RenderedCase {
  readonly case: string;
  readonly text?: string;
  readonly sha256?: string;
  readonly error?: string;
  readonly message?: string;
}

export interface RenderedTemplate {
  readonly name: string;
  readonly path: string;
  readonly sha256: string;
  readonly rows: readonly RenderedCase[];
}

export interface FeatureRow {
  readonly template: string;
  readonly target?: string;
  readonly error?: string;
  readonly message?: string;
}

function read(name: string): string {
  return readFileSync(join(CASES, name), "utf8");
}

function readLines(name: string): unknown[] {
  return read(name)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

export function readChats(): { readonly now: Date; readonly cases: ReadonlyMap<string, ChatCase> } {
  const file = JSON.parse(read("chats.json"));
  const cases: readonly ChatCase[] = file.cases;
  return { now: new Date(file.now), cases: new Map(cases.map((chat) => [chat.name, chat])) };
}

export function readRenderedTemplates(): readonly RenderedTemplate[] {
  const templates: (RenderedTemplate & { readonly rows: RenderedCase[] })[] = [];
  for (const line of readLines("chats-rendered.jsonl")) {
    if (isTemplateLine(line)) templates.push({ ...line.template, rows: [] });
    else if (isRow(line)) templates.at(-1)?.rows.push(line);
  }
  return templates;
}

export function readFeatures(): {
  readonly now: Date;
  readonly data: Readonly<Record<string, unknown>>;
  readonly rows: readonly FeatureRow[];
} {
  const [head, ...rows] = readLines("features.jsonl");
  if (!isFeatureHead(head)) throw new Error("features.jsonl has no head");
  return { now: new Date(head.now), data: head.data, rows: rows.filter(isFeatureRow) };
}

function has(value: unknown, key: string): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && key in value;
}

function isTemplateLine(
  line: unknown,
): line is { readonly template: Omit<RenderedTemplate, "rows"> } {
  return has(line, "template");
}

function isRow(line: unknown): line is RenderedCase {
  return has(line, "case");
}

function isFeatureHead(
  line: unknown,
): line is { readonly now: string; readonly data: Readonly<Record<string, unknown>> } {
  return has(line, "data") && has(line, "now");
}

function isFeatureRow(line: unknown): line is FeatureRow {
  return has(line, "template");
}
