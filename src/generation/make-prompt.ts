import { EdgeError, invalidRequest } from "../core/api-error.ts";
import type { ChatRequest, TextPrompt } from "../core/chat-request.ts";
import { isHarmonyModel } from "../parsers/harmony/harmony-model.ts";
import { HARMONY_TEMPLATE } from "../prompt/harmony/render-harmony.ts";
import type { LoadedModel, ModelStore } from "../prompt/load-model.ts";
import type { ChatTemplate } from "../prompt/template/chat-template.ts";
import { encodeYielding } from "../prompt/tokenizer/encode-yielding.ts";
import type { PreparedPrompt } from "./make-plan.ts";
import { renderPrompt } from "./render-prompt.ts";

/** The part of a chat that decides its prompt. */
export type PromptRequest = Pick<
  ChatRequest,
  "model" | "messages" | "addGenerationPrompt" | "continueFinalMessage" | "templateKwargs" | "tools"
>;

/** Model, prompt text and token ids of a chat; also what /tokenize answers from. Throws EdgeError. */
export async function makeChatPrompt(
  request: PromptRequest,
  models: ModelStore,
  now: Date,
): Promise<PreparedPrompt> {
  const model = await loadModel(models, request.model);
  const template = model.template ?? harmonyTemplate(model);
  if (template === null) {
    throw invalidRequest(`The model '${request.model}' has no chat template.`, "model");
  }
  const promptText = renderPrompt(request, template, {
    now,
    hasShortCallIds: wantsShortCallIds(model),
  });
  // The template has written the special tokens already.
  const inputIds = await encodeYielding(model.tokenizer, promptText, { addSpecialTokens: false });
  if (inputIds.length === 0) throw invalidRequest("The prompt is empty.", "messages");
  return { model, promptText, inputIds, addedIds: 0, param: "messages" };
}

/** Whether the model's templates refuse ids of calls that have not exactly nine characters, as Mistral's do. */
function wantsShortCallIds({ manifest }: LoadedModel): boolean {
  const templates = Object.values(manifest.chatTemplate?.templates ?? {});
  return templates.some((source) => /id\s*\|\s*length\s*!=\s*9/.test(source));
}

/** gpt-oss models may come without a template file: their format is the same for all. */
function harmonyTemplate({ manifest, tokenizer }: LoadedModel): ChatTemplate | null {
  const isHarmony = isHarmonyModel({
    modelName: manifest.id,
    modelType: manifest.modelType ?? undefined,
    hasToken: (text) => tokenizer.idOf(text) !== undefined,
  });
  return isHarmony ? HARMONY_TEMPLATE : null;
}

/** A prompt of /v1/completions: text as the tokenizer takes it, its special tokens added, or ids as they are. */
export async function makeTextPrompt(
  model: LoadedModel,
  prompt: TextPrompt,
  param: string,
): Promise<PreparedPrompt> {
  const { tokenizer } = model;
  if (typeof prompt !== "string") {
    checkIds(prompt, tokenizer.vocabSize, param);
    return {
      model,
      promptText: tokenizer.decode(prompt, { skipSpecialTokens: false }),
      inputIds: Uint32Array.from(prompt),
      addedIds: 0,
      param,
    };
  }
  const inputIds = await encodeYielding(tokenizer, prompt, { addSpecialTokens: true });
  if (inputIds.length === 0) throw invalidRequest(`'${param}' must not be empty.`, param);
  const bare = tokenizer.encode("", { addSpecialTokens: true });
  let addedIds = 0;
  while (addedIds < bare.length && bare[addedIds] === inputIds[addedIds]) addedIds += 1;
  return { model, promptText: prompt, inputIds, addedIds, param };
}

function checkIds(ids: readonly number[], vocabSize: number, param: string): void {
  if (ids.length === 0) throw invalidRequest(`'${param}' must not be empty.`, param);
  const unknown = ids.findIndex((id) => id >= vocabSize);
  if (unknown < 0) return;
  const place = `${param}[${unknown}]`;
  throw invalidRequest(`'${place}': the model has no such token id.`, place);
}

export async function loadModel(models: ModelStore, id: string): Promise<LoadedModel> {
  const model = await models.load(id);
  if (model === null) throw new EdgeError({ kind: "model-not-found", model: id });
  return model;
}
