/** What is known of a model before it has written anything. */
export interface ModelSigns {
  readonly modelName: string;
  /** The source of its chat templates; "" when unknown. */
  readonly template: string;
  /** Is this text one token of the vocabulary? */
  readonly hasToken: (text: string) => boolean;
}

/** A sign of one format; the first rule that fits wins. */
interface Rule {
  readonly format: string;
  /** Every one of these texts is there. */
  readonly markers: readonly string[];
  /** The model's name says so, too. */
  readonly name?: RegExp;
  /** None of these texts is there. */
  readonly without?: readonly string[];
}

/**
 * What a template or a vocabulary tells. Markers that only one family has come first; families that share theirs are
 * told apart by more of them, or by the name.
 */
const MARKER_RULES: readonly Rule[] = [
  { format: "gpt-oss", markers: ["<|channel|>", "<|message|>"], without: ["to=self"] },
  { format: "kimi_k3", markers: ["<|open|>", "<|close|>", "<|sep|>"] },
  { format: "kimi_k2", markers: ["<|tool_calls_section_begin|>"] },
  { format: "deepseekv4", markers: ["｜DSML｜tool_calls"] },
  { format: "deepseekv4", markers: ["｜DSML｜"], name: /deepseek[-_. ]?v?4/ },
  { format: "deepseekv32", markers: ["｜DSML｜"] },
  { format: "step3", markers: ["<steptml:invoke"] },
  { format: "step3", markers: ["<｜tool_call_begin｜>", "<｜tool_sep｜>"] },
  { format: "minimax-m3", markers: ["]<]minimax[>["] },
  { format: "minimax-m2", markers: ["<minimax:tool_call>"] },
  { format: "muse", markers: ["<atem:"] },
  { format: "gemma4", markers: ["<|tool_call>", "<tool_call|>"] },
  { format: "inkling", markers: ["<|content_invoke_tool_json|>"] },
  { format: "gigachat3", markers: ["function call<|role_sep|>"] },
  { format: "gigachat3", markers: ["<|role_sep|>", "<|message_sep|>"] },
  { format: "cohere_command4", markers: ["<|START_ACTION|>"] },
  { format: "apertus2509", markers: ["<|tools_prefix|>"] },
  { format: "interns1", markers: ["<|action_start|>", "<|plugin|>"] },
  { format: "lfm2", markers: ["<|tool_call_start|>"] },
  { format: "mistral", markers: ["[TOOL_CALLS]"] },
];

/** What only a template tells: texts that are no tokens, and how it writes the call of an earlier turn. */
const TEMPLATE_RULES: readonly Rule[] = [
  { format: "deepseekv3", markers: ["<｜tool▁sep｜>", "```json"] },
  { format: "deepseekv31", markers: ["<｜tool▁sep｜>"] },
  { format: "minicpm5", markers: ["<function name=", "<param name="] },
  { format: "poolside_v1", markers: ["<arg_key>"], name: /laguna|poolside/ },
  { format: "hunyuan", markers: ["<arg_key>", "<tool_sep"] },
  { format: "glm45", markers: ["</arg_key>\\n<arg_value>"] },
  { format: "glm45", markers: ["</arg_key>\n<arg_value>"] },
  { format: "glm47", markers: ["<arg_key>"] },
  { format: "mimo", markers: ["<function="], name: /mimo/ },
  { format: "step3p5", markers: ["<function="], name: /step[-_]?3/ },
  { format: "qwen3_coder", markers: ["<tool_call>", "<function="] },
  { format: "trinity", markers: ["<tool_call>"], name: /trinity/ },
  { format: "hermes", markers: ["<tool_call>"], name: /hermes/ },
  { format: "qwen25", markers: ["<tool_call>"] },
  { format: "pythonic", markers: ["<|python_start|>"] },
  // Told by its example of a call: `[func_name1(params_name1=params_value1…)]`.
  { format: "pythonic", markers: ["[func_name1("] },
  { format: "llama3", markers: ["<|python_tag|>"] },
  { format: "llama3", markers: ["<|start_header_id|>", '"parameters"'] },
];

const NAME_RULES: readonly (readonly [RegExp, string])[] = [
  [/gpt[-_]?oss/, "gpt-oss"],
  [/hermes/, "hermes"],
  [/kimi[-_ ]?k3/, "kimi_k3"],
  [/kimi[-_ ]?k2/, "kimi_k2"],
  [/deepseek[-_. ]?v?4/, "deepseekv4"],
  [/deepseek[-_. ]?v?3[.p]2(?![-_]exp)/, "deepseekv32"],
  [/deepseek[-_. ]?v?3[.p][12]/, "deepseekv31"],
  [/deepseek[-_. ]?(?:v?3|r1)(?!.*distill)/, "deepseekv3"],
  [/glm[-_]?(?:4[.p]7|5)/, "glm47"],
  [/glm[-_]?4[.p][56]/, "glm45"],
  [/mimo/, "mimo"],
  [/step[-_]?3[.p]?[57]/, "step3p5"],
  [/step[-_]?3(?!\d)/, "step3"],
  [/minimax[-_]?m3/, "minimax-m3"],
  [/minimax[-_]?m2/, "minimax-m2"],
  [/muse[-_]?glimmer/, "muse"],
  [/intern[-_]?s1/, "interns1"],
  [/hy[-_]?v3|hunyuan[-_]?v?3/, "hunyuan"],
  [/apertus/, "apertus2509"],
  [/command[-_]?(?:a|r7b|4)/, "cohere_command4"],
  [/gemma[-_]?4/, "gemma4"],
  [/gigachat[-_]?3/, "gigachat3"],
  [/minicpm[-_]?5/, "minicpm5"],
  [/laguna|poolside/, "poolside_v1"],
  [/inkling/, "inkling"],
  [/lfm[-_]?2/, "lfm2"],
  [/trinity/, "trinity"],
  [/qwen[-_]?3[-_]coder|qwen[-_]?3[.p][5-9]/, "qwen3_coder"],
  [/qwen[-_]?(?:2[.p]5|3)|qwq/, "qwen25"],
  [/llama[-_]?4/, "pythonic"],
  [/llama[-_]?3/, "llama3"],
  [/mistral|ministral|mixtral|devstral|magistral|codestral|pixtral/, "mistral"],
];

/** What only a vocabulary tells; nothing is said by markers that models inherit from the one they were made of. */
const TOKEN_RULES: readonly Rule[] = [
  { format: "deepseekv3", markers: ["<｜tool▁sep｜>"] },
  { format: "glm47", markers: ["<arg_key>"] },
  { format: "pythonic", markers: ["<|python_start|>"] },
  { format: "llama3", markers: ["<|python_tag|>"] },
  { format: "qwen25", markers: ["<tool_call>"] },
];

/**
 * SGLang's name of the tool format for a model that nobody configured one for ("gpt-oss", Harmony's, included);
 * undefined when nothing tells.
 *
 * The template counts most, as it shows the calls that the model is to write; then the name; the vocabulary last, for
 * models keep the tokens of the one that they were made of.
 */
export function detectToolFormat({
  modelName,
  template,
  hasToken,
}: ModelSigns): string | undefined {
  const name = modelName.toLowerCase();
  const find = (rules: readonly Rule[], has: (text: string) => boolean): string | undefined =>
    rules.find(
      (rule) =>
        rule.markers.every(has) &&
        !rule.without?.some(has) &&
        (rule.name === undefined || rule.name.test(name)),
    )?.format;
  const isWritten = (text: string): boolean => template.includes(text);
  return (
    find(MARKER_RULES, isWritten) ??
    find(TEMPLATE_RULES, isWritten) ??
    NAME_RULES.find(([pattern]) => pattern.test(name))?.[1] ??
    find(MARKER_RULES, hasToken) ??
    find(TOKEN_RULES, hasToken)
  );
}
