/** What is known of a model before it has written anything. */
export interface ModelSigns {
  readonly modelName: string;
  /** `model_type` of the model's configuration. */
  readonly modelType?: string | undefined;
  /** The chat template's source; "" when unknown. */
  readonly template: string;
  /** Is this text one token of the vocabulary? */
  readonly hasToken: (text: string) => boolean;
}

/** A model, asked for signs. */
interface Signs {
  /** The model's name or type says so. */
  readonly named: (pattern: RegExp) => boolean;
  /** The template's source contains the text. */
  readonly writes: (text: string) => boolean;
  /** The text is in the template or a token. */
  readonly knows: (text: string) => boolean;
  /** The template uses the variable. */
  readonly reads: (variable: string) => boolean;
  /** The template sets the variable to false unless it is given. */
  readonly turnsOff: (variable: string) => boolean;
  /** The template writes `<think>` or `</think>`. */
  readonly thinks: boolean;
}

interface Rule {
  readonly format: string;
  readonly fits: (model: Signs) => boolean;
}

/**
 * The first rule that fits wins: markers that only one family has, then the families that share `<think>`, told apart by
 * other markers, toggles and names. A token that merely exists in the vocabulary is no sign when families share it:
 * models that do not think have inherited it.
 */
const RULES: readonly Rule[] = [
  {
    format: "kimi_k3",
    fits: (model) =>
      model.writes("<|open|>think<|sep|>") ||
      (model.knows("<|open|>") && model.knows("<|sep|>")) ||
      model.named(/kimi[-_ ]?k3/),
  },
  { format: "inkling", fits: (model) => model.knows("<|content_thinking|>") },
  {
    format: "muse",
    fits: (model) =>
      (model.writes("to=self") && model.writes("<|message|>")) || model.named(/muse[-_ ]?glimmer/),
  },
  { format: "apertus2509", fits: (model) => model.knows("<|inner_prefix|>") },
  {
    format: "gpt-oss",
    fits: (model) => model.knows("<|channel|>") && model.knows("<|message|>"),
  },
  {
    format: "gemma4",
    fits: (model) => model.knows("<|channel>") && model.knows("<channel|>"),
  },
  { format: "cohere_command4", fits: (model) => model.writes("<|START_THINKING|>") },
  { format: "kimi", fits: (model) => model.writes("◁think▷") || model.knows("◁/think▷") },
  {
    format: "minimax-m3",
    fits: (model) => model.knows("<mm:think>") || model.knows("]<]minimax[>["),
  },
  {
    format: "mistral",
    fits: (model) =>
      model.writes("[THINK]") || (model.knows("[THINK]") && model.named(/magistral/)),
  },
  {
    format: "hunyuan",
    fits: (model) =>
      model.knows("<think:opensource>") ||
      (model.thinks && model.knows("<tool_calls>") && model.knows("<tool_sep>")),
  },
  {
    format: "kimi_k2",
    fits: (model) => model.thinks && model.knows("<|tool_calls_section_begin|>"),
  },
  {
    format: "interns1",
    fits: (model) => model.writes("default_thinking_sys") || model.named(/intern[-_]?s1/),
  },
  {
    format: "nemotron_3",
    fits: (model) => model.thinks && model.writes("truncate_history_thinking"),
  },
  { format: "glm45", fits: (model) => model.thinks && model.writes("[gMASK]<sop>") },
  {
    format: "poolside_v1",
    fits: (model) =>
      model.named(/laguna/) ||
      (model.turnsOff("enable_thinking") && model.knows("<arg_key>") && model.knows("<arg_value>")),
  },
  {
    format: "minimax",
    fits: (model) => model.thinks && (model.writes("<minimax:tool_call>") || model.writes("]~b]")),
  },
  {
    format: "step3p5",
    fits: (model) => model.thinks && model.named(/step[-_]?3[.p]?[57]/),
  },
  {
    format: "step3",
    fits: (model) =>
      model.writes("<steptml:invoke") || (model.thinks && model.named(/step[-_]?3(?!\d)/)),
  },
  {
    format: "deepseek-v4",
    fits: (model) => model.writes("<｜DSML｜tool_calls>") || model.named(/deepseek[-_]?v4/),
  },
  {
    format: "deepseek-v3",
    fits: (model) =>
      model.writes("<｜DSML｜function_calls>") ||
      model.named(/deepseek[-_]?v3[._]?[12]/) ||
      (model.thinks && model.reads("thinking") && model.writes("<｜Assistant｜>")),
  },
  { format: "mimo", fits: (model) => model.turnsOff("enable_thinking") },
  {
    format: "qwen3-thinking",
    fits: (model) => model.named(/qwen3.*thinking/) && !model.reads("enable_thinking"),
  },
  { format: "qwen3", fits: (model) => model.thinks && model.reads("enable_thinking") },
  {
    format: "deepseek-r1",
    fits: (model) =>
      model.named(/(?:^|[^a-z0-9])(?:r1|qwq)(?:[^a-z0-9]|$)/) ||
      (model.thinks && model.writes("<｜Assistant｜>")),
  },
  // Writes the marker itself, or its template opens the thought: this format takes both.
  { format: "qwen3", fits: (model) => model.thinks },
];

/**
 * SGLang's name of the reasoning format for a model that nobody configured one for ("gpt-oss", Harmony's, included);
 * undefined when the model shows no sign of reasoning.
 */
export function detectReasoningFormat(model: ModelSigns): string | undefined {
  const signs = toSigns(model);
  return RULES.find((rule) => rule.fits(signs))?.format;
}

function toSigns({ modelName, modelType = "", template, hasToken }: ModelSigns): Signs {
  const names = [modelName.toLowerCase(), modelType.toLowerCase()];
  const writes = (text: string): boolean => template.includes(text);
  return {
    named: (pattern) => names.some((name) => pattern.test(name)),
    writes,
    knows: (text) => writes(text) || hasToken(text),
    reads: (variable) => new RegExp(`\\b${variable}\\b`).test(template),
    turnsOff: (variable) =>
      new RegExp(
        `\\bset\\s+${variable}\\s*=\\s*(?:false|${variable}\\s*(?:\\|\\s*d(?:efault)?\\(\\s*false|if\\s+${variable}\\s+is\\s+defined\\s+else\\s+false))`,
        "i",
      ).test(template),
    thinks: writes("<think>") || writes("</think>"),
  };
}
