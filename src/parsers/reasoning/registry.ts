import type { ReasoningFormat } from "../output-parser.ts";
import { cohereCommand4Reasoning } from "./cohere-command4.ts";
import { gemma4Reasoning } from "./gemma4.ts";
import { inklingReasoning } from "./inkling.ts";
import { kimiK3Reasoning } from "./kimi-k3.ts";
import { minimaxAppendThink } from "./minimax-append-think.ts";
import { museReasoning } from "./muse.ts";
import { TAGGED_FORMATS } from "./tagged-formats.ts";

/** Every format but Harmony's, whose thoughts cannot be told apart from its calls. */
export const REASONING_FORMATS: readonly ReasoningFormat[] = [
  ...TAGGED_FORMATS,
  kimiK3Reasoning,
  gemma4Reasoning,
  minimaxAppendThink,
  cohereCommand4Reasoning,
  museReasoning,
  inklingReasoning,
];

/** Further names, spelled as `toKey` spells them. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["apertus", "apertus2509"],
  ["deepseek-v31", "deepseek-v3"],
  ["deepseek-v32", "deepseek-v3"],
  ["glm47", "glm45"],
  ["magistral", "mistral"],
  ["minimax-m2", "minimax"],
  ["muse-glimmer", "muse"],
  ["nemotron3", "nemotron-3"],
]);

const BY_KEY: ReadonlyMap<string, ReasoningFormat> = new Map(
  REASONING_FORMATS.map((format) => [toKey(format.name), format]),
);

/** The format of that name: SGLang's names, in any case, with `-` or `_`, and a few aliases. */
export function findReasoningFormat(name: string): ReasoningFormat | undefined {
  const key = toKey(name);
  return BY_KEY.get(key) ?? BY_KEY.get(ALIASES.get(key) ?? "");
}

function toKey(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}
