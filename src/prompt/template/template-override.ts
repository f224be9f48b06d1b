import { invalidRequest } from "../../core/api-error.ts";
import { BUILTIN_TEMPLATES } from "./builtin-templates.ts";
import { fromConversation } from "./conversation-template.ts";
import { TemplateFailure } from "./jinja/failure.ts";
import { parseTemplate } from "./jinja/parser.ts";

type NamedTemplates = Readonly<Record<string, string>> & { readonly default: string };

/** An operator's replacement of a model's own chat template. */
export interface TemplateOverride {
  /** By name, as in ChatTemplateSource. */
  readonly templates: NamedTemplates;
  /** Strings that end a reply under this template, beside the model's own end tokens. */
  readonly stop: readonly string[];
}

/**
 * What an operator gave as a chat template: a built-in's name in `text`, a JSON file (SGLang's conversation template, or
 * Hugging Face's `{"chat_template": …}`), or a Jinja file. Throws EdgeError `invalid-request` when it is none.
 */
export function readTemplateOverride(text: string, fileName: string): TemplateOverride {
  const builtin = BUILTIN_TEMPLATES.get(text.trim());
  if (builtin !== undefined)
    return { templates: { default: builtin.template }, stop: builtin.stop };
  const override = fileName.endsWith(".json")
    ? fromJson(text)
    : { templates: { default: text.replaceAll(/^\n+|\n+$/g, "") }, stop: [] };
  for (const [name, template] of Object.entries(override.templates)) check(name, template);
  return override;
}

function fromJson(text: string): TemplateOverride {
  const file = parseJson(text);
  if (!isRecord(file)) throw invalidRequest("The template file must hold a JSON object.");
  if (file["sep_style"] !== undefined) {
    const { template, stop } = fromConversation(file);
    return { templates: { default: template }, stop };
  }
  return { templates: namedTemplates(file["chat_template"]), stop: [] };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest("The template file is not JSON.");
  }
}

/** Hugging Face's `chat_template`: one text, or a list of `{name, template}`. */
function namedTemplates(value: unknown): NamedTemplates {
  if (typeof value === "string") return { default: value };
  const entries = (Array.isArray(value) ? value : []).flatMap((entry: unknown) => {
    if (!isRecord(entry)) return [];
    const { name, template } = entry;
    return typeof name === "string" && typeof template === "string"
      ? [[name, template] as const]
      : [];
  });
  const templates = Object.fromEntries(entries);
  const { default: main } = templates;
  if (main !== undefined) return { ...templates, default: main };
  throw invalidRequest("The template file has neither 'sep_style' nor a default 'chat_template'.");
}

function check(name: string, template: string): void {
  try {
    parseTemplate(template);
  } catch (error) {
    if (!(error instanceof TemplateFailure)) throw error;
    throw invalidRequest(`The chat template '${name}' is not valid: ${error.message}`);
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
