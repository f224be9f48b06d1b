import type { ModelFiles } from "../../../scripts/models/model-files.ts";

/** A model's files as a source gives them: texts of `.jinja` files, JSON values of the others, or bytes as they are. */
export function filesOf(
  contents: Readonly<Record<string, unknown>>,
  rest: Partial<ModelFiles> = {},
): ModelFiles {
  return {
    origin: "a test",
    suggestedId: "test/model",
    files: new Map(Object.entries(contents).map(([name, value]) => [name, bytesOf(name, value)])),
    foreignFiles: [],
    ...rest,
  };
}

export function bytesOf(name: string, value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  const isText = typeof value === "string" && name.endsWith(".jinja");
  return new TextEncoder().encode(isText ? value : JSON.stringify(value));
}
