import { UnsupportedTokenizerError } from "./unsupported-tokenizer-error.ts";

/** A JSON object of a tokenizer's files, read field by field. */
export class JsonObject {
  readonly #fields: ReadonlyMap<string, unknown>;
  readonly #path: string;
  /** The object itself. */
  readonly value: object;

  /** @throws {UnsupportedTokenizerError} when the value is no object */
  constructor(value: unknown, path: string) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new UnsupportedTokenizerError(`${path} is not an object`);
    }
    this.#fields = new Map(Object.entries(value));
    this.#path = path;
    this.value = value;
  }

  get path(): string {
    return this.#path;
  }

  /** The raw value; undefined when absent or null. */
  get(key: string): unknown {
    return this.#fields.get(key) ?? undefined;
  }

  object(key: string): JsonObject | undefined {
    const value = this.get(key);
    return value === undefined ? undefined : new JsonObject(value, `${this.#path}.${key}`);
  }

  objects(key: string): JsonObject[] {
    return this.array(key).map(
      (item, index) => new JsonObject(item, `${this.#path}.${key}[${index}]`),
    );
  }

  array(key: string): readonly unknown[] {
    const value = this.get(key) ?? [];
    if (!Array.isArray(value))
      throw new UnsupportedTokenizerError(`${this.#path}.${key} is not an array`);
    return value;
  }

  string(key: string): string | undefined {
    const value = this.get(key);
    if (value === undefined || typeof value === "string") return value;
    throw new UnsupportedTokenizerError(`${this.#path}.${key} is not a string`);
  }

  number(key: string): number | undefined {
    const value = this.get(key);
    if (value === undefined || typeof value === "number") return value;
    throw new UnsupportedTokenizerError(`${this.#path}.${key} is not a number`);
  }

  boolean(key: string): boolean | undefined {
    const value = this.get(key);
    if (value === undefined || typeof value === "boolean") return value;
    throw new UnsupportedTokenizerError(`${this.#path}.${key} is not true or false`);
  }

  entries(): Iterable<[string, unknown]> {
    return this.#fields;
  }

  /** The field `type`. */
  get type(): string {
    return this.string("type") ?? "";
  }
}

/** The members of a `Sequence`, flattened, or the one part itself; empty when absent. */
export function flattenSequence(part: JsonObject | undefined, membersKey: string): JsonObject[] {
  if (part === undefined) return [];
  if (part.type !== "Sequence") return [part];
  return part.objects(membersKey).flatMap((member) => flattenSequence(member, membersKey));
}

/** `what` with the part's JSON type, for messages. */
export function unsupported(part: JsonObject, detail = ""): UnsupportedTokenizerError {
  return new UnsupportedTokenizerError(
    `${part.path} of type "${part.type}"${detail === "" ? "" : `: ${detail}`}`,
  );
}
