import { readDecoderSpec } from "../../../src/prompt/tokenizer/decoder-spec.ts";
import type { DecoderSpec } from "../../../src/prompt/tokenizer/decoder-spec.ts";
import type { NormalizerStep } from "../../../src/prompt/tokenizer/format.ts";
import { ANY_DIGITS } from "../../../src/prompt/tokenizer/scanners.ts";
import type { ScannerSpec, SectionSpec } from "../../../src/prompt/tokenizer/scanners.ts";
import { findPattern } from "./split-patterns.ts";
import { flattenSequence, unsupported } from "./tokenizer-json.ts";
import type { JsonObject } from "./tokenizer-json.ts";
import { UnsupportedTokenizerError } from "./unsupported-tokenizer-error.ts";

const METASPACE = "\u2581";

/** What surrounds the merges: normalizer, pre-tokenizer and decoder of a tokenizer.json. */
export interface Pipeline {
  readonly symbols: "bytes" | "characters";
  readonly normalizer: readonly NormalizerStep[];
  /** Whether "▁" stands for a space: written as a space in the compiled vocabulary and added tokens. */
  readonly usesMetaspace: boolean;
  readonly spacesAreLetters: boolean;
  readonly prependSpace: "always" | "first" | "never";
  readonly foldsMetaspace: boolean;
  readonly sections: SectionSpec;
  readonly scanner: ScannerSpec;
  readonly decoder: DecoderSpec;
}

/** @throws {UnsupportedTokenizerError} naming the first part that is not known */
export function readPipeline(file: JsonObject): Pipeline {
  const normalizer = readNormalizer(file.object("normalizer"));
  const preTokenizer = readPreTokenizer(file.object("pre_tokenizer"), normalizer.replacesSpaces);
  const usesMetaspace = normalizer.replacesSpaces || preTokenizer.foldsMetaspace;
  if (preTokenizer.symbols === "characters" && !usesMetaspace) {
    throw new UnsupportedTokenizerError("a vocabulary of characters without ▁ for spaces");
  }
  if (preTokenizer.symbols === "bytes" && normalizer.replacesSpaces) {
    throw new UnsupportedTokenizerError(
      "a ByteLevel pre-tokenizer after a normalizer that replaces spaces",
    );
  }
  return {
    ...preTokenizer,
    normalizer: normalizer.steps,
    usesMetaspace,
    spacesAreLetters: normalizer.replacesSpaces,
    decoder: readDecoder(file.object("decoder"), preTokenizer.symbols),
  };
}

interface NormalizerPlan {
  readonly steps: readonly NormalizerStep[];
  /** Whether every space becomes "▁"; the compiled steps then do the reverse. */
  readonly replacesSpaces: boolean;
}

function readNormalizer(normalizer: JsonObject | undefined): NormalizerPlan {
  const parts = flattenSequence(normalizer, "normalizers");
  const replacesSpaces = parts.some((part) => isSpaceReplacement(part));
  const steps = parts.map((part) => readNormalizerStep(part, replacesSpaces));
  return { steps, replacesSpaces };
}

function isSpaceReplacement(part: JsonObject): boolean {
  return (
    part.type === "Replace" &&
    part.object("pattern")?.get("String") === " " &&
    part.string("content") === METASPACE
  );
}

function readNormalizerStep(part: JsonObject, replacesSpaces: boolean): NormalizerStep {
  const metaspaceAsSpace = (text: string): string =>
    replacesSpaces ? text.replaceAll(METASPACE, " ") : text;
  switch (part.type) {
    case "NFC":
    case "NFD":
    case "NFKC":
    case "NFKD":
      return { kind: "unicode", form: part.type };
    case "Prepend":
      return { kind: "prepend", text: metaspaceAsSpace(part.string("prepend") ?? "") };
    case "Replace": {
      if (isSpaceReplacement(part)) return { kind: "replace", from: METASPACE, to: " " };
      const from = part.object("pattern")?.get("String");
      const to = part.string("content") ?? "";
      if (typeof from !== "string" || from === "" || /[ \u2581]/.test(from + to)) {
        throw unsupported(part, JSON.stringify(part.get("pattern")));
      }
      return { kind: "replace", from, to };
    }
    default:
      throw unsupported(part);
  }
}

type PreTokenizerPlan = Pick<
  Pipeline,
  "symbols" | "prependSpace" | "foldsMetaspace" | "sections" | "scanner"
>;

const NO_SECTIONS: SectionSpec = { digits: 0, ideographs: false };

function readPreTokenizer(part: JsonObject | undefined, spacesReplaced: boolean): PreTokenizerPlan {
  const parts = flattenSequence(part, "pretokenizers");
  const last = parts.at(-1);
  if (last?.type === "ByteLevel") return readByteLevel(parts, last);
  const plan: PreTokenizerPlan = {
    symbols: "characters",
    prependSpace: "never",
    foldsMetaspace: false,
    sections: NO_SECTIONS,
    scanner: { kind: "whole" },
  };
  if (last === undefined) return plan;
  if (parts.length > 1) throw unsupported(last, "after other pre-tokenizers");
  if (last.type === "Metaspace") return { ...plan, ...readMetaspace(last) };
  // A split at spaces finds none once the normalizer has replaced them.
  const splitsAtSpaces = last.type === "Split" && last.object("pattern")?.get("String") === " ";
  if (splitsAtSpaces && spacesReplaced) return plan;
  throw unsupported(last, JSON.stringify(last.get("pattern")));
}

function readMetaspace(
  part: JsonObject,
): Pick<Pipeline, "prependSpace" | "foldsMetaspace" | "scanner"> {
  if ((part.string("replacement") ?? METASPACE) !== METASPACE) {
    throw unsupported(part, `replacement "${part.string("replacement")}"`);
  }
  return {
    foldsMetaspace: true,
    prependSpace: readPrependScheme(part),
    scanner: { kind: (part.boolean("split") ?? true) ? "spaces" : "whole" },
  };
}

/** Older files say `add_prefix_space` instead of `prepend_scheme`. */
function readPrependScheme(part: JsonObject): "always" | "first" | "never" {
  const scheme = part.string("prepend_scheme");
  if (scheme === "always" || scheme === "first" || scheme === "never") return scheme;
  if (scheme !== undefined) throw unsupported(part, `prepend_scheme "${scheme}"`);
  return (part.boolean("add_prefix_space") ?? true) ? "always" : "never";
}

function readByteLevel(parts: readonly JsonObject[], byteLevel: JsonObject): PreTokenizerPlan {
  let digits = 0;
  let ideographs = false;
  let scanner: ScannerSpec | undefined;
  for (const part of parts.slice(0, -1)) {
    if (scanner !== undefined) throw unsupported(part, "after the split into words");
    const known = readSplit(part);
    if (known.kind === "scanner") scanner = known.scanner;
    else if (known.kind === "ideographs") ideographs = true;
    else if (digits === 0) digits = known.most;
    else throw unsupported(part, "digits are split twice");
  }
  // Older files have no `use_regex`.
  if (byteLevel.boolean("use_regex") ?? true) {
    if (scanner !== undefined) throw unsupported(byteLevel, "use_regex after a split into words");
    scanner = { kind: "gpt2" };
  }
  const prepends = byteLevel.boolean("add_prefix_space") ?? true;
  if (prepends && parts.length > 1) throw unsupported(byteLevel, "add_prefix_space after a split");
  return {
    symbols: "bytes",
    prependSpace: prepends ? "always" : "never",
    foldsMetaspace: false,
    sections: { digits, ideographs },
    scanner: scanner ?? { kind: "whole" },
  };
}

function readSplit(part: JsonObject): NonNullable<ReturnType<typeof findPattern>> {
  if (part.type === "Digits") {
    return { kind: "digits", most: (part.boolean("individual_digits") ?? false) ? 1 : ANY_DIGITS };
  }
  if (part.type !== "Split") throw unsupported(part);
  const pattern = part.object("pattern")?.get("Regex");
  const known = typeof pattern === "string" ? findPattern(pattern) : undefined;
  if (known === undefined) {
    throw unsupported(part, `unknown split pattern ${JSON.stringify(part.get("pattern"))}`);
  }
  // Where the pattern matches every character, keeping the matches is the same as isolating them.
  const behavior = part.string("behavior");
  const keepsMatches = behavior === "Removed" && part.boolean("invert") === true;
  const coversAll = known.kind === "scanner" && known.scanner.kind !== "deepseek";
  const isolates = behavior === "Isolated" && (coversAll || part.boolean("invert") !== true);
  if (!isolates && !(keepsMatches && coversAll)) throw unsupported(part, `behavior "${behavior}"`);
  return known;
}

function readDecoder(
  decoder: JsonObject | undefined,
  symbols: "bytes" | "characters",
): DecoderSpec {
  if (decoder === undefined) throw new UnsupportedTokenizerError("no decoder");
  const spec = readDecoderSpec(decoder.value);
  const fits = symbols === "bytes" ? spec?.kind === "bytes" : spec?.kind !== "bytes";
  if (spec === undefined || spec.kind === "word-piece" || !fits) {
    const types = flattenSequence(decoder, "decoders").map((part) => part.type);
    throw unsupported(decoder, `${types.join(", ")} for a vocabulary of ${symbols}`);
  }
  return spec;
}
