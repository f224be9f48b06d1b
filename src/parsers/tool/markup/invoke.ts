import { attributeHead, attributeParameter } from "./heads.ts";
import type { ReadArguments } from "./markup-calls.ts";
import type { Trim } from "./raw-value.ts";
import { tagArguments } from "./tag-arguments.ts";

/** A call as a tag with a name. */
export const readInvoke = attributeHead("name", [">", "/>"]);

/** Parameters as tags with a name; `prefix` is the tags' namespace. */
export function invokeArguments(trim: Trim, prefix = ""): ReadArguments {
  return tagArguments({
    callEnd: `</${prefix}invoke>`,
    parameter: `<${prefix}parameter`,
    readParameter: attributeParameter("name", [">"]),
    parameterEnd: `</${prefix}parameter>`,
    trim,
  });
}
