import { walk } from "./ast.ts";
import type { Body } from "./ast.ts";

/** Whether the template has this very text as a string literal. */
export function mentionsString(body: Body, text: string): boolean {
  let found = false;
  walk(body, (node) => {
    if (node.kind === "const" && node.value === text) found = true;
    return !found;
  });
  return found;
}
