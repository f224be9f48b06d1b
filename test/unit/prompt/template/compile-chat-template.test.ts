import fc from "fast-check";
import { describe, it } from "vitest";

import { readTemplateOrigins } from "../../../../scripts/oracle/template-sources.ts";
import { EdgeError } from "../../../../src/core/api-error.ts";
import type {
  ChatTemplateSource,
  TemplateInput,
} from "../../../../src/prompt/template/chat-template.ts";
import { compileChatTemplate } from "../../../../src/prompt/template/compile-chat-template.ts";
import { MAX_RENDERED_CHARS } from "../../../../src/prompt/template/jinja/limits.ts";

const PLAIN: TemplateInput = {
  messages: [{ role: "user", content: "a" }],
  addGenerationPrompt: true,
  continueFinalMessage: false,
  kwargs: {},
  now: new Date("2025-03-07T09:05:03Z"),
};

function compile(
  template: string,
  more: Partial<ChatTemplateSource> = {},
): (input?: Partial<TemplateInput>) => string {
  const compiled = compileChatTemplate({
    templates: { default: template },
    specialTokens: {},
    ...more,
  });
  return (input = {}) => compiled.render({ ...PLAIN, ...input });
}

function detailOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof EdgeError && error.error.kind === "invalid-request")
      return error.error.detail;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("variables", () => {
  const SPECIAL = { specialTokens: { bos_token: "<s>", image_token: "<img>" } };
  const rows: readonly [string, Partial<TemplateInput>, string][] = [
    ["{{ bos_token }}{{ image_token }}", {}, "<s><img>"],
    ["{{ tools is none }}{{ documents is none }}{{ tools is defined }}", {}, "TrueTrueTrue"],
    ["{{ tools | length }}", { tools: [{ type: "function" }] }, "1"],
    ["{{ add_generation_prompt }}", { addGenerationPrompt: false }, "False"],
    ["{{ bos_token }}", { kwargs: { bos_token: "!" } }, "!"],
    ["{{ add_generation_prompt }}", { kwargs: { add_generation_prompt: "mine" } }, "mine"],
    ["{{ messages }}", { kwargs: { messages: 7 } }, "7"],
    ["{{ range }}", { kwargs: { range: 1 } }, "1"],
    ["{{ __proto__ }}|{{ constructor }}|{{ toString }}", {}, "||"],
    ["{{ messages[0].constructor }}|{{ messages[0].__proto__ }}|{{ 'a'.constructor }}", {}, "||"],
    ["{{ x.__proto__ }}", { kwargs: JSON.parse('{"x": {"__proto__": "own"}}') }, "own"],
    ["{{ strftime_now('%d %b %Y') }}", {}, "07 Mar 2025"],
  ];
  it.for(rows)("%s", ([template, input, text], { expect }) => {
    expect(compile(template, SPECIAL)(input)).toBe(text);
  });
});

describe("named templates", () => {
  const named = { default: "d", tool_use: "t", rag: "r" };
  const tools = [{ type: "function" }];
  const rows: readonly [Record<string, string>, Partial<TemplateInput>, string][] = [
    [named, {}, "d"],
    [named, { tools }, "t"],
    [{ default: "d" }, { tools }, "d"],
    [{ rag: "r" }, {}, "r"],
  ];
  it.for(rows)("%j %j", ([templates, input, text], { expect }) => {
    expect(
      compileChatTemplate({ templates, specialTokens: {} }).render({ ...PLAIN, ...input }),
    ).toBe(text);
  });

  it("needs a default", ({ expect }) => {
    const template = compileChatTemplate({ templates: { a: "", b: "" }, specialTokens: {} });
    expect(detailOf(() => template.render(PLAIN))).toContain("no default");
  });
});

describe("the role developer", () => {
  const messages = [{ role: "developer", content: "x" }];
  const rows: readonly [string, string][] = [
    ["{{ messages[0].role }}", "system"],
    ["{{ messages[0].role }}{% if messages[0].role == 'developer' %}!{% endif %}", "developer!"],
    ["developer {{ messages[0].role }}", "developer system"],
  ];
  it.for(rows)("%s", ([template, text], { expect }) => {
    expect(compile(template)({ messages })).toBe(text);
  });
});

describe("what fails is the request's fault", () => {
  const PREFIX = "The model's chat template cannot render this request";
  const rows: readonly [string, string][] = [
    ["{{ raise_exception('No <b> & \\'é\\'') }}", "No <b> & 'é'"],
    ["{{ missing.x }}", `${PREFIX}: 'missing' is undefined`],
    ["{{ messages[0].nothing.x }}", `${PREFIX}: 'dict object' has no attribute 'nothing'`],
    ["{{ 1 + 'a' }}", `${PREFIX}: unsupported operand type(s) for +: 'int' and 'str'`],
    [
      "{{ messages.append(1) }}",
      `${PREFIX}: access to attribute 'append' of 'list' object is unsafe.`,
    ],
    ["{{ 'x' | nosuchfilter }}", `${PREFIX}: No filter named 'nosuchfilter'.`],
    ["{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", `${PREFIX}.`],
    ["{{ raise_exception('x' * 5000) }}", `${"x".repeat(2000)}…`],
  ];
  it.for(rows)("%s", ([template, detail], { expect }) => {
    expect(detailOf(() => compile(template)())).toBe(detail);
  });

  it("a source that is not a template", ({ expect }) => {
    expect(detailOf(() => compile("a\n{% if %}"))).toBe(
      "The model's chat template 'default' is not valid: expected an expression, got block-end (line 2)",
    );
  });
});

describe("bounds", () => {
  const rows: readonly [string, string][] = [
    [`{{ 'x' * ${String(MAX_RENDERED_CHARS + 1)} }}`, "too long"],
    [
      "{% set ns = namespace(x='xx') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
      "too long",
    ],
    ["{% set x = 'x' * 1000000 %}{% for i in range(99) %}{{ x }}{% endfor %}", "too long"],
    ["{{ 'xx' | replace('x', 'y' * 9000000) }}", "too long"],
    ["{{ ([1] * 600000) + ([1] * 600000) }}", "too long"],
    [
      "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
      "too many steps",
    ],
    ["{{ range(100001) | list }}", "Range too big"],
    ["{{ 9 ** 999999999 }}", "too large"],
    ["{{ '%999999999d' % 1 }}{{ 'x'.ljust(999999999) }}", "too long"],
  ];
  it.for(rows)("%s", ([template, part], { expect }) => {
    expect(detailOf(() => compile(template)())).toContain(part);
  });

  it("allows what stays inside", ({ expect }) => {
    expect(compile(`{{ 'x' * ${String(MAX_RENDERED_CHARS)} }}`)()).toHaveLength(MAX_RENDERED_CHARS);
  });
});

const jsonText = fc.json({ maxDepth: 3 }).map((text): unknown => JSON.parse(text));
const content = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constant(null),
  fc.array(fc.record({ type: fc.constant("text"), text: fc.string() }), { maxLength: 3 }),
);
const message = fc.record({
  role: fc.constantFrom("system", "user", "assistant", "tool", "developer", "other"),
  content,
  tool_calls: fc.option(fc.array(jsonText, { maxLength: 2 }), { nil: undefined }),
  name: jsonText,
  reasoning_content: fc.option(fc.string(), { nil: undefined }),
});

describe("real templates", () => {
  const compiled = readTemplateOrigins().map((origin) => ({
    name: origin.name,
    template: compileChatTemplate(origin),
  }));

  it("render or throw an EdgeError, whatever they are given", ({ expect }) => {
    fc.assert(
      fc.property(
        fc.record({
          messages: fc.array(message, { maxLength: 4 }),
          tools: fc.option(fc.array(jsonText, { maxLength: 2 }), { nil: undefined }),
          kwargs: fc.dictionary(
            fc.constantFrom("enable_thinking", "bos_token", "tools", "x"),
            jsonText,
          ),
          continueFinalMessage: fc.boolean(),
          index: fc.nat(compiled.length - 1),
        }),
        ({ messages, tools, kwargs, continueFinalMessage, index }) => {
          try {
            const text = compiled[index]?.template.render({
              messages,
              ...(tools === undefined ? {} : { tools }),
              addGenerationPrompt: !continueFinalMessage,
              continueFinalMessage,
              kwargs,
              now: PLAIN.now,
            });
            expect(text).toBeTypeOf("string");
          } catch (error) {
            expect(error).toBeInstanceOf(EdgeError);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it("take time linear in the messages", ({ expect }) => {
    const template = compiled.find(({ name }) => name === "qwen3")?.template;
    const timeOf = (count: number): number => {
      const messages = Array.from({ length: count }, (_, index) => ({
        role: index % 2 === 0 ? "user" : "assistant",
        content: `text ${String(index)}`,
      }));
      const start = performance.now();
      template?.render({ ...PLAIN, messages });
      return performance.now() - start;
    };
    timeOf(2000);
    const times = [0, 1, 2].map(() => timeOf(16_000) / timeOf(2000));
    // Eight times the messages; quadratic work would take 64 times as long.
    expect(Math.min(...times)).toBeLessThan(32);
  });
});

describe("arbitrary templates", () => {
  const piece = fc.constantFrom(
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "-",
    "+",
    " ",
    "\n",
    "if",
    "for",
    "in",
    "endif",
    "endfor",
    "set",
    "x",
    "messages",
    "=",
    "|",
    "is",
    "not",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ".",
    ",",
    ":",
    "'",
    '"',
    "1",
    "2.5",
    "~",
    "*",
    "**",
    "//",
    "%",
    "tojson",
    "length",
    "else",
    "macro m()",
    "endmacro",
    "raw",
    "endraw",
    "true",
    "none",
    "\\",
    "é",
  );
  it("are read or refused with an EdgeError, in time", ({ expect }) => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        try {
          expect(compile(pieces.join(""))()).toBeTypeOf("string");
        } catch (error) {
          expect(error).toBeInstanceOf(EdgeError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
