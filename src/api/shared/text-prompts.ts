import type { TextPrompt } from "../../core/chat-request.ts";

/** Texts as completions and embeddings take them: one text or several, token ids or lists of those. */
export type WireTexts =
  | string
  | readonly string[]
  | readonly number[]
  | readonly (readonly number[])[];

export function toTextPrompts(wire: WireTexts): readonly TextPrompt[] {
  if (typeof wire === "string") return [wire];
  return isOneList(wire) ? [wire] : wire;
}

function isOneList(wire: Exclude<WireTexts, string>): wire is readonly number[] {
  return typeof wire[0] === "number";
}
