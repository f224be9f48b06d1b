import { BUILTIN_TEMPLATES } from "./builtin-templates.ts";
import { readTemplateOverride } from "./template-override.ts";

/** The names that an operator can give instead of a file. */
export const BUILTIN_TEMPLATE_NAMES: readonly string[] = [...BUILTIN_TEMPLATES.keys()];

/** The Jinja source of a built-in template, or undefined for an unknown name. */
export function builtinTemplate(name: string): string | undefined {
  return BUILTIN_TEMPLATES.get(name)?.template;
}

/**
 * The default template of an operator's override: a Jinja file, a JSON template file (SGLang's or Hugging Face's), or a
 * built-in's name. Throws EdgeError `invalid-request` when it is none.
 */
export function parseTemplateOverride(text: string, fileName: string): string {
  return readTemplateOverride(text, fileName).templates.default;
}
