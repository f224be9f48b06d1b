import { invalidRequest } from "../../core/api-error.ts";
import { findKeywordProblem } from "./schema-keywords.ts";
import { followSteps, parseLocalReference, toReference } from "./schema-pointer.ts";
import { findEndless } from "./schema-recursion.ts";
import type { RecursionNode } from "./schema-recursion.ts";
import { DEFINITIONS, isRecord, subschemas } from "./schema-walk.ts";
import type { Schema } from "./schema-walk.ts";

/** Longest schema, in characters of JSON text. */
export const MAX_SCHEMA_CHARS = 256 * 1024;
/** Most schemas inside of one, those that references lead to included. */
const MAX_SUBSCHEMAS = 10_000;
/** Deepest nesting of JSON values; a schema inside `properties` costs two levels. */
const MAX_JSON_DEPTH = 128;

/** Schemas inside these say what a value is not, or is tested for: no value is written after them. */
const TESTS = new Set(["not", "if", "propertyNames"]);

interface Visit {
  readonly schema: Schema;
  readonly steps: readonly string[];
  /** A value may have to be written after it. */
  readonly isWritten: boolean;
}

/**
 * Refuses a JSON schema that no engine can follow: one that is no schema, whose keywords have values of a wrong kind,
 * with references that lead nowhere or out of the document, with values that could never end, or beyond the limits
 * (256 K characters, 10,000 schemas, 128 levels). What a schema holds but never uses is not looked at. Throws EdgeError
 * `invalid-request` that names the field `param`, and the place inside it in its message.
 */
export function checkSchema(schema: unknown, param: string): void {
  const refuse = (problem: string, steps: readonly string[] = []): never => {
    const place = steps.length === 0 ? "" : ` at ${toReference(steps).slice(0, 200)}`;
    throw invalidRequest(`'${param}' is not a usable JSON schema: ${problem}${place}.`, param);
  };
  if (schema === true) return;
  if (schema === false) refuse("no value fits 'false'");
  if (!isRecord(schema)) return refuse("it must be an object or a boolean");
  checkJson(schema, refuse);
  const nodes = visitAll(schema, refuse);
  const written = [...nodes.values()].filter(({ visit }) => visit.isWritten);
  const [endless] = findEndless(written.map(({ node }) => node));
  if (endless !== undefined) {
    refuse(
      "its values could never end: it requires a value of its own kind",
      nodes.get(endless)?.visit.steps,
    );
  }
}

type Refuse = (problem: string, steps?: readonly string[]) => never;

/** The limits on the JSON itself. Without recursion: the depth is not known to be harmless yet. */
function checkJson(root: Schema, refuse: Refuse): void {
  let level: readonly unknown[] = [root];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) refuse(`it is nested more than ${MAX_JSON_DEPTH} levels deep`);
    if (level.some((value) => typeof value === "number" && !Number.isFinite(value))) {
      refuse("it has a number that is too large");
    }
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null ? Object.values(value) : [],
    );
  }
  const { length } = JSON.stringify(root);
  if (length > MAX_SCHEMA_CHARS) {
    refuse(`it has ${length} characters, more than ${MAX_SCHEMA_CHARS}`);
  }
}

interface Reached {
  readonly value: unknown;
  readonly steps: readonly string[];
  readonly isWritten: boolean;
}

interface Visited {
  readonly visit: Visit;
  readonly node: RecursionNode;
}

/** Looks at every schema that is used. */
function visitAll(root: Schema, refuse: Refuse): ReadonlyMap<Schema, Visited> {
  const found = new Map<Schema, Visited>();
  const pending: Visit[] = [{ schema: root, steps: [], isWritten: true }];
  for (let visit = pending.pop(); visit !== undefined; visit = pending.pop()) {
    const { schema, steps, isWritten } = visit;
    const earlier = found.get(schema);
    // A schema that was only tested may also be one that is written.
    if (earlier !== undefined && (earlier.visit.isWritten || !isWritten)) continue;
    const problem = findKeywordProblem(schema);
    if (problem !== undefined) refuse(problem, steps);
    const inner: Reached[] = subschemas(schema)
      .filter(({ keyword }) => !DEFINITIONS.has(keyword))
      .map(({ keyword, path, schema: value }) => ({
        value,
        steps: [...steps, ...path],
        isWritten: isWritten && !TESTS.has(keyword),
      }));
    const target = resolve(root, visit, refuse);
    if (target !== undefined) inner.push({ ...target, isWritten });
    const used = inner.flatMap(({ value, ...rest }) =>
      isRecord(value) ? [{ schema: value, ...rest }] : [],
    );
    found.set(schema, {
      visit,
      node: { schema, target: target?.value, inner: used.map((each) => each.schema) },
    });
    if (found.size > MAX_SUBSCHEMAS) refuse(`it has more than ${MAX_SUBSCHEMAS} schemas inside`);
    pending.push(...used);
  }
  return found;
}

function resolve(
  root: Schema,
  { schema, steps }: Visit,
  refuse: Refuse,
): { readonly value: unknown; readonly steps: readonly string[] } | undefined {
  const reference = schema["$ref"];
  if (typeof reference !== "string") return undefined;
  const name = reference.length > 100 ? `${reference.slice(0, 100)}…` : reference;
  const target = parseLocalReference(reference);
  if (target === undefined) {
    return refuse(`'$ref' must lead to a place inside the schema, not to '${name}',`, steps);
  }
  const value = followSteps(root, target);
  if (!isRecord(value) && typeof value !== "boolean") {
    return refuse(`'$ref' leads to '${name}', where no schema is,`, steps);
  }
  return { value, steps: target };
}
