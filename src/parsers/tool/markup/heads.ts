import type { ReadHead } from "./markup-calls.ts";
import type { ParameterHead, ReadParameter } from "./tag-arguments.ts";
import { isName, readAttributes, readKeyUpTo, readName } from "./tags.ts";

/** Undoes what the format does to attributes. */
type Unescape = (value: string) => string;

const asIs: Unescape = (value) => value;

/** A call whose name is an attribute; an end that starts with a slash closes the call, too. */
export function attributeHead(
  key: string,
  ends: readonly string[],
  unescape: Unescape = asIs,
): ReadHead {
  return function* readHead(cursor) {
    const attributes = yield* readAttributes(cursor, ends);
    const name = unescape(attributes?.values.get(key) ?? "").trim();
    if (!isName(name)) return undefined;
    return { name, isWhole: attributes?.end?.startsWith("/") === true };
  };
}

/** A parameter whose key is an attribute; others may tell its type. */
export function attributeParameter(
  key: string,
  ends: readonly string[],
  typesOf: (values: ReadonlyMap<string, string>) => ParameterHead["types"] = () => undefined,
  unescape: Unescape = asIs,
): ReadParameter {
  return function* readParameter(cursor) {
    const attributes = yield* readAttributes(cursor, ends);
    if (attributes?.end === undefined) return undefined;
    const name = unescape(attributes.values.get(key) ?? "").trim();
    const types = typesOf(attributes.values);
    if (name === "") return undefined;
    return types === undefined ? { key: name } : { key: name, types };
  };
}

/** A call whose name stands there, up to and with `end`. */
export function namedHead(end: string): ReadHead {
  return function* readHead(cursor) {
    yield* cursor.skipSpace();
    const name = yield* readName(cursor);
    if (name === undefined) return undefined;
    yield* cursor.skipSpace();
    return (yield* cursor.literal(end)) ? { name } : undefined;
  };
}

/** A parameter whose key stands there, up to and with `end`; `valueStart` opens the value, if it is not that. */
export function namedParameter(end: string, valueStart = ""): ReadParameter {
  return function* readParameter(cursor) {
    const key = yield* readKeyUpTo(cursor, end);
    if (key === undefined) return undefined;
    if (valueStart === "") return { key };
    yield* cursor.skipSpace();
    return (yield* cursor.literal(valueStart)) ? { key } : undefined;
  };
}
