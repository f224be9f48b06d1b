import type { ToolFormat } from "../../output-parser.ts";
import type { OutputCursor, Reading } from "../output-cursor.ts";
import { attributeHead, attributeParameter } from "./heads.ts";
import { createMarkupParser, type MarkupGrammar } from "./markup-calls.ts";
import { isFollowed, passTo, type ReadValue } from "./raw-value.ts";
import { tagArguments } from "./tag-arguments.ts";

const CDATA_START = "<![CDATA[";
const CDATA_END = "]]>";

/** XML: a value is text with entities, or stands in CDATA sections as it is. */
const readXmlValue: ReadValue = function* readXmlValue(cursor, end, sink) {
  // White space around a CDATA section is layout, else all but a wrapping line break is text.
  const space = (yield* cursor.run(/\s*/y, Infinity)) ?? "";
  if (yield* cursor.literal(CDATA_START)) return yield* readCdata(cursor, end.tag, sink);
  if (cursor.atEnd) return false;
  const isWrapped = space.startsWith("\n");
  const text = entityDecoder(sink);
  text.write(isWrapped ? space.slice(1) : space);
  const tags = [...(isWrapped ? [`\n${end.tag}`] : []), end.tag, CDATA_START];
  for (;;) {
    const tag = yield* passTo(cursor, tags, text.write);
    if (tag === undefined) return false;
    const isEnd = tag !== CDATA_START && (yield* isFollowed(cursor, tag, end.followers));
    const taken = cursor.take(tag.length);
    if (tag !== CDATA_START && !isEnd) text.write(taken);
    else text.end();
    if (isEnd) return true;
    if (tag === CDATA_START) return yield* readCdata(cursor, end.tag, sink);
  }
};

/** Reads from behind a section's start up to and with the value's closing tag. That, or another section, ends it. */
function* readCdata(
  cursor: OutputCursor,
  closingTag: string,
  sink: (raw: string) => void,
): Reading<boolean> {
  for (;;) {
    if ((yield* passTo(cursor, [CDATA_END], sink)) === undefined) return false;
    const isEnd = yield* isFollowed(cursor, CDATA_END, [closingTag, CDATA_START]);
    const taken = cursor.take(CDATA_END.length);
    if (!isEnd) {
      sink(taken);
      continue;
    }
    yield* cursor.skipSpace();
    const next = yield* cursor.oneOf([closingTag, CDATA_START]);
    if (next !== CDATA_START) return next === closingTag;
  }
}

interface EntityDecoder {
  readonly write: (raw: string) => void;
  readonly end: () => void;
}

const ENTITY = /&(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});/gi;
/** What may become one: longer ones there are not. */
const ENTITY_START = /&[#\w]{0,8}$/;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** Decodes entities that may come in pieces. */
function entityDecoder(sink: (text: string) => void): EntityDecoder {
  let held = "";
  return {
    write(raw) {
      const text = held + raw;
      const certain = ENTITY_START.exec(text)?.index ?? text.length;
      held = text.slice(certain);
      if (certain > 0) sink(text.slice(0, certain).replaceAll(ENTITY, decodeEntity));
    },
    end() {
      if (held !== "") sink(held);
      held = "";
    },
  };
}

function decodeEntity(entity: string): string {
  const body = entity.slice(1, -1).toLowerCase();
  if (!body.startsWith("#")) return ENTITIES[body] ?? entity;
  const isHex = body.startsWith("#x");
  const code = Number.parseInt(body.slice(isHex ? 2 : 1), isHex ? 16 : 10);
  return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}

const GRAMMAR: MarkupGrammar = {
  looseCalls: "all",
  call: "<function",
  readHead: attributeHead("name", [">", "/>"]),
  readArguments: tagArguments({
    callEnd: "</function>",
    parameter: "<param",
    readParameter: attributeParameter("name", [">"]),
    parameterEnd: "</param>",
    trim: "wrapped",
    readValue: readXmlValue,
  }),
};

export const minicpm5: ToolFormat = {
  name: "minicpm5",
  markers: ["<function", "</function>", "<param", "</param>"],
  create: (options) => createMarkupParser([GRAMMAR], options),
};
