import type { AddedTokenSpec, NormalizerStep } from "../../../src/prompt/tokenizer/format.ts";
import { normalize } from "../../../src/prompt/tokenizer/normalize.ts";
import { JsonObject } from "./tokenizer-json.ts";
import { UnsupportedTokenizerError } from "./unsupported-tokenizer-error.ts";

export interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly isSpecial: boolean;
  readonly isNormalized: boolean;
  readonly lstrip: boolean;
  readonly rstrip: boolean;
  readonly singleWord: boolean;
}

/**
 * The added tokens of tokenizer.json, and those that only tokenizer_config.json's `added_tokens_decoder` has, which
 * transformers adds when it loads the model.
 *
 * @throws {UnsupportedTokenizerError} where the library would give a token another id than the file says
 */
export function readAddedTokens(
  file: JsonObject,
  config: JsonObject,
  idOfText: ReadonlyMap<string, number>,
): AddedToken[] {
  const tokens = new Map<string, AddedToken>();
  for (const item of file.objects("added_tokens")) {
    const token = readAddedToken(item, item.number("id") ?? -1);
    if (token.content !== "") tokens.set(token.content, token);
  }
  const inConfig = [...(config.object("added_tokens_decoder")?.entries() ?? [])]
    .map(([id, item]) =>
      readAddedToken(new JsonObject(item, `added_tokens_decoder.${id}`), Number(id)),
    )
    .sort((a, b) => a.id - b.id);
  for (const token of inConfig) {
    if (token.content !== "" && !tokens.has(token.content)) tokens.set(token.content, token);
  }
  checkIds([...tokens.values()], idOfText);
  return [...tokens.values()];
}

function readAddedToken(item: JsonObject, id: number): AddedToken {
  const isSpecial = item.boolean("special") ?? false;
  return {
    id,
    content: item.string("content") ?? "",
    isSpecial,
    isNormalized: item.boolean("normalized") ?? !isSpecial,
    lstrip: item.boolean("lstrip") ?? false,
    rstrip: item.boolean("rstrip") ?? false,
    singleWord: item.boolean("single_word") ?? false,
  };
}

/** The library takes the vocabulary's id for a text, else the next free one, whatever the file says. */
function checkIds(tokens: readonly AddedToken[], idOfText: ReadonlyMap<string, number>): void {
  let largest = -1;
  for (const token of tokens) {
    const next = largest >= idOfText.size ? largest + 1 : idOfText.size;
    const given = idOfText.get(token.content) ?? next;
    if (given !== token.id) {
      throw new UnsupportedTokenizerError(
        `added token ${JSON.stringify(token.content)} has id ${token.id}, but is loaded as ${given}`,
      );
    }
    largest = Math.max(largest, given);
  }
}

/** The two lists of texts to find: before normalizing, and after it. Sorted as the runtime searches them. */
export function planAddedTokens(
  tokens: readonly AddedToken[],
  normalizer: readonly NormalizerStep[],
): { readonly raw: AddedTokenSpec[]; readonly normalized: AddedTokenSpec[] } {
  const raw: AddedTokenSpec[] = [];
  const normalized: AddedTokenSpec[] = [];
  for (const token of tokens) {
    const spec = toSpec(token, textOfAddedToken(token, normalizer));
    if (token.isNormalized) normalized.push(spec);
    else raw.push(spec);
  }
  return { raw: sortByText(raw), normalized: sortByText(normalized) };
}

/** What is looked for in a text, and what the token decodes to where the model's own vocabulary lacks it. */
export function textOfAddedToken(token: AddedToken, normalizer: readonly NormalizerStep[]): string {
  return token.isNormalized ? normalize(token.content, normalizer) : token.content;
}

function toSpec(token: AddedToken, text: string): AddedTokenSpec {
  return {
    id: token.id,
    text,
    ...(text === token.content ? {} : { content: token.content }),
    ...(token.lstrip ? { lstrip: true as const } : {}),
    ...(token.rstrip ? { rstrip: true as const } : {}),
    ...(token.singleWord ? { singleWord: true as const } : {}),
  };
}

function sortByText(specs: AddedTokenSpec[]): AddedTokenSpec[] {
  specs.sort((a, b) => (a.text < b.text ? -1 : 1));
  for (const [index, spec] of specs.entries()) {
    if (spec.text === specs[index + 1]?.text) {
      throw new UnsupportedTokenizerError(
        `two added tokens with the text ${JSON.stringify(spec.text)}`,
      );
    }
  }
  return specs;
}
