import { describe, it } from "vitest";

import {
  TAGGED_FORMATS,
  buildToolTags,
} from "../../../../src/parsers/constraint/structural-tags.ts";
import { createHarmonyParser } from "../../../../src/parsers/harmony/harmony-parser.ts";
import type { OutputParser } from "../../../../src/parsers/output-parser.ts";
import { findToolFormat } from "../../../../src/parsers/tool/registry.ts";
import { foldEvents, runParser } from "../../../support/output-parser-suite.ts";

type Node = Readonly<Record<string, unknown>>;

const WEATHER = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
};
const TOOLS = [
  { name: "get_weather", schema: WEATHER },
  { name: "get_weather_2", schema: { type: "object", properties: {} } },
];
/** What the model writes for each tool. */
const ARGUMENTS: Readonly<Record<string, object>> = {
  get_weather: { city: "Paris", days: 3 },
  get_weather_2: {},
};

function build(format: string, onlyOne = false): Node {
  const built = buildToolTags(format, TOOLS, { atLeastOne: true, onlyOne });
  if (built === undefined) throw new Error(`${format} has no tags`);
  return built;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nodes(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

/** A text that a format lets the engine write: every choice once, everything optional left out. */
function write(node: Node): string {
  switch (node["type"]) {
    case "tag":
      return `${String(node["begin"])}${write(nodes([node["content"]])[0] ?? {})}${String(node["end"])}`;
    case "triggered_tags":
      return nodes(node["tags"]).map(write).join("");
    case "tags_with_separator":
      return nodes(node["tags"]).map(write).join(String(node["separator"]));
    case "sequence":
      return nodes(node["elements"]).map(write).join("");
    case "optional":
      return "";
    case "const_string":
      return String(node["value"]);
    case "regex":
      return "7";
    case "json_schema":
      return writeArguments(node);
    default:
      throw new Error(`${String(node["type"])} is not known here`);
  }
}

function writeArguments({ json_schema: schema, style }: Node): string {
  const tool = TOOLS.find((each) => each.schema === schema);
  const args = ARGUMENTS[tool?.name ?? ""] ?? {};
  const members = Object.entries(args);
  switch (style) {
    case undefined:
      return JSON.stringify(args);
    case "qwen_xml":
      return members.map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>`).join("\n");
    case "glm_xml":
      return members
        .map(([key, value]) => `<arg_key>${key}</arg_key><arg_value>${value}</arg_value>`)
        .join("");
    case "deepseek_xml":
      return members
        .map(
          ([key, value]) =>
            `<｜DSML｜parameter name="${key}" string="${typeof value === "string"}">${value}</｜DSML｜parameter>\n`,
        )
        .join("");
    default:
      throw new Error(`${String(style)} is not known here`);
  }
}

function createParser(format: string): OutputParser {
  if (format === "gpt-oss") return createHarmonyParser({ tools: TOOLS });
  const found = findToolFormat(format);
  if (found === undefined) throw new Error(`no parser ${format}`);
  const tools = TOOLS.map(({ name, schema }) => ({ name, parameters: schema }));
  return found.create({ tools, earlierCalls: 0 });
}

/** Every node of a format. */
function walk(node: Node): readonly Node[] {
  return [
    node,
    ...Object.entries(node)
      .filter(([key]) => key !== "json_schema")
      .flatMap(([, value]) => (isNode(value) ? walk(value) : nodes(value).flatMap(walk))),
  ];
}

describe.for(TAGGED_FORMATS)("%s", (format) => {
  it("has tags that the format's own parser reads as the calls", ({ expect }) => {
    const { calls, content } = foldEvents(runParser(createParser(format), [write(build(format))]));
    const read = calls.map((call) => ({
      name: call.name,
      arguments: JSON.parse(call.arguments),
      isComplete: call.isComplete,
    }));
    // Some formats let a call begin in more than one way: then each is written.
    const ways = read.length / TOOLS.length;
    const expected = TOOLS.flatMap(({ name }) =>
      Array.from({ length: ways }, () => ({
        name,
        arguments: ARGUMENTS[name],
        isComplete: true,
      })),
    );
    expect(ways).toBeGreaterThanOrEqual(1);
    expect(read).toEqual(expected);
    expect(content.trim()).toBe("");
  });

  it("has triggers that tell its tags apart", ({ expect }) => {
    const built = buildToolTags(format, TOOLS, { atLeastOne: false, onlyOne: false }) ?? {};
    const groups = walk(built).filter(({ type }) => type === "triggered_tags");
    expect(groups).toHaveLength(1);
    for (const { triggers, tags } of groups) {
      const all = Array.isArray(triggers) ? triggers : [];
      expect(new Set(all).size).toBe(all.length);
      for (const { begin } of nodes(tags)) {
        expect(all.filter((trigger) => String(begin).startsWith(String(trigger)))).toHaveLength(1);
      }
    }
  });

  it("tells the engine what must come, and when to stop", ({ expect }) => {
    const flags = (atLeastOne: boolean, onlyOne: boolean): unknown =>
      walk(buildToolTags(format, TOOLS, { atLeastOne, onlyOne }) ?? {})
        .filter((node) => "at_least_one" in node)
        .map((node) => [node["at_least_one"], node["stop_after_first"]]);
    expect(flags(true, true)).toEqual(expect.arrayContaining([[true, true]]));
    expect(flags(true, true)).not.toContainEqual([true, false]);
    expect(flags(true, false)).toContainEqual([true, false]);
    expect(flags(false, false)).toContainEqual([false, false]);
  });

  it("holds the schema of each tool", ({ expect }) => {
    const schemas = walk(build(format))
      .filter(({ type }) => type === "json_schema")
      .map((node) => node["json_schema"]);
    expect(new Set(schemas)).toEqual(new Set(TOOLS.map(({ schema }) => schema)));
  });
});

describe("tags", () => {
  it.for(["glm", "glm45", "pythonic", "mimo", "minimax-m2", "kimi_k3", "none", undefined])(
    "are not there for %s",
    (format, { expect }) => {
      const options = { atLeastOne: true, onlyOne: false };
      expect(buildToolTags(format, TOOLS, options)).toBeUndefined();
    },
  );

  it("escape a name where it stands in JSON", ({ expect }) => {
    const tools = [{ name: 'a"b', schema: true }];
    const built = buildToolTags("hermes", tools, { atLeastOne: true, onlyOne: true });
    expect(JSON.stringify(built)).toContain(
      JSON.stringify('<tool_call>{"name": "a\\"b", "arguments": ').slice(1, -1),
    );
  });

  it("of Qwen are those that xgrammar documents", ({ expect }) => {
    const [tool] = TOOLS;
    if (tool === undefined) throw new Error("no tool");
    expect(buildToolTags("qwen25", [tool], { atLeastOne: true, onlyOne: true })).toEqual({
      type: "triggered_tags",
      triggers: ["<tool_call>"],
      tags: [
        {
          type: "tag",
          begin: '<tool_call>\n{"name": "get_weather", "arguments": ',
          content: { type: "json_schema", json_schema: WEATHER },
          end: "}\n</tool_call>",
        },
      ],
      at_least_one: true,
      stop_after_first: true,
    });
  });

  it("of gpt-oss let thoughts come before a call that must come", ({ expect }) => {
    const built = build("gpt-oss");
    const [start, thought] = nodes(built["elements"]);
    expect(start).toEqual({
      type: "optional",
      content: { type: "const_string", value: "<|start|>assistant" },
    });
    expect(walk(thought ?? {}).find(({ type }) => type === "tag")).toMatchObject({
      begin: "<|channel|>analysis<|message|>",
      end: "<|end|>",
    });
  });
});
