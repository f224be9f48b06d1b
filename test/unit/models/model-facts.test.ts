import { describe, it } from "vitest";

import type { ModelConfigs } from "../../../scripts/models/model-facts.ts";
import {
  contextLengthOf,
  eosTokensOf,
  modelKindOf,
  samplingDefaultsOf,
  specialTokensOf,
} from "../../../scripts/models/model-facts.ts";
import type { WorkerFacts } from "../../../scripts/models/model-files.ts";

function configs(parts: Partial<ModelConfigs>): ModelConfigs {
  return { config: {}, generationConfig: {}, tokenizerConfig: {}, specialTokensMap: {}, ...parts };
}

function worker(parts: Partial<WorkerFacts>): WorkerFacts {
  return {
    eosTokenIds: [],
    maxPromptTokens: 0,
    samplingDefaults: {},
    modelType: null,
    architectures: [],
    ...parts,
  };
}

describe("context length", () => {
  const rows: { name: string; configs: Partial<ModelConfigs>; expected: number | null }[] = [
    { name: "nothing known", configs: {}, expected: null },
    {
      name: "max_position_embeddings",
      configs: { config: { max_position_embeddings: 40960, rope_scaling: null } },
      expected: 40960,
    },
    {
      name: "a model with several lengths: SGLang's preference",
      configs: {
        config: { max_position_embeddings: 4096, max_sequence_length: 2048, seq_length: 1 },
      },
      expected: 2048,
    },
    {
      name: "text_config of a multimodal model",
      configs: {
        config: { max_position_embeddings: 77, text_config: { max_position_embeddings: 131072 } },
      },
      expected: 131072,
    },
    {
      name: "a thinker's text_config",
      configs: {
        config: { thinker_config: { text_config: { max_position_embeddings: 32768 } } },
      },
      expected: 32768,
    },
    {
      name: "linear scaling multiplies",
      configs: {
        config: { max_position_embeddings: 4096, rope_scaling: { type: "linear", factor: 2.5 } },
      },
      expected: 10240,
    },
    {
      name: "the text_config's scaling counts, not the outer one's",
      configs: {
        config: {
          rope_scaling: { type: "linear", factor: 4 },
          text_config: { max_position_embeddings: 8192, rope_scaling: { factor: 2 } },
        },
      },
      expected: 16384,
    },
    {
      name: "yarn that names the original length is stretched already",
      configs: {
        config: {
          max_position_embeddings: 163840,
          rope_scaling: { type: "yarn", factor: 40, original_max_position_embeddings: 4096 },
        },
      },
      expected: 163840,
    },
    {
      name: "llama3 scaling is stretched already",
      configs: {
        config: {
          max_position_embeddings: 131072,
          rope_scaling: { rope_type: "llama3", factor: 8 },
        },
      },
      expected: 131072,
    },
    {
      name: "rope_parameters, the newer name",
      configs: {
        config: {
          max_position_embeddings: 1000,
          rope_parameters: { rope_type: "linear", factor: 2 },
        },
      },
      expected: 2000,
    },
    {
      name: "rope_parameters by layer type have no factor of their own",
      configs: {
        config: {
          max_position_embeddings: 1000,
          rope_parameters: { full_attention: { rope_type: "linear", factor: 8 } },
        },
      },
      expected: 1000,
    },
    {
      name: "config.json wins over the tokenizer",
      configs: {
        config: { max_position_embeddings: 40960 },
        tokenizerConfig: { model_max_length: 131072 },
      },
      expected: 40960,
    },
    {
      name: "the tokenizer's length without config.json",
      configs: { tokenizerConfig: { model_max_length: 131072 } },
      expected: 131072,
    },
    {
      name: "a tokenizer's length that means unlimited",
      configs: { tokenizerConfig: { model_max_length: 1000000000000000019884624838656 } },
      expected: null,
    },
    {
      name: "a billion is no length",
      configs: { tokenizerConfig: { model_max_length: 1e9 } },
      expected: null,
    },
    {
      name: "the worker's longest prompt before the tokenizer's length",
      configs: {
        worker: worker({ maxPromptTokens: 8186 }),
        tokenizerConfig: { model_max_length: 131072 },
      },
      expected: 8192,
    },
    {
      name: "values of the wrong type are not there",
      configs: { config: { max_position_embeddings: "4096", seq_length: 0 } },
      expected: null,
    },
  ];
  it.for(rows)("$name", ({ configs: parts, expected }, { expect }) => {
    expect(contextLengthOf(configs(parts))).toBe(expected);
  });
});

const idOf = (text: string): number | undefined => (text === "</s>" ? 2 : undefined);

describe("end-of-sequence tokens", () => {
  const rows: {
    name: string;
    configs: Partial<ModelConfigs>;
    expected: ReturnType<typeof eosTokensOf>;
  }[] = [
    {
      name: "a list in generation_config.json",
      configs: {
        generationConfig: { eos_token_id: [151645, 151643, 151645] },
        config: { eos_token_id: 7 },
        tokenizerConfig: { eos_token: "</s>" },
      },
      expected: { from: "generation_config.json", ids: [151645, 151643] },
    },
    {
      name: "a number in generation_config.json",
      configs: { generationConfig: { eos_token_id: 0 } },
      expected: { from: "generation_config.json", ids: [0] },
    },
    {
      name: "config.json next",
      configs: {
        generationConfig: { eos_token_id: null },
        config: { eos_token_id: [1, 106] },
        tokenizerConfig: { eos_token: "</s>" },
      },
      expected: { from: "config.json", ids: [1, 106] },
    },
    {
      name: "the text_config of config.json",
      configs: { config: { text_config: { eos_token_id: 5 } } },
      expected: { from: "config.json", ids: [5] },
    },
    {
      name: "the worker before config.json",
      configs: { worker: worker({ eosTokenIds: [9] }), config: { eos_token_id: 7 } },
      expected: { from: "worker", ids: [9] },
    },
    {
      name: "the tokenizer last",
      configs: { tokenizerConfig: { eos_token: { content: "</s>", __type: "AddedToken" } } },
      expected: { from: "tokenizer", ids: [2] },
    },
    {
      name: "a tokenizer's eos that is not in the vocabulary",
      configs: { tokenizerConfig: { eos_token: "<end>" } },
      expected: { from: "nowhere", ids: [] },
    },
    {
      name: "values that are no ids",
      configs: { generationConfig: { eos_token_id: [-1, 1.5, "2"] } },
      expected: { from: "nowhere", ids: [] },
    },
  ];
  it.for(rows)("$name", ({ configs: parts, expected }, { expect }) => {
    expect(eosTokensOf(configs(parts), idOf)).toEqual(expected);
  });
});

describe("sampling defaults", () => {
  const rows: {
    name: string;
    configs: Partial<ModelConfigs>;
    expected: Record<string, number>;
  }[] = [
    { name: "nothing known", configs: {}, expected: {} },
    {
      name: "the five that SGLang takes, and no others",
      configs: {
        generationConfig: {
          temperature: 0.6,
          top_p: 0.95,
          top_k: 20,
          min_p: 0,
          repetition_penalty: 1.05,
          length_penalty: 2,
          max_new_tokens: 2048,
        },
      },
      expected: { temperature: 0.6, top_p: 0.95, top_k: 20, min_p: 0, repetition_penalty: 1.05 },
    },
    {
      name: "do_sample false changes nothing",
      configs: { generationConfig: { do_sample: false, temperature: 0.7, top_p: null } },
      expected: { temperature: 0.7 },
    },
    {
      name: "the worker's when the file has none",
      configs: {
        generationConfig: { eos_token_id: 1 },
        worker: worker({ samplingDefaults: { temperature: 0.3, top_k: "5" } }),
      },
      expected: { temperature: 0.3 },
    },
    {
      name: "the file's before the worker's",
      configs: {
        generationConfig: { top_p: 0.9 },
        worker: worker({ samplingDefaults: { temperature: 0.3 } }),
      },
      expected: { top_p: 0.9 },
    },
  ];
  it.for(rows)("$name", ({ configs: parts, expected }, { expect }) => {
    expect(samplingDefaultsOf(configs(parts))).toEqual(expected);
  });
});

// What transformers 5.18 gives to a template for the same files.
describe("special tokens", () => {
  const rows: {
    name: string;
    tokenizerConfig: Record<string, unknown>;
    specialTokensMap?: Record<string, unknown>;
    expected: Record<string, string>;
  }[] = [
    {
      name: "texts, AddedToken objects and null",
      tokenizerConfig: {
        bos_token: { __type: "AddedToken", content: "<s>", lstrip: false },
        eos_token: "</s>",
        unk_token: null,
        pad_token: { content: "<pad>" },
        add_bos_token: true,
        additional_special_tokens: ["<x>"],
      },
      expected: { bos_token: "<s>", eos_token: "</s>", pad_token: "<pad>" },
    },
    {
      name: "a model's own tokens by name",
      tokenizerConfig: {
        image_token: "<image>",
        extra_special_tokens: { boi_token: "<start_of_image>", vision: { content: "<v>" } },
      },
      expected: { image_token: "<image>", boi_token: "<start_of_image>", vision: "<v>" },
    },
    {
      name: "a list of extra tokens has no names",
      tokenizerConfig: { extra_special_tokens: ["<a>"], eos_token: "</s>" },
      expected: { eos_token: "</s>" },
    },
    {
      name: "special_tokens_map.json is not read beside added_tokens_decoder",
      tokenizerConfig: { added_tokens_decoder: { "1": { content: "</s>" } }, eos_token: "</s>" },
      specialTokensMap: { eos_token: "<other>", bos_token: "<s>" },
      expected: { eos_token: "</s>" },
    },
    {
      name: "special_tokens_map.json wins in an old model",
      tokenizerConfig: { eos_token: "</s>", pad_token: "<pad>" },
      specialTokensMap: { eos_token: "<other>", bos_token: { content: "<s>" } },
      expected: { eos_token: "<other>", bos_token: "<s>", pad_token: "<pad>" },
    },
    { name: "nothing", tokenizerConfig: {}, expected: {} },
  ];
  it.for(rows)("$name", ({ tokenizerConfig, specialTokensMap = {}, expected }, { expect }) => {
    expect(specialTokensOf(configs({ tokenizerConfig, specialTokensMap }))).toEqual(expected);
  });
});

describe("model type", () => {
  const said = worker({ modelType: "llama", architectures: ["LlamaForCausalLM"] });
  const rows: {
    name: string;
    configs: Partial<ModelConfigs>;
    expected: ReturnType<typeof modelKindOf>;
  }[] = [
    { name: "nothing", configs: {}, expected: { modelType: null, architectures: [] } },
    {
      name: "config.json before the worker",
      configs: {
        config: { model_type: "qwen3", architectures: ["Qwen3ForCausalLM", 4] },
        worker: said,
      },
      expected: { modelType: "qwen3", architectures: ["Qwen3ForCausalLM"] },
    },
    {
      name: "the worker",
      configs: { worker: said },
      expected: { modelType: "llama", architectures: ["LlamaForCausalLM"] },
    },
  ];
  it.for(rows)("$name", ({ configs: parts, expected }, { expect }) => {
    expect(modelKindOf(configs(parts))).toEqual(expected);
  });
});
