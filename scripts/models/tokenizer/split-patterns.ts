import { ANY_DIGITS } from "../../../src/prompt/tokenizer/scanners.ts";
import type { ScannerSpec } from "../../../src/prompt/tokenizer/scanners.ts";

/** What a split pattern's text stands for. */
export type KnownPattern =
  | { readonly kind: "scanner"; readonly scanner: ScannerSpec }
  | { readonly kind: "digits"; readonly most: number }
  | { readonly kind: "ideographs" };

const CONTRACTIONS = "(?:'s|'t|'re|'ve|'m|'ll|'d)".replace("(?:", "(?i:");
const SPACES = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;
const UPPER = String.raw`\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}`;
const LOWER = String.raw`\p{Ll}\p{Lm}\p{Lo}\p{M}`;
const LEADER = String.raw`[^\r\n\p{L}\p{N}]?`;

/** How patterns write "so many digits". */
const DIGIT_FORMS: ReadonlyMap<string, number> = new Map([
  [String.raw`\p{N}`, 1],
  [String.raw`\p{N}{1}`, 1],
  [String.raw`\p{N}{1,2}`, 2],
  [String.raw`\p{N}{1,3}`, 3],
  [String.raw`\p{N}+`, ANY_DIGITS],
]);

/** The patterns that the scanners match exactly, by their full text. */
const KNOWN_PATTERNS: ReadonlyMap<string, KnownPattern> = new Map(listPatterns());

/** Undefined for a pattern that no scanner matches. */
export function findPattern(pattern: string): KnownPattern | undefined {
  return KNOWN_PATTERNS.get(pattern);
}

function* listPatterns(): Generator<[string, KnownPattern]> {
  yield [
    String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
    { kind: "scanner", scanner: { kind: "gpt2" } },
  ];
  for (const [form, digits] of DIGIT_FORMS) {
    yield [form, { kind: "digits", most: digits }];
    yield* listCl100k(form, digits);
    yield* listO200k(form, digits);
  }
  yield [String.raw`[一-龥぀-ゟ゠-ヿ]+`, { kind: "ideographs" }];
  const words = String.raw`[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_${"`"}{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+`;
  // The file holds real line breaks in the first class, escapes elsewhere.
  for (const text of [words, words.replace(String.raw`\r\n`, "\r\n")]) {
    for (const newlines of [String.raw`[\r\n]`, "[\r\n]"]) {
      yield [
        String.raw`${text}| ?[\p{P}\p{S}]+${newlines}*|\s*${newlines}+|\s+(?!\S)|\s+`,
        { kind: "scanner", scanner: { kind: "deepseek" } },
      ];
    }
  }
}

function* listCl100k(form: string, digits: number): Generator<[string, KnownPattern]> {
  const known = (marksInWords: boolean): KnownPattern => ({
    kind: "scanner",
    scanner: { kind: "cl100k", digits, marksInWords },
  });
  const symbols = String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*`;
  yield [String.raw`${CONTRACTIONS}|${LEADER}\p{L}+|${form}|${symbols}|${SPACES}`, known(false)];
  // As tiktoken came to write it; `\s*[\r\n]` ends at the same line break as `\s*[\r\n]+`.
  yield [
    String.raw`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|${form}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+`,
    known(false),
  ];
  yield [
    String.raw`${CONTRACTIONS}|${LEADER}[\p{L}\p{M}]+|${form}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|${SPACES}`,
    known(true),
  ];
}

function* listO200k(form: string, digits: number): Generator<[string, KnownPattern]> {
  for (const contractions of [true, false]) {
    const after = contractions ? `${CONTRACTIONS}?` : "";
    yield [
      String.raw`${LEADER}[${UPPER}]*[${LOWER}]+${after}|${LEADER}[${UPPER}]+[${LOWER}]*${after}|${form}| ?[^\s\p{L}\p{N}]+[\r\n/]*|${SPACES}`,
      { kind: "scanner", scanner: { kind: "o200k", digits, contractions } },
    ];
  }
}
