import type { EmbedResult } from "../../generation/embed.ts";

export interface EmbeddingResponseOptions {
  readonly model: string;
  readonly encoding: "float" | "base64";
}

/** The list of vectors. */
export function renderEmbeddings(result: EmbedResult, options: EmbeddingResponseOptions) {
  const { promptTokens, vectors } = result;
  return {
    object: "list",
    data: vectors.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: options.encoding === "base64" ? toBase64(vector) : vector,
    })),
    model: options.model,
    usage: { prompt_tokens: promptTokens, total_tokens: promptTokens },
  };
}

/** 32-bit floats, little-endian, as OpenAI packs them. */
function toBase64(vector: readonly number[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4));
  for (const [index, value] of vector.entries()) view.setFloat32(index * 4, value, true);
  let binary = "";
  for (let index = 0; index < view.byteLength; index++) {
    binary += String.fromCharCode(view.getUint8(index));
  }
  return btoa(binary);
}
