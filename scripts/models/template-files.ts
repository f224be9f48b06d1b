import { decodeText, isObject, parseJson } from "./json.ts";
import { ModelError } from "./model-error.ts";
import type { ModelFiles } from "./model-files.ts";
import { templateNameOf } from "./model-files.ts";

export interface NamedTemplates {
  readonly templates: Readonly<Record<string, string>>;
  readonly from: string;
}

/**
 * A model's chat templates by name: chat_template.jinja, else tokenizer_config.json's `chat_template` (a text, or a list
 * of named ones), else chat_template.json; then the other `*.jinja` files by their own names. null when there are none.
 * Throws a ModelError when there are some but none is the default.
 */
export function readTemplates(model: ModelFiles): NamedTemplates | null {
  const templates = new Map<string, string>();
  const from: string[] = [];
  const base = [jinjaDefault(model), ...jsonTemplates(model)].find((found) => found !== null);
  if (base !== undefined && base !== null) {
    from.push(base.from);
    for (const [name, text] of Object.entries(base.templates)) templates.set(name, text);
  }
  for (const [fileName, bytes] of model.files) {
    const name = templateNameOf(fileName);
    if (name === null || name === "default") continue;
    templates.set(name, decodeText(bytes, fileName));
    from.push(fileName);
  }
  if (templates.size === 0) return null;
  const [only] = templates.values();
  if (!templates.has("default")) {
    if (templates.size > 1 || only === undefined) throw noDefault(templates.keys());
    templates.set("default", only);
  }
  return { templates: Object.fromEntries(templates), from: from.join(", ") };
}

function noDefault(names: Iterable<string>): ModelError {
  return new ModelError(`of the chat templates ${[...names].join(", ")} none is the default`, {
    hint: "Choose one with --chat-template FILE.",
  });
}

function jinjaDefault(model: ModelFiles): NamedTemplates | null {
  const fileName = "chat_template.jinja";
  const bytes = model.files.get(fileName);
  if (bytes === undefined) return null;
  return { templates: { default: decodeText(bytes, fileName) }, from: fileName };
}

function jsonTemplates(model: ModelFiles): (NamedTemplates | null)[] {
  return ["tokenizer_config.json", "chat_template.json"].map((fileName) => {
    const bytes = model.files.get(fileName);
    const value = bytes === undefined ? null : parseJson(bytes, fileName);
    const templates = isObject(value) ? templatesOf(value["chat_template"], fileName) : null;
    return templates === null ? null : { templates, from: fileName };
  });
}

/** `chat_template` in JSON: a text, a list of `{name, template}`, or texts by name. */
function templatesOf(value: unknown, fileName: string): Record<string, string> | null {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return { default: value };
  const pairs = Array.isArray(value)
    ? value.map((item: unknown) => (isObject(item) ? [item["name"], item["template"]] : []))
    : isObject(value)
      ? Object.entries(value)
      : [];
  const templates = new Map<string, string>();
  for (const [name, template] of pairs) {
    if (typeof name !== "string" || typeof template !== "string") {
      throw new ModelError(`${fileName}: chat_template holds something else than named texts`);
    }
    templates.set(name, template);
  }
  return templates.size === 0 ? null : Object.fromEntries(templates);
}
