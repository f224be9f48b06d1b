import { invalidRequest } from "../../core/api-error.ts";
import type { BuiltinTemplate } from "./builtin-templates.ts";

/** How a separator style writes a conversation: Jinja expressions over the variables that `toJinja` sets. */
interface Style {
  /** Before the first turn. */
  readonly start: string;
  /** A turn with a text. */
  readonly full: string;
  /** A turn that the model is to write. */
  readonly open: string;
  readonly end?: string;
}

const NEW_LINE: Style = {
  start: "(system_prompt ~ sep) if system_prompt else ''",
  full: "role ~ '\\n' ~ text ~ sep",
  open: "role ~ '\\n'",
};
const COLON_TWO: Style = {
  start: "system_prompt ~ sep",
  full: "role ~ ': ' ~ text ~ seps[i % 2]",
  open: "role ~ ':'",
};
const LLAMA_3: Style = {
  start: "system_prompt if ns.system else ''",
  full: "'<|start_header_id|>' ~ role ~ '<|end_header_id|>\\n\\n' ~ text.strip() ~ '<|eot_id|>'",
  open: "'<|start_header_id|>' ~ role ~ '<|end_header_id|>\\n\\n'",
};

/** SGLang's separator styles, by their names in JSON template files. */
const STYLES: ReadonlyMap<string, Style> = new Map<string, Style>([
  ["ADD_COLON_SINGLE", { ...COLON_TWO, full: "role ~ ': ' ~ text ~ sep" }],
  ["ADD_COLON_TWO", COLON_TWO],
  [
    "ADD_COLON_SPACE_SINGLE",
    { start: "system_prompt ~ sep", full: "role ~ ': ' ~ text ~ sep", open: "role ~ ': '" },
  ],
  ["NO_COLON_SINGLE", { start: "system_prompt", full: "role ~ text ~ sep", open: "role" }],
  ["NO_COLON_TWO", { start: "system_prompt", full: "role ~ text ~ seps[i % 2]", open: "role" }],
  ["ADD_NEW_LINE_SINGLE", NEW_LINE],
  [
    "LLAMA2",
    {
      start: "system_prompt if ns.system else '[INST] '",
      full: "text ~ ' ' if i == 0 else both[i % 2] ~ ' ' ~ text ~ seps[i % 2]",
      open: "both[i % 2]",
    },
  ],
  ["LLAMA3", LLAMA_3],
  [
    "LLAMA4",
    {
      start: LLAMA_3.start,
      full: "'<|header_start|>' ~ role ~ '<|header_end|>\\n\\n' ~ text.strip() ~ '<|eot|>'",
      open: "'<|header_start|>' ~ role ~ '<|header_end|>\\n\\n'",
    },
  ],
  [
    "CHATGLM",
    {
      start: "(system_prompt ~ sep) if system_prompt else ''",
      full: "('[Round ' ~ (i // 2 + first_round) ~ ']' ~ sep if i % 2 == 0 else '') ~ role ~ '：' ~ text ~ sep",
      open: "('[Round ' ~ (i // 2 + first_round) ~ ']' ~ sep if i % 2 == 0 else '') ~ role ~ '：'",
    },
  ],
  [
    "CHATML",
    {
      start: "(system_prompt ~ sep ~ '\\n') if system_prompt else ''",
      full: "role ~ '\\n' ~ text ~ sep ~ '\\n'",
      open: "role ~ '\\n'",
    },
  ],
  [
    "CHATINTERN",
    {
      start: "system_prompt",
      full: "('<s>' if i % 2 == 0 else '') ~ role ~ ':' ~ text ~ seps[i % 2] ~ '\\n'",
      open: "('<s>' if i % 2 == 0 else '') ~ role ~ ':'",
    },
  ],
  [
    "DOLLY",
    {
      start: "system_prompt",
      full: "role ~ ':\\n' ~ text ~ seps[i % 2] ~ ('\\n\\n' if i % 2 == 1 else '')",
      open: "role ~ ':\\n'",
    },
  ],
  [
    "RWKV",
    {
      start: "system_prompt",
      full: "role ~ ': ' ~ text.replace('\\r\\n', '\\n').replace('\\n\\n', '\\n') ~ '\\n\\n'",
      open: "role ~ ':'",
    },
  ],
  [
    "PHOENIX",
    {
      start: "system_prompt",
      full: "role ~ ': <s>' ~ text ~ '</s>'",
      open: "role ~ ': <s>'",
    },
  ],
  [
    "ROBIN",
    { start: "system_prompt ~ sep", full: "role ~ ':\\n' ~ text ~ sep", open: "role ~ ':\\n'" },
  ],
  [
    "FALCON_CHAT",
    {
      start: "(system_prompt ~ sep) if ns.system else ''",
      full: "role ~ ': ' ~ text ~ sep",
      open: "role ~ ':'",
    },
  ],
  [
    "CHATGLM3",
    {
      start: "system_prompt if ns.system else ''",
      full: "role ~ '\\n' ~ text",
      open: "role",
    },
  ],
  ["DEEPSEEK_CHAT", { start: "system_prompt", full: COLON_TWO.full, open: COLON_TWO.open }],
  [
    "METAMATH",
    {
      start: "(system_prompt ~ sep) if system_prompt else ''",
      full: "role ~ (':\\n' if i % 2 == 0 else ': ' ~ sep2) ~ text ~ (sep if i % 2 == 0 else '')",
      open: "role ~ (':\\n' if i % 2 == 0 else ': ' ~ sep2)",
    },
  ],
  ["DeepSeekVL2", { ...COLON_TWO, start: "(system_prompt ~ sep) if system_prompt else ''" }],
  ["QWEN2_VL_EMBED", { ...NEW_LINE, end: "stop" }],
  ["QWEN2_AUDIO", NEW_LINE],
  [
    "GEMMA3",
    { start: "system_prompt", full: "(role if i > 0 else '') ~ text ~ sep", open: "role" },
  ],
  ["MPT", { start: "system_prompt ~ sep", full: "role ~ text ~ sep", open: "role" }],
]);

/**
 * A JSON conversation template of SGLang's (`name`, `system`, `system_message`, `user`, `assistant`, `sep_style`, `sep`,
 * `stop_str`; `sep2` too) as a Jinja template. Throws EdgeError `invalid-request` for a wrong field.
 */
export function fromConversation(file: Readonly<Record<string, unknown>>): BuiltinTemplate {
  const styleName = text(file, "sep_style");
  const style = STYLES.get(styleName);
  if (style === undefined)
    throw invalidRequest(`Unknown separator style: ${styleName}`, "sep_style");
  const stop = stopStrings(file["stop_str"]);
  return { template: toJinja(file, style, stop), stop };
}

function toJinja(
  file: Readonly<Record<string, unknown>>,
  style: Style,
  stop: readonly string[],
): string {
  const variables = {
    system_template: `${text(file, "system")}\n{system_message}`,
    sep: text(file, "sep", "\n"),
    sep2: text(file, "sep2", ""),
    both: [text(file, "user"), text(file, "assistant")],
    first_round: file["name"] === "chatglm2" ? 1 : 0,
    stop: stop.join(""),
  };
  const settings = Object.entries(variables)
    .map(([name, value]) => `{%- set ${name} = ${literal(value)} -%}\n`)
    .join("");
  return `${settings}{%- set ns = namespace(system=${literal(text(file, "system_message", ""))}) -%}
{%- for message in messages -%}
    {%- if message.role == 'system' -%}
        {%- set ns.system = message.content or '' -%}
    {%- elif message.role not in ['user', 'assistant'] -%}
        {{- raise_exception('Unknown role: ' ~ message.role) -}}
    {%- endif -%}
{%- endfor -%}
{%- set turns = messages | rejectattr('role', 'equalto', 'system') | list -%}
{%- set system_prompt = system_template.format(system_message=ns.system) -%}
{%- set seps = [sep, sep2] -%}
{{- ${style.start} -}}
{%- for message in turns -%}
    {%- set i = loop.index0 -%}
    {%- set role = both[0 if message.role == 'user' else 1] -%}
    {%- set text = message.content -%}
    {{- (${style.full}) if text else (${style.open}) -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {%- set i = turns | length -%}
    {%- set role = both[1] -%}
    {{- ${style.open} -}}
{%- endif -%}
{{- ${style.end ?? "''"} -}}`;
}

function text(file: Readonly<Record<string, unknown>>, key: string, fallback?: string): string {
  const value = file[key] ?? fallback;
  if (typeof value === "string") return value;
  throw invalidRequest(`The template file needs a text in '${key}'.`, key);
}

function stopStrings(value: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value ?? []].flat();
  return list.map((item) => {
    if (typeof item === "string") return item;
    throw invalidRequest("'stop_str' must be a text or a list of texts.", "stop_str");
  });
}

/** Data as a Jinja literal: JSON's escapes are Jinja's too. */
function literal(value: string | number | readonly string[]): string {
  return JSON.stringify(value);
}
