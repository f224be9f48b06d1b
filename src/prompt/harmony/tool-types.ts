import { dumpJson } from "../template/jinja/python-json.ts";
import { toText } from "../template/jinja/python-text.ts";
import { codePointLength, isTruthy, toValue } from "../template/jinja/values.ts";

/** A function as the prompt shows it. */
export interface HarmonyTool {
  readonly name: string;
  readonly description: string | undefined;
  /** JSON schema of the arguments. */
  readonly parameters: unknown;
}

type Schema = Readonly<Record<string, unknown>>;

/** Longest type of an array's items that is written out; a longer one is `any`. In code points. */
const MAX_ITEM_TYPE_LENGTH = 50;
/** Levels of a schema that are written out; what is below is `any`. Far above real schemas; keeps the stack small. */
const MAX_DEPTH = 100;

/**
 * The tools as TypeScript-like declarations, exactly as gpt-oss models were taught to read them: `namespace functions`
 * with one type for each tool. Types that the form does not know (`anyOf`, `$ref`, `const`) are `any`; only the
 * descriptions of a tool and of its own parameters are shown, not those of nested ones.
 */
export function renderToolNamespace(tools: readonly HarmonyTool[]): string {
  const declarations = tools.map((tool) => {
    const comment = tool.description === undefined ? "" : `// ${tool.description}\n`;
    return `${comment}type ${tool.name} = ${signature(tool.parameters)} => any;\n\n`;
  });
  return `## functions\n\nnamespace functions {\n\n${declarations.join("")}} // namespace functions`;
}

function signature(parameters: unknown): string {
  if (!isRecord(parameters) || !hasMembers(parameters["properties"])) return "()";
  const required = requiredNames(parameters);
  const lines = Object.entries(parameters["properties"]).map(([name, schema]) => {
    const optional = required.has(name) ? "" : "?";
    const { description, initial } = annotations(schema);
    return `${description}${name}${optional}: ${typeText(schema, 0)}${initial},\n`;
  });
  return `(_: {\n${lines.join("")}})`;
}

/** The comments around a parameter: what it is for, and its default value. */
function annotations(schema: unknown): {
  readonly description: string;
  readonly initial: string;
} {
  if (!isRecord(schema)) return { description: "", initial: "" };
  const text = schema["description"];
  const description = typeof text === "string" && text !== "" ? `// ${text}\n` : "";
  const value = schema["default"];
  if (value === undefined) return { description, initial: "" };
  const hasEnum = isSet(schema["enum"]);
  const isBare = (hasEnum || isSet(schema["oneOf"])) && typeof value === "string";
  const comma = hasEnum || !isSet(schema["oneOf"]) ? ", " : "";
  return {
    description,
    initial: `${comma}// default: ${isBare ? value : toJson(value)}`,
  };
}

function typeText(schema: unknown, depth: number): string {
  if (!isRecord(schema) || depth > MAX_DEPTH) return "any";
  const { type } = schema;
  if (type === "array") return arrayType(schema, depth);
  if (Array.isArray(type) && type.length > 0) {
    return type.map((each) => toText(toValue(each))).join(" | ");
  }
  const { oneOf } = schema;
  if (Array.isArray(oneOf) && oneOf.length > 0) return unionType(oneOf, depth);
  switch (type) {
    case "string":
      return stringType(schema);
    case "number":
    case "integer":
      return "number";
    case "boolean":
      return "boolean";
    case "object":
      return objectType(schema, depth);
    default:
      return "any";
  }
}

function arrayType(schema: Schema, depth: number): string {
  const items = schema["items"];
  const orNull = isSet(schema["nullable"]) ? " | null" : "";
  if (!isSet(items)) return `any[]${orNull}`;
  const itemType = isRecord(items) ? items["type"] : undefined;
  // Items of a plain type never show their enum.
  if (itemType === "string") return `string[]${orNull}`;
  const inner = typeText(items, depth + 1);
  const isShown = inner !== "object | object" && codePointLength(inner) <= MAX_ITEM_TYPE_LENGTH;
  return `${isShown ? inner : "any"}[]${orNull}`;
}

function stringType(schema: Schema): string {
  const values = schema["enum"];
  if (Array.isArray(values) && values.length > 0) {
    return `"${values.map((value) => toText(toValue(value))).join('" | "')}"`;
  }
  return isSet(schema["nullable"]) ? "string | null" : "string";
}

/** The template's own layout, stray indentation included: the model was taught with it. */
function unionType(variants: readonly unknown[], depth: number): string {
  return variants
    .map((variant) => {
      const type = typeText(variant, depth + 1);
      if (!isRecord(variant)) return type;
      const { description } = variant;
      const value = variant["default"];
      const comment =
        typeof description === "string" && description !== "" ? `// ${description}` : "";
      const initial = value === undefined ? "" : `${" ".repeat(20)}// default: ${toJson(value)}`;
      return type + comment + initial;
    })
    .join(" | \n");
}

function objectType(schema: Schema, depth: number): string {
  const { properties } = schema;
  if (!hasMembers(properties)) return "object";
  const required = requiredNames(schema);
  const members = Object.entries(properties).map(
    ([name, member]) =>
      `${name}${required.has(name) ? "" : "?"}: \n${" ".repeat(16)}${typeText(member, depth + 1)}`,
  );
  return `{\n${members.join(", ")}}`;
}

function requiredNames(schema: Schema): ReadonlySet<unknown> {
  const { required } = schema;
  return new Set(Array.isArray(required) ? required : []);
}

function toJson(value: unknown): string {
  return dumpJson(toValue(value), {
    ensureAscii: false,
    indent: null,
    itemSeparator: ", ",
    keySeparator: ": ",
    sortKeys: false,
  });
}

/** Python's truth: empty lists and objects count as absent. */
function isSet(value: unknown): boolean {
  return value !== undefined && isTruthy(toValue(value));
}

function hasMembers(value: unknown): value is Schema {
  return isRecord(value) && Object.keys(value).length > 0;
}

function isRecord(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
