import { isRecord } from "./schema-walk.ts";

/**
 * The steps of a local reference (`#`, `#/$defs/a~1b`, `#/%24defs/x`), decoded; undefined for anything else: a remote
 * one, an anchor, a damaged escape.
 */
export function parseLocalReference(reference: string): readonly string[] | undefined {
  if (!reference.startsWith("#")) return undefined;
  const fragment = decodePercents(reference.slice(1));
  if (fragment === "") return [];
  if (fragment === undefined || !fragment.startsWith("/")) return undefined;
  const steps = fragment.slice(1).split("/");
  if (steps.some((step) => /~(?![01])/u.test(step))) return undefined;
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** What the steps lead to; undefined when they lead nowhere. */
export function followSteps(root: unknown, steps: readonly string[]): unknown {
  let value = root;
  for (const step of steps) {
    if (Array.isArray(value)) {
      if (!/^(?:0|[1-9]\d*)$/u.test(step)) return undefined;
      value = value[Number(step)];
    } else if (isRecord(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value;
}

/** Steps as a pointer for messages and references. */
export function toReference(steps: readonly string[]): string {
  return `#${steps.map((step) => `/${escapeStep(step)}`).join("")}`;
}

/** A step as it stands in a reference. Only what would be misread is escaped: some engines decode no percents. */
export function escapeStep(step: string): string {
  return step.replaceAll("~", "~0").replaceAll("/", "~1").replaceAll("%", "%25");
}

function decodePercents(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
