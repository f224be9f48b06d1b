import { invalidRequest } from "../../core/api-error.ts";
import type {
  OutputConstraint,
  OutputFormat,
  ResponseFormat,
  ToolChoice,
  ToolDefinition,
} from "../../core/chat-request.ts";
import { checkEbnf, checkRegex, checkTag } from "./check-grammar.ts";
import { MAX_SCHEMA_CHARS, checkSchema } from "./json-schema.ts";
import { mergeDefs } from "./merge-defs.ts";
import { isRecord } from "./schema-walk.ts";
import type { Schema } from "./schema-walk.ts";
import { answerOrCalls, buildToolTags, toStructuralTag } from "./structural-tags.ts";
import type { TaggedTool } from "./structural-tags.ts";

export interface ConstraintOptions extends OutputFormat {
  readonly toolChoice: ToolChoice;
  readonly tools: readonly Pick<ToolDefinition, "name" | "parameters" | "strict">[];
  readonly parallelToolCalls: boolean;
  /** Name of the tool parser; undefined: the model has none. */
  readonly toolFormat: string | undefined;
}

export interface BuiltConstraint {
  readonly constraint: OutputConstraint | undefined;
  /** Calls come in the model's own format, or as a JSON array of `{name, parameters}`. */
  readonly reads: "format" | "json-array";
}

type Tool = ConstraintOptions["tools"][number];

/** What a request itself asks the output to be, and the field that says so. */
interface Asked {
  readonly field: string;
  readonly constraint: OutputConstraint;
  /** The schema behind a JSON constraint. */
  readonly schema?: unknown;
}

/** Formats that no grammar fits and that are read as they are even when a call must come. */
const UNCONSTRAINED_FORMATS: ReadonlySet<string> = new Set(["muse"]);

/** A function without parameters takes none. */
const NO_PARAMETERS: Schema = { type: "object", properties: {} };

/**
 * Decides what constrains the engine. A reply that must call a tool is made to, in the model's own format where that has
 * structural tags, else as a JSON array. Left to itself the model is constrained only where a tool is strict: then a call
 * it begins is one of the tools', and the arguments of strict ones follow their schema. Throws EdgeError
 * `invalid-request` that names the field for what cannot be asked together, names that are not declared and schemas that
 * no engine can follow.
 */
export function buildConstraint(options: ConstraintOptions): BuiltConstraint {
  const asked = readAsked(options);
  const allowed = allowedTools(options);
  if (options.toolChoice.mode === "required") {
    if (asked !== undefined) {
      throw invalidRequest(
        `'${asked.field}' cannot be used together with a tool_choice that requires a tool call.`,
        asked.field,
      );
    }
    return requireCall(options, allowed);
  }
  if (options.toolChoice.mode === "auto" && allowed.some(({ tool }) => tool.strict)) {
    return { constraint: guardStrictCalls(options, allowed, asked), reads: "format" };
  }
  return { constraint: asked?.constraint, reads: "format" };
}

/** The one constraint that the request has of its own. */
function readAsked(options: ConstraintOptions): Asked | undefined {
  const { responseFormat, regex, ebnf, jsonSchema, structuralTag } = options;
  const all = [
    readResponseFormat(responseFormat),
    readGrammar("regex", regex),
    readGrammar("ebnf", ebnf),
    isGiven(jsonSchema) ? readJsonSchema(jsonSchema) : undefined,
    isGiven(structuralTag) ? readStructuralTag(structuralTag) : undefined,
  ].filter((each) => each !== undefined);
  const [first, second] = all;
  if (first !== undefined && second !== undefined) {
    throw invalidRequest(
      `Only one of response_format, regex, ebnf, json_schema and structural_tag can be used: '${first.field}' is set already.`,
      second.field,
    );
  }
  return first;
}

/** An empty text is no constraint, as for the engine. */
function isGiven(text: string | undefined): text is string {
  return text !== undefined && text !== "";
}

function readResponseFormat(format: ResponseFormat): Asked | undefined {
  const field = "response_format";
  switch (format.type) {
    case "text":
      return undefined;
    case "json-object":
      return fromSchema(field, { type: "object" });
    case "json-schema":
      checkSchema(format.schema, "response_format.json_schema.schema");
      return fromSchema(field, format.schema);
    case "structural-tag":
      return fromTag(field, format.value);
  }
}

function readGrammar(type: "regex" | "ebnf", text: string | undefined): Asked | undefined {
  if (!isGiven(text)) return undefined;
  if (text.length > MAX_SCHEMA_CHARS) {
    throw invalidRequest(`'${type}' must have at most ${MAX_SCHEMA_CHARS} characters.`, type);
  }
  if (type === "regex") checkRegex(text, type);
  else checkEbnf(text, type);
  return { field: type, constraint: { type, text } };
}

function readJsonSchema(text: string): Asked {
  const field = "json_schema";
  const schema = parseJson(text, field);
  checkSchema(schema, field);
  return { ...fromSchema(field, schema), constraint: { type: "json-schema", text } };
}

function readStructuralTag(text: string): Asked {
  const field = "structural_tag";
  return {
    ...fromTag(field, parseJson(text, field)),
    constraint: { type: "structural-tag", text },
  };
}

function fromSchema(field: string, schema: unknown): Asked {
  return { field, schema, constraint: { type: "json-schema", text: JSON.stringify(schema) } };
}

/** Both of the shapes that engines know: a format, or the older structures with their triggers. */
function fromTag(field: string, value: unknown): Asked {
  const isTag =
    isRecord(value) &&
    (value["type"] === undefined || value["type"] === "structural_tag") &&
    (isRecord(value["format"]) ||
      (Array.isArray(value["structures"]) && Array.isArray(value["triggers"])));
  if (!isTag) {
    throw invalidRequest(
      `'${field}' must be a structural tag: an object with type "structural_tag" and a format, or with structures and triggers.`,
      field,
    );
  }
  checkTag(value, field);
  const text = JSON.stringify({ type: "structural_tag", ...value });
  if (text.length > MAX_SCHEMA_CHARS) {
    throw invalidRequest(`'${field}' must have at most ${MAX_SCHEMA_CHARS} characters.`, field);
  }
  return { field, constraint: { type: "structural-tag", text } };
}

function parseJson(text: string, field: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest(`'${field}' must be JSON.`, field);
  }
}

interface PlacedTool {
  readonly tool: Tool;
  /** Its place in the request. */
  readonly index: number;
}

/** The tools that `tool_choice` leaves. */
function allowedTools({ tools, toolChoice }: ConstraintOptions): readonly PlacedTool[] {
  const { mode, allowed } = toolChoice;
  if (mode === "none") return [];
  const placed = tools.map((tool, index) => ({ tool, index }));
  if (mode === "required" && placed.length === 0) {
    throw invalidRequest("A tool_choice that requires a tool call needs tools.", "tool_choice");
  }
  if (allowed === undefined) return placed;
  const unknown = allowed.find((name) => !tools.some((tool) => tool.name === name));
  if (unknown !== undefined) {
    throw invalidRequest(
      `tool_choice names the function '${unknown.slice(0, 100)}', which is not among the tools.`,
      "tool_choice",
    );
  }
  const left = placed.filter(({ tool }) => allowed.includes(tool.name));
  if (mode === "required" && left.length === 0) {
    throw invalidRequest("A tool_choice that requires a tool call must allow one.", "tool_choice");
  }
  return left;
}

function requireCall(options: ConstraintOptions, allowed: readonly PlacedTool[]): BuiltConstraint {
  const { toolFormat, parallelToolCalls, toolChoice } = options;
  if (UNCONSTRAINED_FORMATS.has(toolFormat ?? "")) {
    return { constraint: undefined, reads: "format" };
  }
  refuseDoubles(allowed);
  const tools = allowed.map((placed) => ({
    name: placed.tool.name,
    schema: argumentSchema(placed),
  }));
  // A function that is named is called once.
  const onlyOne = !parallelToolCalls || toolChoice.allowed?.length === 1;
  const format = buildToolTags(toolFormat, tools, { atLeastOne: true, onlyOne });
  if (format !== undefined) {
    return {
      constraint: { type: "structural-tag", text: toStructuralTag(format) },
      reads: "format",
    };
  }
  const text = JSON.stringify(callArraySchema(tools, onlyOne));
  return { constraint: { type: "json-schema", text }, reads: "json-array" };
}

/** The constraint of a reply that may call strict tools; where the format has no tags, what the request asks for. */
function guardStrictCalls(
  options: ConstraintOptions,
  allowed: readonly PlacedTool[],
  asked: Asked | undefined,
): OutputConstraint | undefined {
  if (asked !== undefined && asked.schema === undefined) return asked.constraint;
  refuseDoubles(allowed);
  const tools = allowed.map((placed) => ({
    name: placed.tool.name,
    schema: placed.tool.strict ? argumentSchema(placed) : { type: "object" },
  }));
  const format = buildToolTags(options.toolFormat, tools, {
    // Beside JSON there is no place for free text.
    atLeastOne: asked !== undefined,
    onlyOne: !options.parallelToolCalls,
  });
  if (format === undefined) return asked?.constraint;
  const whole = asked === undefined ? format : answerOrCalls(asked.schema, format);
  return { type: "structural-tag", text: toStructuralTag(whole) };
}

/** Two tags that begin alike would leave it open whose arguments follow. */
function refuseDoubles(tools: readonly PlacedTool[]): void {
  const names = new Set<string>();
  for (const { tool, index } of tools) {
    if (names.has(tool.name)) {
      const field = `tools[${index}].function.name`;
      throw invalidRequest(`'${field}' names a function that an earlier tool has.`, field);
    }
    names.add(tool.name);
  }
}

function argumentSchema({ tool, index }: PlacedTool): Schema {
  const { parameters } = tool;
  if (parameters === undefined) return NO_PARAMETERS;
  checkSchema(parameters, `tools[${index}].function.parameters`);
  const saysKind = ["type", "$ref", "allOf", "anyOf", "oneOf", "enum", "const"].some(
    (keyword) => keyword in parameters,
  );
  return saysKind ? parameters : { type: "object", ...parameters };
}

/** The schema of an array of calls, for formats that have no tags. */
function callArraySchema(tools: readonly TaggedTool[], onlyOne: boolean): Schema {
  const { schemas, defs } = mergeDefs(
    tools.map(({ schema }) => (isRecord(schema) ? schema : {})),
    (index) => `#/items/anyOf/${index}/properties/parameters`,
  );
  const calls = tools.map(({ name }, index) => ({
    type: "object",
    properties: { name: { type: "string", enum: [name] }, parameters: schemas[index] },
    required: ["name", "parameters"],
    additionalProperties: false,
  }));
  return {
    type: "array",
    minItems: 1,
    ...(onlyOne ? { maxItems: 1 } : {}),
    items: { anyOf: calls },
    ...(Object.keys(defs).length === 0 ? {} : { $defs: defs }),
  };
}
