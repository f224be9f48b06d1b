/** A function that the model may call, and the schema that its arguments must follow. */
export interface TaggedTool {
  readonly name: string;
  readonly schema: unknown;
}

export interface TagOptions {
  /** A call must come, and nothing before it. */
  readonly atLeastOne: boolean;
  /** The reply is over after one call. */
  readonly onlyOne: boolean;
}

/** A part of a structural tag, in the words of xgrammar. */
export type TagFormat = Readonly<Record<string, unknown>>;

type BuildTags = (tools: readonly TaggedTool[], options: TagOptions) => TagFormat;

/** How xgrammar writes arguments that are not JSON. */
type XmlStyle = "qwen_xml" | "deepseek_xml" | "glm_xml";

interface CallWrapping {
  readonly begin: string;
  readonly end: string;
}

interface FlatFormat {
  /** One or more ways in which a call may begin; each needs its own trigger. */
  readonly wrap: readonly ((name: string) => CallWrapping & { readonly trigger: string })[];
  readonly style?: XmlStyle;
}

interface SectionFormat {
  readonly begin: string;
  readonly end: string;
  /** From where on free text turns into a section: a beginning of `begin`. Default: all of it. */
  readonly trigger?: string;
  readonly separator: string;
  readonly wrap: (name: string) => CallWrapping;
  readonly style?: XmlStyle;
  /** Between `begin` of a call and its arguments: a number and this text. */
  readonly afterNumber?: string;
}

const tag = (begin: string, content: TagFormat, end: string): TagFormat => ({
  type: "tag",
  begin,
  content,
  end,
});
const literal = (value: string): TagFormat => ({ type: "const_string", value });
const sequence = (...elements: readonly TagFormat[]): TagFormat => ({ type: "sequence", elements });
const optional = (content: TagFormat): TagFormat => ({ type: "optional", content });

function args({ schema }: TaggedTool, style?: XmlStyle): TagFormat {
  return {
    type: "json_schema",
    json_schema: schema,
    ...(style === undefined ? {} : { style }),
  };
}

function triggered(
  triggers: readonly string[],
  tags: readonly TagFormat[],
  { atLeastOne, onlyOne }: TagOptions,
): TagFormat {
  return {
    type: "triggered_tags",
    triggers: [...new Set(triggers)],
    tags,
    at_least_one: atLeastOne,
    stop_after_first: onlyOne,
  };
}

/** Calls that stand by themselves in the text. */
function flat({ wrap, style }: FlatFormat): BuildTags {
  return (tools, options) => {
    const calls = tools.flatMap((tool) =>
      wrap.map((each) => ({ ...each(tool.name), content: args(tool, style) })),
    );
    return triggered(
      calls.map(({ trigger }) => trigger),
      calls.map(({ begin, content, end }) => tag(begin, content, end)),
      options,
    );
  };
}

/** Calls inside a section that holds nothing else. */
function section(format: SectionFormat): BuildTags {
  return (tools, options) => {
    const calls = {
      type: "tags_with_separator",
      tags: tools.map((tool) => {
        const { begin, end } = format.wrap(tool.name);
        const content = args(tool, format.style);
        const { afterNumber } = format;
        return afterNumber === undefined
          ? tag(begin, content, end)
          : tag(
              begin,
              sequence({ type: "regex", pattern: "\\d+" }, literal(afterNumber), content),
              end,
            );
      }),
      separator: format.separator,
      at_least_one: true,
      stop_after_first: options.onlyOne,
    };
    const whole = tag(format.begin, calls, format.end);
    return triggered([format.trigger ?? format.begin], [whole], options);
  };
}

/** A name inside of a JSON string. */
const inJson = (name: string): string => JSON.stringify(name).slice(1, -1);

/** A JSON object with the name and the arguments under the keys that the format gives them. */
const jsonCall = (before: string, after: string, key = "arguments") => ({
  begin: (name: string): string => `${before}{"name": "${inJson(name)}", "${key}": `,
  end: `}${after}`,
});

function jsonTag(before: string, after: string, trigger: string, key?: string): BuildTags {
  const { begin, end } = jsonCall(before, after, key);
  return flat({ wrap: [(name) => ({ begin: begin(name), end, trigger })] });
}

const QWEN = jsonTag("<tool_call>\n", "\n</tool_call>", "<tool_call>");
const QWEN_XML = flat({
  wrap: [
    (name) => ({
      begin: `<tool_call>\n<function=${name}>\n`,
      end: "\n</function>\n</tool_call>",
      trigger: "<tool_call>\n<function=",
    }),
  ],
  style: "qwen_xml",
});

const deepseekXml = (word: string): BuildTags =>
  section({
    begin: `<｜DSML｜${word}>\n`,
    end: `</｜DSML｜${word}>`,
    trigger: `<｜DSML｜${word}>`,
    // The line break between calls is the end of the one before.
    separator: "",
    wrap: (name) => ({ begin: `<｜DSML｜invoke name="${name}">\n`, end: "</｜DSML｜invoke>\n" }),
    style: "deepseek_xml",
  });

const NEXT_MESSAGE = "<|start|>assistant";

/**
 * Harmony. The engine may start to constrain the reply with its first token, or behind the thoughts (with the next
 * message's `<|start|>`): both are allowed before a call that must come. A call ends the reply, so there is one of it.
 */
const harmony: BuildTags = (tools, options) => {
  const heads = (name: string): readonly string[] => [
    `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>`,
    ` to=functions.${name}<|channel|>commentary <|constrain|>json<|message|>`,
    ` to=functions.${name}<|channel|>commentary json<|message|>`,
  ];
  const calls = tools.flatMap((tool) =>
    heads(tool.name).map((head) => tag(head, args(tool), "<|call|>")),
  );
  if (!options.atLeastOne) {
    return triggered(["<|channel|>commentary to=", " to=functions."], calls, options);
  }
  const thought = tag("<|channel|>analysis<|message|>", { type: "any_text" }, "<|end|>");
  return sequence(
    optional(literal(NEXT_MESSAGE)),
    optional(sequence(thought, literal(NEXT_MESSAGE))),
    {
      type: "tags_with_separator",
      tags: calls,
      separator: NEXT_MESSAGE,
      at_least_one: true,
      stop_after_first: options.onlyOne,
    },
  );
};

/** By the parser's name. Formats that are not here are constrained to a JSON array of calls instead. */
const FORMATS: ReadonlyMap<string, BuildTags> = new Map([
  ["qwen", QWEN],
  ["qwen25", QWEN],
  ["trinity", QWEN],
  ["hermes", jsonTag("<tool_call>", "</tool_call>", "<tool_call>")],
  [
    "llama3",
    // Some of the models never write the marker.
    flat({
      wrap: ["<|python_tag|>", ""].map((marker) => (name) => {
        const { begin, end } = jsonCall(marker, "", "parameters");
        return { begin: begin(name), end, trigger: marker === "" ? '{"name": "' : marker };
      }),
    }),
  ],
  [
    "mistral",
    section({
      begin: "[TOOL_CALLS] [",
      end: "]",
      trigger: "[TOOL_CALLS]",
      separator: ", ",
      wrap: (name) => ({ begin: jsonCall("", "").begin(name), end: "}" }),
    }),
  ],
  [
    "deepseekv3",
    section({
      begin: "<｜tool▁calls▁begin｜>",
      end: "<｜tool▁calls▁end｜>",
      separator: "\n",
      wrap: (name) => ({
        begin: `<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n`,
        end: "\n```<｜tool▁call▁end｜>",
      }),
    }),
  ],
  [
    "deepseekv31",
    section({
      begin: "<｜tool▁calls▁begin｜>",
      end: "<｜tool▁calls▁end｜>",
      separator: "",
      wrap: (name) => ({
        begin: `<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>`,
        end: "<｜tool▁call▁end｜>",
      }),
    }),
  ],
  ["deepseekv32", deepseekXml("function_calls")],
  ["deepseekv4", deepseekXml("tool_calls")],
  [
    "glm47",
    flat({
      wrap: [
        (name) => ({
          begin: `<tool_call>${name}`,
          end: "</tool_call>",
          trigger: "<tool_call>",
        }),
      ],
      style: "glm_xml",
    }),
  ],
  ["gpt-oss", harmony],
  [
    "kimi_k2",
    section({
      begin: "<|tool_calls_section_begin|>",
      end: "<|tool_calls_section_end|>",
      separator: "",
      wrap: (name) => ({
        begin: `<|tool_call_begin|>functions.${name}:`,
        end: "<|tool_call_end|>",
      }),
      afterNumber: "<|tool_call_argument_begin|>",
    }),
  ],
  ["qwen3_coder", QWEN_XML],
  ["step3p5", QWEN_XML],
  [
    "interns1",
    jsonTag(
      "<|action_start|> <|plugin|>\n",
      "<|action_end|>",
      "<|action_start|> <|plugin|>",
      "parameters",
    ),
  ],
  [
    "apertus2509",
    section({
      begin: "<|tools_prefix|>[",
      end: "]<|tools_suffix|>",
      trigger: "<|tools_prefix|>",
      separator: ", ",
      wrap: (name) => ({ begin: `{"${inJson(name)}": `, end: "}" }),
    }),
  ],
  [
    "inkling",
    flat({
      wrap: [
        (name) => {
          const trigger = `<|message_model|>${name}<|content_invoke_tool_json|>`;
          return {
            begin: `${trigger}{"name":"${inJson(name)}","args":`,
            end: "}<|end_message|>",
            trigger,
          };
        },
      ],
    }),
  ],
]);

/**
 * The tag that makes a model call `tools` in its own format, or undefined for a format that has none. Every trigger is
 * the beginning of the tags that it leads to, and no other trigger is.
 */
export function buildToolTags(
  format: string | undefined,
  tools: readonly TaggedTool[],
  options: TagOptions,
): TagFormat | undefined {
  return FORMATS.get(format ?? "")?.(tools, options);
}

/** Names of the formats that have tags. */
export const TAGGED_FORMATS: readonly string[] = [...FORMATS.keys()];

/** A format as the text that the engine takes. */
export function toStructuralTag(format: TagFormat): string {
  return JSON.stringify({ type: "structural_tag", format });
}

/** JSON that follows a schema, or calls: what a reply may be when a client asks for both. */
export function answerOrCalls(schema: unknown, calls: TagFormat): TagFormat {
  return { type: "or", elements: [{ type: "json_schema", json_schema: schema }, calls] };
}
