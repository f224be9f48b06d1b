import type { AddedToken } from "./added-token-list.ts";
import { flattenSequence, JsonObject, unsupported } from "./tokenizer-json.ts";
import { UnsupportedTokenizerError } from "./unsupported-tokenizer-error.ts";

export interface SpecialTokenFrame {
  /** Ids put before and after a text. */
  readonly prefixIds: readonly number[];
  readonly suffixIds: readonly number[];
}

/** Classes of transformers that make their post-processor from `add_bos_token` and `add_eos_token`. */
const BOS_BY_CONFIG = new Set(
  ["Llama", "CodeLlama", "Gemma", "Cohere"].flatMap((name) => [
    `${name}Tokenizer`,
    `${name}TokenizerFast`,
  ]),
);

/** What `add_special_tokens` adds to a single text. */
export function readSpecialTokenFrame(
  file: JsonObject,
  config: JsonObject,
  added: readonly AddedToken[],
): SpecialTokenFrame {
  if (BOS_BY_CONFIG.has(config.string("tokenizer_class") ?? ""))
    return frameByConfig(config, added);
  let frame: SpecialTokenFrame = { prefixIds: [], suffixIds: [] };
  for (const part of flattenSequence(file.object("post_processor"), "processors")) {
    const inner = readPart(part);
    frame = {
      prefixIds: [...inner.prefixIds, ...frame.prefixIds],
      suffixIds: [...frame.suffixIds, ...inner.suffixIds],
    };
  }
  return frame;
}

function readPart(part: JsonObject): SpecialTokenFrame {
  switch (part.type) {
    case "ByteLevel":
      return { prefixIds: [], suffixIds: [] };
    case "TemplateProcessing":
      return readTemplate(part);
    case "BertProcessing":
    case "RobertaProcessing":
      return { prefixIds: [pairId(part, "cls")], suffixIds: [pairId(part, "sep")] };
    default:
      throw unsupported(part);
  }
}

function readTemplate(part: JsonObject): SpecialTokenFrame {
  const specialTokens = part.object("special_tokens");
  const prefixIds: number[] = [];
  const suffixIds: number[] = [];
  let texts = 0;
  for (const piece of part.objects("single")) {
    const special = piece.object("SpecialToken");
    if (special === undefined) {
      texts++;
      continue;
    }
    const ids = specialTokens?.object(special.string("id") ?? "")?.array("ids") ?? [];
    const target = texts === 0 ? prefixIds : suffixIds;
    for (const id of ids) {
      if (typeof id !== "number") throw unsupported(part, "special token without ids");
      target.push(id);
    }
  }
  if (texts !== 1) throw unsupported(part, "not one text in the template");
  return { prefixIds, suffixIds };
}

function pairId(part: JsonObject, key: string): number {
  const id = part.array(key)[1];
  if (typeof id !== "number") throw unsupported(part, `${key} without an id`);
  return id;
}

function frameByConfig(config: JsonObject, added: readonly AddedToken[]): SpecialTokenFrame {
  const ids = (flag: boolean, key: string): number[] => {
    if (!flag) return [];
    const value = config.get(key);
    const content =
      typeof value === "object" ? new JsonObject(value, key).string("content") : value;
    if (content === undefined) return [];
    const token = added.find((candidate) => candidate.content === content);
    if (token === undefined) {
      throw new UnsupportedTokenizerError(`${key} ${JSON.stringify(content)} is no added token`);
    }
    return [token.id];
  };
  return {
    prefixIds: ids(config.boolean("add_bos_token") ?? true, "bos_token"),
    suffixIds: ids(config.boolean("add_eos_token") ?? false, "eos_token"),
  };
}
