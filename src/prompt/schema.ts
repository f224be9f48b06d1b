import * as z from "zod";

import type { ModelIndex, ModelManifest } from "./model-asset.ts";

/** A path in the assets that cannot leave its folder. */
const assetPath = (folder: string, ending: string) =>
  z.string().regex(new RegExp(`^${folder}/[A-Za-z0-9_~-][A-Za-z0-9._~-]*[.](?:${ending})$`, "u"));

const tokenId = z.int().min(0).max(0xffff_ffff);

const chatTemplateSchema = z.object({
  templates: z
    .record(z.string(), z.string())
    .refine((templates) => Object.hasOwn(templates, "default"), "has no default template"),
  specialTokens: z.record(z.string(), z.string()),
});

const manifestSchema: z.ZodType<ModelManifest> = z.object({
  v: z.literal(1),
  id: z.string().min(1),
  tokenizer: z.object({
    kind: z.enum(["bpe", "huggingface"]),
    file: assetPath("tokenizers", "bin|json"),
    byteLength: z.int().positive(),
  }),
  chatTemplate: chatTemplateSchema.nullable(),
  contextLength: z.int().positive().nullable(),
  eosTokenIds: z.array(tokenId),
  generationDefaults: z.record(z.string(), z.number()),
  modelType: z.string().nullable(),
  architectures: z.array(z.string()),
  createdAt: z.int().min(0),
});

const indexSchema: z.ZodType<ModelIndex> = z.object({
  v: z.literal(1),
  models: z.array(
    z.object({
      id: z.string().min(1),
      file: assetPath("models", "json"),
      createdAt: z.int().min(0),
      sha16: z
        .string()
        .regex(/^[0-9a-f]{16}$/u)
        .exactOptional(),
    }),
  ),
});

/** The manifest in a file's text. Throws an Error that says what is wrong with it. */
export function parseModelManifest(text: string): ModelManifest {
  return parse(manifestSchema, text, "model manifest");
}

/** The index in a file's text. Throws an Error that says what is wrong with it. */
export function parseModelIndex(text: string): ModelIndex {
  return parse(indexSchema, text, "model index");
}

function parse<T>(schema: z.ZodType<T>, text: string, what: string): T {
  const result = schema.safeParse(JSON.parse(text));
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue === undefined ? "" : `${issue.path.map(String).join(".")}: ${issue.message}`;
  throw new Error(`not a valid ${what} (${where})`);
}
