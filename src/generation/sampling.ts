import type { GenerationOptions } from "../core/chat-request.ts";
import type { EngineSampling } from "../engine/engine-message.ts";

/** What a request gets when neither the client nor the model says otherwise: the engine's documented neutral values. */
const NEUTRAL = {
  temperature: 1,
  topP: 1,
  topK: -1,
  minP: 0,
  frequencyPenalty: 0,
  presencePenalty: 0,
  repetitionPenalty: 1,
} as const;

export interface SamplingContext {
  /** The model's own defaults by wire name (temperature, top_p …). */
  readonly defaults: Readonly<Record<string, number>>;
  /** Largest number of tokens to generate; absent: unknown context, no limit of ours. */
  readonly maxNewTokens?: number;
  /** Whether the worker takes stop strings. */
  readonly acceptsStopStrings: boolean;
}

/** Completes the client's options to what the engine is sent: client, then model, then neutral value. */
export function toEngineSampling(
  options: GenerationOptions,
  context: SamplingContext,
): EngineSampling {
  const { sampling, stop, detokenize, streamInterval, customParams, loraId } = options;
  const { defaults, maxNewTokens } = context;
  return {
    temperature: sampling.temperature ?? defaults["temperature"] ?? NEUTRAL.temperature,
    topP: sampling.topP ?? defaults["top_p"] ?? NEUTRAL.topP,
    topK: toTopK(sampling.topK ?? defaults["top_k"] ?? NEUTRAL.topK),
    minP: sampling.minP ?? defaults["min_p"] ?? NEUTRAL.minP,
    frequencyPenalty:
      sampling.frequencyPenalty ?? defaults["frequency_penalty"] ?? NEUTRAL.frequencyPenalty,
    presencePenalty:
      sampling.presencePenalty ?? defaults["presence_penalty"] ?? NEUTRAL.presencePenalty,
    repetitionPenalty:
      sampling.repetitionPenalty ?? defaults["repetition_penalty"] ?? NEUTRAL.repetitionPenalty,
    logitBias: sampling.logitBias ?? {},
    stop: context.acceptsStopStrings ? stop.strings : [],
    stopTokenIds: stop.tokenIds,
    minNewTokens: stop.minTokens,
    ignoreEos: stop.ignoreEos,
    noStopTrim: stop.noStopTrim,
    skipSpecialTokens: detokenize.skipSpecialTokens,
    spacesBetweenSpecialTokens: detokenize.spacesBetweenSpecialTokens,
    n: 1,
    ...(maxNewTokens === undefined ? {} : { maxNewTokens }),
    ...(streamInterval === undefined ? {} : { streamInterval }),
    ...(customParams === undefined ? {} : { customParams }),
    ...(loraId === undefined ? {} : { loraId }),
  };
}

/** Model cards write "no limit" as 0; the engine writes it as -1 and refuses 0. */
function toTopK(topK: number): number {
  return topK === 0 ? -1 : topK;
}
