import type { Schema, ValueType } from "./schema.ts";
import { writeValue } from "./typed-value.ts";

/** A value read from tags. */
export interface ElementValue {
  readonly json: string;
  /** It is one element of the list that the schema asks for, not the list. */
  readonly isElement: boolean;
}

interface Child extends ElementValue {
  readonly tag: string;
}

/** An element that is open. */
interface Frame {
  readonly tag: string;
  readonly schema: Schema;
  text: string;
  readonly children: Child[];
}

/** The tag of a list's elements, where they have no name of their own. */
const ITEM = "item";

const STRING: ReadonlySet<ValueType> = new Set(["string"]);

/** Deeper tags make all of it a string: readers of what is written may recurse. */
const MAX_DEPTH = 64;

/**
 * The value of an element from its raw content, in which `token` stands before every tag. Content without tags is text,
 * typed by the schema; tags are an object's properties, or a list's elements. Where the schema asks for a list, content
 * that is none is one of its elements: the element is repeated for each. Tags that do not match make it a string.
 */
export function readElement(raw: string, token: string, schema: Schema): ElementValue {
  const [text = "", ...chunks] = raw.split(token);
  const root: Frame = { tag: "", schema, text, children: [] };
  const open = [root];
  for (const chunk of chunks) {
    const isRead = chunk.startsWith("</") ? closeTag(open, chunk) : openTag(open, chunk);
    if (!isRead) return { json: writeValue(raw, STRING), isElement: false };
  }
  const value = open.length === 1 ? valueOf(root) : undefined;
  return value ?? { json: writeValue(raw, STRING), isElement: false };
}

/** Values of one key as the JSON of one: a list, if there are several or the schema asks for one. */
export function joinValues(values: readonly ElementValue[]): string {
  const [first] = values;
  return values.length === 1 && first?.isElement === false ? first.json : listOf(values);
}

function openTag(open: Frame[], chunk: string): boolean {
  const end = chunk.indexOf(">");
  const tag = chunk.slice(1, end).trim();
  const parent = open.at(-1);
  if (!chunk.startsWith("<") || end < 0 || tag === "" || parent === undefined) return false;
  if (open.length > MAX_DEPTH) return false;
  const schema = childSchema(parent.schema, tag);
  open.push({ tag, schema, text: chunk.slice(end + 1), children: [] });
  return true;
}

function closeTag(open: Frame[], chunk: string): boolean {
  const end = chunk.indexOf(">");
  const frame = open.pop();
  const parent = open.at(-1);
  if (frame === undefined || parent === undefined || end < 0) return false;
  const value = chunk.slice(2, end).trim() === frame.tag ? valueOf(frame) : undefined;
  if (value === undefined) return false;
  parent.children.push({ ...value, tag: frame.tag });
  parent.text += chunk.slice(end + 1);
  return true;
}

function childSchema(schema: Schema, tag: string): Schema {
  const { types, items } = schema;
  if (types?.has("array") !== true || (types.has("object") && schema.hasProperty(tag))) {
    return types === undefined && tag === ITEM && !schema.hasProperty(tag)
      ? items
      : schema.property(tag);
  }
  return items.hasProperty(tag) ? items.property(tag) : items;
}

/** Undefined when there is text between tags. */
function valueOf({ schema, text, children }: Frame): ElementValue | undefined {
  if (children.length === 0) return leafOf(text, schema);
  if (text.trim() !== "") return undefined;
  const { types, items } = schema;
  if (types?.has("array") === true) {
    if (children.some(({ tag }) => types.has("object") && schema.hasProperty(tag))) {
      return { json: objectOf(children), isElement: false };
    }
    return children.some(({ tag }) => items.hasProperty(tag))
      ? { json: objectOf(children), isElement: true }
      : { json: listOf(children), isElement: false };
  }
  const isList =
    types === undefined && children.every(({ tag }) => tag === ITEM && !schema.hasProperty(tag));
  return { json: isList ? listOf(children) : objectOf(children), isElement: false };
}

function leafOf(text: string, { types, items }: Schema): ElementValue {
  const isString = types?.has("string") ?? true;
  if (text.trim() === "" && !isString && types?.has("null") !== true) {
    if (types?.has("array") === true) return { json: "[]", isElement: false };
    if (types?.has("object") === true) return { json: "{}", isElement: false };
  }
  const json = writeValue(text, types);
  const isElement = types?.has("array") === true && !isString && json.startsWith('"');
  return { json: isElement ? writeValue(text, items.types) : json, isElement };
}

function objectOf(children: readonly Child[]): string {
  const properties = Map.groupBy(children, ({ tag }) => tag);
  const members = [...properties].map(
    ([tag, values]) => `${JSON.stringify(tag)}:${joinValues(values)}`,
  );
  return `{${members.join(",")}}`;
}

function listOf(values: readonly ElementValue[]): string {
  return `[${values.map(({ json }) => json).join(",")}]`;
}
