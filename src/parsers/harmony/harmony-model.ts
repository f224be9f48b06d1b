/** The markers of the format, each a special token of the model. */
export const HARMONY_MARKERS = [
  "<|start|>",
  "<|channel|>",
  "<|constrain|>",
  "<|message|>",
  "<|end|>",
  "<|call|>",
  "<|return|>",
] as const;

export type HarmonyMarker = (typeof HARMONY_MARKERS)[number];

/** Tokens at which a reply is over: the final answer's end, and a call that waits for its result. */
export const HARMONY_STOP_TOKENS = ["<|return|>", "<|call|>"] as const;

export interface ModelTraits {
  /** Under which the model is served. */
  readonly modelName: string;
  /** `model_type` of the model's config.json; undefined when unknown. */
  readonly modelType: string | undefined;
  /** Whether the vocabulary has a special token of that text. */
  readonly hasToken: (text: string) => boolean;
}

/**
 * Whether a model speaks Harmony. Its vocabulary must have all the markers; the model's type decides, and where it is
 * another model's (or a wrapper's) the name still can. With the markers alone and no known type it counts as one: no
 * other family has them.
 */
export function isHarmonyModel({ modelName, modelType, hasToken }: ModelTraits): boolean {
  if (!HARMONY_MARKERS.every((marker) => hasToken(marker))) return false;
  if (modelType === undefined || modelType === "") return true;
  return /gpt[-_]?oss/iu.test(modelType) || /gpt[-_]?oss/iu.test(modelName);
}
