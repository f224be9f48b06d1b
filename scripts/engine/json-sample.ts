import { isRecord } from "./model-files.ts";

const MAX_DEPTH = 32;
const LABEL = "simulated";

const FORMAT_SAMPLES: Readonly<Record<string, string>> = {
  date: "2000-01-01",
  time: "00:00:00Z",
  "date-time": "2000-01-01T00:00:00Z",
  email: "simulated@example.com",
  uri: "https://example.com/simulated",
  uuid: "00000000-0000-4000-8000-000000000000",
  ipv4: "192.0.2.1",
};

type Schema = Readonly<Record<string, unknown>>;

/**
 * The smallest JSON text that fits a simple schema: required properties only, first of each choice, "simulated" for
 * free text. Patterns, conditions and negations are not looked at. undefined when the schema is not JSON.
 */
export function sampleJson(schemaText: string): string | undefined {
  try {
    const schema: unknown = JSON.parse(schemaText);
    return JSON.stringify(createSampler(schema)(schema, 0));
  } catch {
    return undefined;
  }
}

function createSampler(root: unknown) {
  const sample = (schema: unknown, depth: number): unknown => {
    if (!isRecord(schema) || depth > MAX_DEPTH) return null;
    const target = referenced(root, schema);
    if (target !== undefined) return sample(target, depth + 1);
    if ("const" in schema) return schema["const"];
    const choices = [schema["enum"], schema["examples"]].find(isFilledArray);
    if (choices !== undefined) return choices[0];
    const branches = [schema["anyOf"], schema["oneOf"]].find(isFilledArray);
    if (branches !== undefined)
      return sample({ ...withoutBranches(schema), ...asSchema(branches[0]) }, depth + 1);
    if (isFilledArray(schema["allOf"])) return sample(mergeAll(root, schema), depth + 1);
    return sampleOfType(schema, (child) => sample(child, depth + 1));
  };
  return sample;
}

function sampleOfType(schema: Schema, sample: (child: unknown) => unknown): unknown {
  const written = schema["type"];
  const type: unknown = Array.isArray(written) ? written[0] : (written ?? impliedType(schema));
  switch (type) {
    case "object":
      return sampleObject(schema, sample);
    case "array":
      return sampleArray(schema, sample);
    case "string":
      return sampleString(schema);
    case "integer":
      return sampleNumber(schema, numberOf(schema["multipleOf"]) ?? 1);
    case "number":
      return sampleNumber(schema, numberOf(schema["multipleOf"]) ?? 0);
    case "boolean":
      return true;
    default:
      return null;
  }
}

function impliedType(schema: Schema): string {
  if ("properties" in schema || Object.keys(schema).length === 0) return "object";
  if ("items" in schema || "prefixItems" in schema) return "array";
  return "string";
}

function sampleObject(schema: Schema, sample: (child: unknown) => unknown): unknown {
  const properties = asSchema(schema["properties"]);
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const names = required.filter((name) => typeof name === "string");
  const inOrder = [
    ...Object.keys(properties).filter((name) => names.includes(name)),
    ...names.filter((name) => !Object.hasOwn(properties, name)),
  ];
  return Object.fromEntries(
    inOrder.map((name) => [name, sample(properties[name] ?? { type: "string" })]),
  );
}

function sampleArray(schema: Schema, sample: (child: unknown) => unknown): unknown {
  const prefix = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
  const least = Math.min(Math.max(prefix.length, numberOf(schema["minItems"]) ?? 0), 1000);
  return Array.from({ length: least }, (_, place) =>
    sample(prefix[place] ?? schema["items"] ?? { type: "string" }),
  );
}

function sampleString(schema: Schema): string {
  const format = schema["format"];
  if (typeof format === "string" && Object.hasOwn(FORMAT_SAMPLES, format)) {
    return FORMAT_SAMPLES[format] ?? LABEL;
  }
  const longest = numberOf(schema["maxLength"]) ?? Number.POSITIVE_INFINITY;
  const least = Math.min(numberOf(schema["minLength"]) ?? 0, 10_000);
  return LABEL.padEnd(least, ".").slice(0, Math.max(least, Math.min(longest, 10_000)));
}

function sampleNumber(schema: Schema, step: number): number {
  const unit = step > 0 ? step : 1;
  const above = numberOf(schema["exclusiveMinimum"]);
  const below = numberOf(schema["exclusiveMaximum"]);
  const least =
    numberOf(schema["minimum"]) ?? (above === undefined ? undefined : nextAbove(above, unit));
  const most =
    numberOf(schema["maximum"]) ?? (below === undefined ? undefined : nextBelow(below, unit));
  if (least !== undefined && least > 0) return step > 0 ? Math.ceil(least / unit) * unit : least;
  if (most !== undefined && most < 0) return step > 0 ? Math.floor(most / unit) * unit : most;
  return 0;
}

function nextAbove(bound: number, unit: number): number {
  return (Math.floor(bound / unit) + 1) * unit;
}

function nextBelow(bound: number, unit: number): number {
  return (Math.ceil(bound / unit) - 1) * unit;
}

/** What a local `$ref` points at. */
function referenced(root: unknown, schema: Schema): unknown {
  const reference = schema["$ref"];
  if (typeof reference !== "string" || !reference.startsWith("#")) return undefined;
  let at = root;
  for (const part of reference
    .slice(1)
    .split("/")
    .filter((piece) => piece !== "")) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    at = isRecord(at) ? at[name] : undefined;
  }
  return at ?? {};
}

function mergeAll(root: unknown, schema: Schema): Schema {
  const { allOf, ...own } = schema;
  const parts = (Array.isArray(allOf) ? allOf : []).map((part) => {
    const found = asSchema(part);
    return asSchema(referenced(root, found) ?? found);
  });
  const all = [own, ...parts];
  return {
    ...Object.assign({}, ...all.toReversed()),
    properties: Object.assign({}, ...all.map((part) => asSchema(part["properties"]))),
    required: all.flatMap((part) => (Array.isArray(part["required"]) ? part["required"] : [])),
  };
}

function withoutBranches(schema: Schema): Schema {
  const { anyOf: _anyOf, oneOf: _oneOf, ...rest } = schema;
  return rest;
}

function asSchema(value: unknown): Schema {
  return isRecord(value) ? value : {};
}

function isFilledArray(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
