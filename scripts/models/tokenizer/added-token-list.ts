import {
  RULE_LSTRIP,
  RULE_RSTRIP,
  RULE_SINGLE_WORD,
} from "../../../src/prompt/tokenizer/format.ts";
import type { AddedTokenColumns, NormalizerStep } from "../../../src/prompt/tokenizer/format.ts";
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

export interface PlannedAddedTokens {
  readonly raw: AddedTokenColumns;
  readonly normalized: AddedTokenColumns;
  /** Of both, one after the other; so are the starts of their texts. */
  readonly ids: Uint32Array;
  readonly starts: Uint32Array;
}

/** The two tables of texts to find: before normalizing, and after it. Sorted as the runtime searches them. */
export function planAddedTokens(
  tokens: readonly AddedToken[],
  normalizer: readonly NormalizerStep[],
): PlannedAddedTokens {
  const found = tokens.map((token) => ({ token, text: textOfAddedToken(token, normalizer) }));
  const raw = sortByText(found.filter(({ token }) => !token.isNormalized));
  const normalized = sortByText(found.filter(({ token }) => token.isNormalized));
  return {
    raw: toColumns(raw),
    normalized: toColumns(normalized),
    ids: Uint32Array.from([...raw, ...normalized], ({ token }) => token.id),
    starts: Uint32Array.from([...listStarts(raw), ...listStarts(normalized)]),
  };
}

/** What is looked for in a text, and what the token decodes to where the model's own vocabulary lacks it. */
export function textOfAddedToken(token: AddedToken, normalizer: readonly NormalizerStep[]): string {
  return token.isNormalized ? normalize(token.content, normalizer) : token.content;
}

interface FoundToken {
  readonly token: AddedToken;
  readonly text: string;
}

function sortByText(found: FoundToken[]): FoundToken[] {
  found.sort((a, b) => (a.text < b.text ? -1 : 1));
  for (const [index, { text }] of found.entries()) {
    if (text === found[index + 1]?.text) {
      throw new UnsupportedTokenizerError(`two added tokens with the text ${JSON.stringify(text)}`);
    }
  }
  return found;
}

function toColumns(found: readonly FoundToken[]): AddedTokenColumns {
  const rules = found.map(({ token }) => rulesOf(token));
  return {
    text: found.map(({ text }) => text).join(""),
    count: found.length,
    rules: rules.some((bits) => bits !== 0) ? rules : [],
    contents: Object.fromEntries(
      found.flatMap(({ token, text }, index) =>
        text === token.content ? [] : [[String(index), token.content]],
      ),
    ),
  };
}

/** Where each text begins when they are joined, and the length of all. */
function listStarts(found: readonly FoundToken[]): number[] {
  let end = 0;
  return [0, ...found.map(({ text }) => (end += text.length))];
}

function rulesOf(token: AddedToken): number {
  return (
    (token.lstrip ? RULE_LSTRIP : 0) |
    (token.rstrip ? RULE_RSTRIP : 0) |
    (token.singleWord ? RULE_SINGLE_WORD : 0)
  );
}
