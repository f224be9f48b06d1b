import { invalidRequest } from "../../core/api-error.ts";
import type { GenerationOptions, OutputFormat, ResponseFormat } from "../../core/chat-request.ts";
import { dropUnset } from "./drop-unset.ts";
import type { ConstraintFields, GenerationFields } from "./generation-schema.ts";

/** How to generate. `maxTokens`: what the surface makes of its own fields. Throws EdgeError for a contradiction. */
export function toGenerationOptions(
  wire: GenerationFields,
  maxTokens: number | undefined,
): GenerationOptions {
  const minTokens = wire.min_tokens ?? 0;
  if (maxTokens !== undefined && minTokens > maxTokens) {
    throw invalidRequest(
      "'min_tokens' must not be greater than the largest number of tokens.",
      "min_tokens",
    );
  }
  return {
    sampling: dropUnset({
      temperature: wire.temperature,
      topP: wire.top_p,
      topK: wire.top_k,
      minP: wire.min_p,
      frequencyPenalty: wire.frequency_penalty,
      presencePenalty: wire.presence_penalty,
      repetitionPenalty: wire.repetition_penalty,
      logitBias: wire.logit_bias,
    }),
    n: wire.n ?? 1,
    stop: {
      strings: typeof wire.stop === "string" ? [wire.stop] : (wire.stop ?? []),
      tokenIds: wire.stop_token_ids ?? [],
      minTokens,
      ignoreEos: wire.ignore_eos ?? false,
      noStopTrim: wire.no_stop_trim ?? false,
    },
    detokenize: {
      skipSpecialTokens: wire.skip_special_tokens ?? true,
      spacesBetweenSpecialTokens: wire.spaces_between_special_tokens ?? true,
    },
    ...dropUnset({
      maxTokens,
      streamInterval: wire.stream_interval,
      customParams: wire.custom_params,
      loraId: wire.lora_id,
    }),
  };
}

/** What the reply must look like. */
export function toOutputFormat(wire: ConstraintFields): OutputFormat {
  return {
    responseFormat: toResponseFormat(wire.response_format),
    ...dropUnset({
      regex: wire.regex,
      ebnf: wire.ebnf,
      jsonSchema: toJsonText(wire.json_schema),
      structuralTag: toJsonText(wire.structural_tag),
    }),
  };
}

function toResponseFormat(wire: ConstraintFields["response_format"]): ResponseFormat {
  switch (wire?.type) {
    case undefined:
    case "text":
      return { type: "text" };
    case "json_object":
      return { type: "json-object" };
    case "json_schema": {
      const { schema, strict } = wire.json_schema;
      if (schema === null || schema === undefined) return { type: "json-object" };
      return { type: "json-schema", schema, strict: strict ?? false };
    }
    case "structural_tag":
      return { type: "structural-tag", value: wire };
  }
}

function toJsonText(value: string | object | null | undefined): string | null | undefined {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}
