import type { NormalizerStep } from "./format.ts";

/** What a normalizer makes of a stretch of text. */
export function normalize(text: string, steps: readonly NormalizerStep[]): string {
  let normalized = text;
  for (const step of steps) {
    switch (step.kind) {
      case "unicode":
        normalized = normalized.normalize(step.form);
        break;
      case "replace":
        normalized = normalized.replaceAll(step.from, step.to);
        break;
      case "prepend":
        if (normalized !== "") normalized = step.text + normalized;
        break;
    }
  }
  return normalized;
}
