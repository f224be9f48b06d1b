import type { SamplingParams } from "../../src/engine/gen/sglang_scheduler_pb.ts";

export interface EngineAbilities {
  readonly vocabSize: number;
  readonly skipTokenizerInit: boolean;
  /** Whether ids can be read as text at all. */
  readonly hasTokenizer: boolean;
}

/**
 * Why SGLang would refuse these sampling parameters, or undefined. Zeros are taken as they stand: a message that was
 * never filled in fails at top_p.
 */
export function samplingProblem(
  params: SamplingParams,
  engine: EngineAbilities,
): string | undefined {
  return (
    rangeProblem(params) ??
    lengthProblem(params) ??
    tokenizerProblem(params, engine) ??
    logitBiasProblem(params, engine.vocabSize)
  );
}

function rangeProblem(params: SamplingParams): string | undefined {
  const checks: readonly (readonly [boolean, string])[] = [
    [
      Number.isFinite(params.temperature) && params.temperature >= 0,
      `temperature must be a non-negative finite number, got ${params.temperature}.`,
    ],
    [params.topP > 0 && params.topP <= 1, `top_p must be in (0, 1], got ${params.topP}.`],
    [params.minP >= 0 && params.minP <= 1, `min_p must be in [0, 1], got ${params.minP}.`],
    [
      params.topK === -1 || params.topK >= 1 || isGreedy(params),
      `top_k must be -1 (disable) or at least 1, got ${params.topK}.`,
    ],
    [
      Math.abs(params.frequencyPenalty) <= 2,
      `frequency_penalty must be in [-2, 2], got ${params.frequencyPenalty}.`,
    ],
    [
      Math.abs(params.presencePenalty) <= 2,
      `presence_penalty must be in [-2, 2], got ${params.presencePenalty}.`,
    ],
    [
      params.repetitionPenalty > 0 && params.repetitionPenalty <= 2,
      `repetition_penalty must be in (0, 2] (1.0 = no penalty), got ${params.repetitionPenalty}.`,
    ],
    [params.n >= 1, `n must be at least 1, got ${params.n}.`],
  ];
  return checks.find(([holds]) => !holds)?.[1];
}

/** Temperature 0 makes SGLang set top_k to 1 itself, before it checks it. */
function isGreedy(params: SamplingParams): boolean {
  return params.temperature >= 0 && params.temperature < 1e-6;
}

function lengthProblem({ minNewTokens, maxNewTokens }: SamplingParams): string | undefined {
  if (maxNewTokens === undefined || minNewTokens <= maxNewTokens) return undefined;
  return `min_new_tokens must be in [0, max_new_tokens(${maxNewTokens})], got ${minNewTokens}.`;
}

function tokenizerProblem(params: SamplingParams, engine: EngineAbilities): string | undefined {
  const skipped = engine.skipTokenizerInit;
  if (params.stop.length > 0 && (skipped || !engine.hasTokenizer)) {
    return (
      `stop=${JSON.stringify(params.stop)} is unavailable when skip_tokenizer_init=True ` +
      "(requires tokenizer to decode tokens to text for matching)."
    );
  }
  if (params.minNewTokens > 0 && skipped) {
    return (
      `min_new_tokens=${params.minNewTokens} is unavailable when skip_tokenizer_init=True ` +
      "(requires tokenizer for eos_token_id)."
    );
  }
  if (params.constraint.case !== undefined && skipped) {
    return "Grammar-based generation (json_schema, regex, ebnf, structural_tag) is not supported when skip_tokenizer_init=True.";
  }
  return undefined;
}

function logitBiasProblem({ logitBias }: SamplingParams, vocabSize: number): string | undefined {
  for (const key of Object.keys(logitBias)) {
    const id = Number(key);
    if (!/^\d+$/.test(key) || id >= vocabSize) {
      return `logit_bias must has keys in [0, ${vocabSize - 1}], got ${key}.`;
    }
  }
  return undefined;
}
