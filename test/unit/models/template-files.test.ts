import { describe, it } from "vitest";

import { readTemplates } from "../../../scripts/models/template-files.ts";
import { filesOf } from "./model-files.ts";

const named = (names: Record<string, string>) =>
  Object.entries(names).map(([name, template]) => ({ name, template }));

// Which file wins: as transformers 5.18 reads the same folders (chat_template.json belongs to its processors).
describe("chat templates", () => {
  const rows: {
    name: string;
    files: Record<string, unknown>;
    expected: ReturnType<typeof readTemplates>;
  }[] = [
    { name: "none", files: { "tokenizer_config.json": {} }, expected: null },
    {
      name: "none, said with null",
      files: { "tokenizer_config.json": { chat_template: null } },
      expected: null,
    },
    {
      name: "a text in tokenizer_config.json",
      files: { "tokenizer_config.json": { chat_template: "T" } },
      expected: { templates: { default: "T" }, from: "tokenizer_config.json" },
    },
    {
      name: "named ones in tokenizer_config.json",
      files: { "tokenizer_config.json": { chat_template: named({ default: "T", tool_use: "U" }) } },
      expected: { templates: { default: "T", tool_use: "U" }, from: "tokenizer_config.json" },
    },
    {
      name: "chat_template.jinja wins and hides the named ones",
      files: {
        "chat_template.jinja": "J",
        "tokenizer_config.json": { chat_template: named({ default: "T", tool_use: "U" }) },
        "chat_template.json": { chat_template: "P" },
      },
      expected: { templates: { default: "J" }, from: "chat_template.jinja" },
    },
    {
      name: "tokenizer_config.json before chat_template.json",
      files: {
        "tokenizer_config.json": { chat_template: "T" },
        "chat_template.json": { chat_template: "P" },
      },
      expected: { templates: { default: "T" }, from: "tokenizer_config.json" },
    },
    {
      name: "chat_template.json last",
      files: { "tokenizer_config.json": {}, "chat_template.json": { chat_template: "P" } },
      expected: { templates: { default: "P" }, from: "chat_template.json" },
    },
    {
      name: "further files add names",
      files: {
        "chat_template.jinja": "J",
        "additional_chat_templates/rag.jinja": "R",
        "tool_use.jinja": "U",
      },
      expected: {
        templates: { default: "J", rag: "R", tool_use: "U" },
        from: "chat_template.jinja, additional_chat_templates/rag.jinja, tool_use.jinja",
      },
    },
    {
      name: "a file's template beats one of the same name in JSON",
      files: {
        "tokenizer_config.json": { chat_template: named({ default: "T", tool_use: "U" }) },
        "tool_use.jinja": "file",
      },
      expected: {
        templates: { default: "T", tool_use: "file" },
        from: "tokenizer_config.json, tool_use.jinja",
      },
    },
    {
      name: "the only template is the default",
      files: { "tokenizer_config.json": { chat_template: named({ chat: "C" }) } },
      expected: { templates: { chat: "C", default: "C" }, from: "tokenizer_config.json" },
    },
    {
      name: "texts by name in an object",
      files: { "tokenizer_config.json": { chat_template: { default: "T", rag: "R" } } },
      expected: { templates: { default: "T", rag: "R" }, from: "tokenizer_config.json" },
    },
  ];
  it.for(rows)("$name", ({ files, expected }, { expect }) => {
    expect(readTemplates(filesOf(files))).toEqual(expected);
  });

  const errors: { name: string; files: Record<string, unknown>; message: string }[] = [
    {
      name: "several templates and none the default",
      files: { "tokenizer_config.json": { chat_template: named({ a: "A", b: "B" }) } },
      message: "of the chat templates a, b none is the default",
    },
    {
      name: "a template that is no text",
      files: { "tokenizer_config.json": { chat_template: [{ name: "default", template: 5 }] } },
      message: "something else than named texts",
    },
    {
      name: "a template that is not UTF-8",
      files: { "chat_template.jinja": new Uint8Array([0xff, 0xfe]) },
      message: "chat_template.jinja is not UTF-8",
    },
    {
      name: "a pointer of Git LFS",
      files: {
        "chat_template.jinja": "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
      },
      message: "Git LFS pointer",
    },
    {
      name: "broken JSON",
      files: { "chat_template.json": new TextEncoder().encode("{") },
      message: "chat_template.json is not valid JSON",
    },
  ];
  it.for(errors)("refuses $name", ({ files, message }, { expect }) => {
    expect(() => readTemplates(filesOf(files))).toThrow(message);
  });
});
