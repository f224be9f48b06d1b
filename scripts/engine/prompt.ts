import { Code, ConnectError } from "@connectrpc/connect";

import type { EngineModel } from "./model.ts";

/** A prompt's ids, or INVALID_ARGUMENT with SGLang's words. */
export function checkPrompt(model: EngineModel, ids: readonly number[]): Uint32Array {
  if (ids.length === 0) refuse("The input_ids must not be empty.");
  if (ids.length >= model.maxReqInputLen) {
    refuse(
      `Input length (${ids.length} tokens) exceeds the maximum allowed length ` +
        `(${model.maxReqInputLen} tokens). Use a shorter input or enable --allow-auto-truncate.`,
    );
  }
  const vocabSize = model.vocabSize();
  const wrong = ids.find((id) => id >= vocabSize);
  if (wrong !== undefined) {
    refuse(`The input_ids contains values greater than the vocab size (${vocabSize}): ${wrong}.`);
  }
  return Uint32Array.from(ids);
}

export function refuse(message: string): never {
  throw new ConnectError(message, Code.InvalidArgument);
}
