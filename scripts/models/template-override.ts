import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

import {
  builtinTemplate,
  BUILTIN_TEMPLATE_NAMES,
  parseTemplateOverride,
} from "../../src/prompt/template/builtin.ts";
import { decodeText } from "./json.ts";
import { messageOf, ModelError } from "./model-error.ts";
import type { NamedTemplates } from "./template-files.ts";

/**
 * The templates that `--chat-template` means: an existing file (Jinja or JSON), else a built-in name. Throws a
 * ModelError.
 */
export function readTemplateOverride(text: string, cwd: string): NamedTemplates {
  const path = resolve(cwd, text);
  if (existsSync(path)) {
    try {
      const template = parseTemplateOverride(decodeText(readFileSync(path), path), path);
      return { templates: { default: template }, from: path };
    } catch (error) {
      throw new ModelError(`${path}: ${messageOf(error)}`, { cause: error });
    }
  }
  const template = builtinTemplate(text);
  if (template !== undefined) return { templates: { default: template }, from: `built-in ${text}` };
  throw new ModelError(`there is no file ${path} and no built-in template ${text}`, {
    hint: `Built-in are ${BUILTIN_TEMPLATE_NAMES.join(", ")}.`,
  });
}
