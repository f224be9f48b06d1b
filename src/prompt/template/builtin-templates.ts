/** Templates that an operator can name instead of bringing a file; the names and layouts are SGLang's where it has them. */
export interface BuiltinTemplate {
  readonly template: string;
  /** Strings that end a reply, beside the model's own end tokens. */
  readonly stop: readonly string[];
}

/** Sets `system` to the text of the leading system message and `turns` to what follows. */
const SPLIT_SYSTEM = `{%- if messages and messages[0].role == 'system' -%}
    {%- set system = messages[0].content -%}
    {%- set turns = messages[1:] -%}
{%- else -%}
    {%- set system = '' -%}
    {%- set turns = messages -%}
{%- endif -%}
`;

const CHATML = `{%- if not messages or messages[0].role != 'system' -%}
    {{- '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' -}}
{%- endif -%}
{%- for message in messages -%}
    {{- '<|im_start|>' ~ message.role ~ '\\n' ~ (message.content or '') ~ '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|im_start|>assistant\\n' -}}
{%- endif -%}`;

/** A header and an end token around each turn, as the Llama 3 and 4 families have it. */
function headerTemplate(start: string, end: string, turn: string): string {
  return `{{- bos_token -}}
{%- for message in messages -%}
    {{- '${start}' ~ message.role ~ '${end}\\n\\n' ~ (message.content or '') | trim ~ '${turn}' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '${start}assistant${end}\\n\\n' -}}
{%- endif -%}`;
}

const LLAMA_2 = `${SPLIT_SYSTEM}{%- for message in turns -%}
    {%- if message.role == 'user' -%}
        {{- bos_token ~ '[INST] ' -}}
        {%- if loop.first and system -%}
            {{- '<<SYS>>\\n' ~ system ~ '\\n<</SYS>>\\n\\n' -}}
        {%- endif -%}
        {{- (message.content or '') | trim ~ ' [/INST]' -}}
    {%- elif message.role == 'assistant' -%}
        {{- ' ' ~ (message.content or '') | trim ~ ' ' ~ eos_token -}}
    {%- else -%}
        {{- raise_exception('Unknown role: ' ~ message.role) -}}
    {%- endif -%}
{%- endfor -%}`;

const MISTRAL = `${SPLIT_SYSTEM}{{- bos_token -}}
{%- if system -%}
    {{- '[SYSTEM_PROMPT]' ~ system ~ '[/SYSTEM_PROMPT]' -}}
{%- endif -%}
{%- if tools -%}
    {{- '[AVAILABLE_TOOLS]' ~ tools | tojson ~ '[/AVAILABLE_TOOLS]' -}}
{%- endif -%}
{%- for message in turns -%}
    {%- if message.role == 'user' -%}
        {{- '[INST]' ~ (message.content or '') ~ '[/INST]' -}}
    {%- elif message.role == 'assistant' -%}
        {{- message.content or '' -}}
        {%- if message.tool_calls -%}
            {{- '[TOOL_CALLS][' -}}
            {%- for call in message.tool_calls -%}
                {{- {'name': call.function.name, 'arguments': call.function.arguments, 'id': call.id} | tojson -}}
                {{- '' if loop.last else ', ' -}}
            {%- endfor -%}
            {{- ']' -}}
        {%- endif -%}
        {{- eos_token -}}
    {%- elif message.role == 'tool' -%}
        {{- '[TOOL_RESULTS]' ~ {'content': message.content, 'call_id': message.tool_call_id} | tojson -}}
        {{- '[/TOOL_RESULTS]' -}}
    {%- else -%}
        {{- raise_exception('Unknown role: ' ~ message.role) -}}
    {%- endif -%}
{%- endfor -%}`;

const GEMMA = `${SPLIT_SYSTEM}{{- bos_token -}}
{%- for message in turns -%}
    {%- if message.role not in ['user', 'assistant'] -%}
        {{- raise_exception('Unknown role: ' ~ message.role) -}}
    {%- endif -%}
    {{- '<start_of_turn>' ~ ('model' if message.role == 'assistant' else 'user') ~ '\\n' -}}
    {{- system ~ '\\n\\n' if loop.first and system else '' -}}
    {{- (message.content or '') | trim ~ '<end_of_turn>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<start_of_turn>model\\n' -}}
{%- endif -%}`;

const DEEPSEEK = `${SPLIT_SYSTEM}{{- bos_token ~ system -}}
{%- for message in turns -%}
    {%- if message.role == 'user' -%}
        {{- '<｜User｜>' ~ (message.content or '') -}}
    {%- elif message.role == 'assistant' -%}
        {{- '<｜Assistant｜>' ~ (message.content or '') ~ eos_token -}}
    {%- else -%}
        {{- raise_exception('Unknown role: ' ~ message.role) -}}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<｜Assistant｜>' -}}
{%- endif -%}`;

const VICUNA = `${SPLIT_SYSTEM}{{- system or "A chat between a curious user and an artificial intelligence assistant. The assistant gives helpful, detailed, and polite answers to the user's questions." -}}
{%- for message in turns -%}
    {%- if message.role == 'user' -%}
        {{- ' USER: ' ~ (message.content or '') -}}
    {%- elif message.role == 'assistant' -%}
        {{- ' ASSISTANT: ' ~ (message.content or '') ~ '</s>' -}}
    {%- else -%}
        {{- raise_exception('Unknown role: ' ~ message.role) -}}
    {%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- ' ASSISTANT:' -}}
{%- endif -%}`;

const PHI = `{%- for message in messages -%}
    {{- '<|' ~ message.role ~ '|>\\n' ~ (message.content or '') ~ '<|end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|assistant|>\\n' -}}
{%- endif -%}`;

const chatml: BuiltinTemplate = { template: CHATML, stop: ["<|endoftext|>", "<|im_end|>"] };
const llama3: BuiltinTemplate = {
  template: headerTemplate("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
  stop: ["<|end_of_text|>", "<|eot_id|>"],
};
const llama4: BuiltinTemplate = {
  template: headerTemplate("<|header_start|>", "<|header_end|>", "<|eot|>"),
  stop: ["<|end_of_text|>", "<|eot|>", "<|eom|>"],
};
const gemma: BuiltinTemplate = { template: GEMMA, stop: ["<end_of_turn>"] };
const vicuna: BuiltinTemplate = { template: VICUNA, stop: [] };
const deepseek: BuiltinTemplate = { template: DEEPSEEK, stop: ["<｜end▁of▁sentence｜>"] };

/** By name; several names may stand for one template. */
export const BUILTIN_TEMPLATES: ReadonlyMap<string, BuiltinTemplate> = new Map([
  ["chatml", chatml],
  ["chatml-llava", chatml],
  ["llama-2", { template: LLAMA_2, stop: ["[INST]", "[/INST]", "<<SYS>>", "<</SYS>>"] }],
  ["llama-3", llama3],
  ["llama_3_vision", llama3],
  ["llava_llama_3", llama3],
  ["llama-4", llama4],
  ["mistral", { template: MISTRAL, stop: ["[INST]", "[/INST]"] }],
  ["gemma", gemma],
  ["gemma-it", gemma],
  ["deepseek", deepseek],
  ["deepseek-v3", deepseek],
  ["vicuna", vicuna],
  ["vicuna_v1.1", vicuna],
  ["phi-3", { template: PHI, stop: ["<|end|>"] }],
]);
