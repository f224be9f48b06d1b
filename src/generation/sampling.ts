import type { GenerationOptions, OutputConstraint } from "../core/chat-request.ts";
import type { EngineSampling } from "../engine/engine-message.ts";

/** The name that model cards use for each parameter, and what it is when neither client nor model says otherwise. */
const PARAMETERS = {
  temperature: { wireName: "temperature", neutral: 1 },
  topP: { wireName: "top_p", neutral: 1 },
  topK: { wireName: "top_k", neutral: -1 },
  minP: { wireName: "min_p", neutral: 0 },
  frequencyPenalty: { wireName: "frequency_penalty", neutral: 0 },
  presencePenalty: { wireName: "presence_penalty", neutral: 0 },
  repetitionPenalty: { wireName: "repetition_penalty", neutral: 1 },
} as const;

export interface SamplingContext {
  /** The model's own defaults by wire name (temperature, top_p …). */
  readonly defaults: Readonly<Record<string, number>>;
  /** Largest number of tokens to generate; absent: unknown context, no limit of ours. */
  readonly maxNewTokens?: number;
  /** Whether the worker takes stop strings. */
  readonly acceptsStopStrings: boolean;
  readonly constraint?: OutputConstraint;
}

/** Completes the client's options to what the engine is sent: client, then model, then neutral value. */
export function toEngineSampling(
  options: GenerationOptions,
  context: SamplingContext,
): EngineSampling {
  const { sampling, stop, detokenize, streamInterval, customParams, loraId } = options;
  const { defaults, maxNewTokens, constraint } = context;
  const choose = (name: keyof typeof PARAMETERS): number => {
    const { wireName, neutral } = PARAMETERS[name];
    return sampling[name] ?? defaults[wireName] ?? neutral;
  };
  return {
    temperature: choose("temperature"),
    topP: choose("topP"),
    topK: toTopK(choose("topK")),
    minP: choose("minP"),
    frequencyPenalty: choose("frequencyPenalty"),
    presencePenalty: choose("presencePenalty"),
    repetitionPenalty: choose("repetitionPenalty"),
    logitBias: sampling.logitBias ?? {},
    stop: context.acceptsStopStrings ? stop.strings : [],
    stopTokenIds: stop.tokenIds,
    minNewTokens: stop.minTokens,
    ignoreEos: stop.ignoreEos,
    noStopTrim: stop.noStopTrim,
    skipSpecialTokens: detokenize.skipSpecialTokens,
    spacesBetweenSpecialTokens: detokenize.spacesBetweenSpecialTokens,
    n: options.n,
    ...(constraint === undefined ? {} : { constraint }),
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
