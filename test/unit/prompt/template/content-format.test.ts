import { describe, it } from "vitest";

import { readTemplateOrigins } from "../../../../scripts/oracle/template-sources.ts";
import { compileChatTemplate } from "../../../../src/prompt/template/compile-chat-template.ts";

function formatOf(template: string): string {
  const compiled = compileChatTemplate({ templates: { default: template }, specialTokens: {} });
  return compiled.contentFormat({ hasTools: false });
}

/** A loop over `expression` that prints the parts' texts, for each `message`. */
function loop(expression: string, before = ""): string {
  return `{% for message in messages %}${before}{% for part in ${expression} %}{{ part.text }}{% endfor %}{% endfor %}`;
}

describe("small templates", () => {
  const rows: readonly [string, string][] = [
    ["{% for message in messages %}{{ message.content }}{% endfor %}", "string"],
    ["{% for m in messages %}{{ m['content'] | trim }}{% endfor %}", "string"],
    [loop("message.content"), "openai"],
    [loop("message['content']"), "openai"],
    [loop("message.get('content')"), "openai"],
    [loop("message.content | default([], true)"), "openai"],
    [loop("(message.content if message.content is not string else [])"), "openai"],
    [loop("message.content[0:]"), "openai"],
    [loop("body", "{% set body = message.content %}"), "openai"],
    [loop("b2", "{% set b1 = message.content %}{% set b2 = b1 %}"), "openai"],
    [
      loop("ns.body", "{% set ns = namespace(body=none) %}{% set ns.body = message.content %}"),
      "openai",
    ],
    [
      "{% for message in messages %}{% with c = message.content %}{% for p in c %}{{ p.text }}{% endfor %}{% endwith %}{% endfor %}",
      "openai",
    ],
    [
      "{% macro show(c) %}{% for p in c %}{{ p.text }}{% endfor %}{% endmacro %}{% for m in messages %}{{ show(m.content) }}{% endfor %}",
      "openai",
    ],
    [
      "{% macro show(a, c=1) %}{% for p in c %}{{ p.text }}{% endfor %}{% endmacro %}{% for m in messages %}{{ show(1, c=m.content) }}{% endfor %}",
      "openai",
    ],
    [
      "{% macro inner(x) %}{% for p in x %}{{ p.text }}{% endfor %}{% endmacro %}{% macro outer(y) %}{{ inner(y) }}{% endmacro %}{{ outer(messages[0].content) }}",
      "openai",
    ],
    [
      "{% for m in messages[1:] + messages %}{% for p in m.content %}{{ p['text'] }}{% endfor %}{% endfor %}",
      "openai",
    ],
    ["{% set all = messages %}{% for m in all %}{{ m.content[0]['text'] }}{% endfor %}", "openai"],
    [
      "{% for m in messages %}{{ m.content | map(attribute='text') | join('') }}{% endfor %}",
      "openai",
    ],
    [
      "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}{{ m.content | selectattr('type', 'equalto', 'text') | map(attribute='text') | join }}{% endif %}{% endfor %}",
      "openai",
    ],
    // Asks for the type only to drop or to print what is not a text.
    [
      "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% endif %}{% endfor %}",
      "string",
    ],
    [
      "{% for m in messages %}{{ m.content if m.content is string else m.content | tojson }}{% endfor %}",
      "string",
    ],
    [
      "{% for m in messages %}{% if m.content is iterable %}{{ m.content }}{% endif %}{% endfor %}",
      "string",
    ],
    // Loops over something else.
    [
      "{% for m in messages %}{% for t in m.tool_calls %}{{ t }}{% endfor %}{{ m.content.split('x')[0] }}{% endfor %}",
      "string",
    ],
    [
      "{% set calls = messages[0].content %}{{ 'a' + messages[0].content }}{% for c in calls %}{{ c }}{% endfor %}",
      "string",
    ],
    // A regular expression would see a loop here.
    [
      "{# for p in message.content #}{{ 'for p in message.content' }}{{ messages[0].content }}",
      "string",
    ],
    // Wants another conversation than the probe: the tree decides.
    [`{{ raise_exception('no') if messages | length < 2 }}${loop("message.content")}`, "openai"],
  ];
  it.for(rows)("%s", ([template, format], { expect }) => {
    expect(formatOf(template)).toBe(format);
  });
});

describe("real templates", () => {
  const rows: readonly [string, string][] = [
    ["qwen3", "string"],
    ["qwen2_5", "string"],
    ["llama3.1:8b", "string"],
    ["deepseek_v3", "string"],
    ["mistral_nemo", "string"],
    ["command-a:111b", "string"],
    ["gemma3", "openai"],
    ["llama4:latest", "openai"],
    ["llama3.2-vision:latest", "openai"],
    ["qwen2.5vl:latest", "openai"],
    ["granite4:latest", "openai"],
    ["cogito:14b", "openai"],
  ];
  const origins = readTemplateOrigins();
  it.for(rows)("%s", ([name, format], { expect }) => {
    const origin = origins.find((each) => each.name === name);
    expect(origin && compileChatTemplate(origin).contentFormat({ hasTools: true })).toBe(format);
  });
});

it("is told for the template that tools choose", ({ expect }) => {
  const template = compileChatTemplate({
    templates: { default: "{{ messages[0].content }}", tool_use: loop("message.content") },
    specialTokens: {},
  });
  expect(template.contentFormat({ hasTools: false })).toBe("string");
  expect(template.contentFormat({ hasTools: true })).toBe("openai");
});
