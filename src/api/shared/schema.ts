import * as z from "zod";

import { invalidRequest } from "../../core/api-error.ts";

/** Checks a wire value; throws EdgeError `invalid-request` that names the field. */
export function parseWire<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value, { reportInput: false });
  if (result.success) return result.data;
  const issue = deepest(result.error.issues);
  const param = formatPath(issue.path);
  throw invalidRequest(describeIssue(issue, param), param === "" ? undefined : param);
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly code: string | undefined;
}

/**
 * The issue that says most: for a value that fits none of several shapes, the one of the shape that it fits furthest.
 */
function deepest(issues: readonly z.core.$ZodIssue[]): Issue {
  const [first] = issues;
  if (first === undefined) return { path: [], message: "is not valid", code: undefined };
  if (first.code !== "invalid_union" || first.errors.length === 0) return first;
  let best: Issue | null = null;
  for (const branch of first.errors) {
    const inner = deepest(branch);
    const candidate = { ...inner, path: [...first.path, ...inner.path] };
    if (best === null || candidate.path.length > best.path.length) best = candidate;
  }
  if (best !== null && best.path.length > first.path.length) return best;
  // The value has the type of one shape, and breaks a rule of it; else naming one of the shapes would mislead.
  const broken = first.errors.flat().find(({ code, path }) => path.length === 0 && RULES.has(code));
  return broken === undefined ? first : { ...broken, path: first.path };
}

/** Issues of values that have the right type. */
const RULES: ReadonlySet<string | undefined> = new Set(["too_big", "too_small", "custom"]);

function describeIssue(issue: Issue, param: string): string {
  const subject = param === "" ? "The body" : `'${param}'`;
  return `${subject}: ${issue.message}.`;
}

/** `["messages", 2, "role"]` → `messages[2].role`. */
function formatPath(path: readonly PropertyKey[]): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else text += text === "" ? String(key) : `.${String(key)}`;
  }
  return text;
}

/** A field that later versions or other surfaces serve; anything but null, undefined or a neutral value is refused. */
export function unsupported(message: string, neutral: (value: unknown) => boolean = () => false) {
  return z
    .unknown()
    .refine((value) => value === undefined || value === null || neutral(value), { error: message })
    .optional();
}
