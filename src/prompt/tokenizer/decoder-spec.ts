/** How ids become text: the part of a tokenizer.json that is called `decoder`. */
export type DecoderSpec =
  /** The tokens' bytes are joined; each maximal invalid part becomes one U+FFFD. */
  | { readonly kind: "bytes" }
  /** Each run of byte-fallback tokens is read at once; a run that is not UTF-8 gives one U+FFFD a byte. */
  | { readonly kind: "byte-fallback"; readonly stripLeadingSpaces: number }
  /** The first token loses its spaces. */
  | { readonly kind: "metaspace"; readonly stripFirst: boolean }
  /** All but the first token get a space in front or lose the prefix. */
  | { readonly kind: "word-piece"; readonly prefix: string; readonly cleansUp: boolean };

const METASPACE = "\u2581";

type Part = ReadonlyMap<string, unknown>;

/** The decoder that a tokenizer.json asks for; undefined for one that is not known here. */
export function readDecoderSpec(decoder: unknown): DecoderSpec | undefined {
  const parts = flatten(decoder);
  const first = parts[0] ?? new Map<string, unknown>();
  switch (parts.map((part) => part.get("type")).join(" ")) {
    case "ByteLevel":
      return { kind: "bytes" };
    case "Metaspace":
      if (!isMetaspace(first.get("replacement"))) return undefined;
      return { kind: "metaspace", stripFirst: stripsFirst(first) };
    case "Replace ByteFallback Fuse":
      return replacesMetaspace(first)
        ? { kind: "byte-fallback", stripLeadingSpaces: 0 }
        : undefined;
    case "Replace ByteFallback Fuse Strip":
      return replacesMetaspace(first) ? readStrip(parts[3]) : undefined;
    case "WordPiece": {
      const prefix = first.get("prefix") ?? "##";
      if (typeof prefix !== "string") return undefined;
      return { kind: "word-piece", prefix, cleansUp: first.get("cleanup") !== false };
    }
    default:
      return undefined;
  }
}

function flatten(value: unknown): readonly Part[] {
  const part = fieldsOf(value);
  if (part === undefined) return [];
  const members = part.get("decoders");
  return part.get("type") === "Sequence" && Array.isArray(members)
    ? members.flatMap((member: unknown) => flatten(member))
    : [part];
}

function fieldsOf(value: unknown): Part | undefined {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
}

function isMetaspace(replacement: unknown): boolean {
  return replacement === undefined || replacement === METASPACE;
}

/** Older files say `add_prefix_space` instead of `prepend_scheme`. */
function stripsFirst(part: Part): boolean {
  const scheme = part.get("prepend_scheme");
  return scheme === undefined ? part.get("add_prefix_space") !== false : scheme !== "never";
}

function replacesMetaspace(part: Part): boolean {
  return fieldsOf(part.get("pattern"))?.get("String") === METASPACE && part.get("content") === " ";
}

function readStrip(part: Part | undefined): DecoderSpec | undefined {
  const count = part?.get("start") ?? 0;
  const isKnown = part?.get("content") === " " && (part.get("stop") ?? 0) === 0;
  return isKnown && typeof count === "number"
    ? { kind: "byte-fallback", stripLeadingSpaces: count }
    : undefined;
}
