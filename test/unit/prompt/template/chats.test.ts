import { createHash } from "node:crypto";

import { describe, it } from "vitest";

import { readTemplateOrigins } from "../../../../scripts/oracle/template-sources.ts";
import { EdgeError } from "../../../../src/core/api-error.ts";
import type { ChatTemplate } from "../../../../src/prompt/template/chat-template.ts";
import { compileChatTemplate } from "../../../../src/prompt/template/compile-chat-template.ts";
import { readChats, readRenderedTemplates } from "./fixtures.ts";
import type { ChatCase, RenderedCase } from "./fixtures.ts";

const { now, cases } = readChats();
const origins = readTemplateOrigins();
const templates = readRenderedTemplates();

function render(template: ChatTemplate, chat: ChatCase): string {
  const continueFinalMessage = chat.continueFinalMessage ?? false;
  return template.render({
    messages: chat.messages,
    ...(chat.tools === undefined ? {} : { tools: chat.tools }),
    addGenerationPrompt: chat.addGenerationPrompt ?? !continueFinalMessage,
    continueFinalMessage,
    kwargs: chat.kwargs ?? {},
    now,
  });
}

/** The outcome in the form of the row that it must equal. */
function outcome(template: ChatTemplate, chat: ChatCase, row: RenderedCase): RenderedCase {
  try {
    const text = render(template, chat);
    return row.text === undefined
      ? { case: row.case, sha256: createHash("sha256").update(text).digest("hex").slice(0, 16) }
      : { case: row.case, text };
  } catch (error) {
    if (!(error instanceof EdgeError) || error.error.kind !== "invalid-request") throw error;
    return { case: row.case, error: "invalid-request", message: error.error.detail };
  }
}

/** A template's own error is passed on as it is; Python's errors come after words of ours; the rest is worded by us. */
function expected(row: RenderedCase): RenderedCase {
  if (row.error === undefined) return row;
  const detail =
    row.error === "TemplateError"
      ? row.message
      : `The model's chat template cannot render this request: ${row.message ?? ""}`;
  return {
    case: row.case,
    error: "invalid-request",
    ...(row.error === "ValueError" || detail === undefined ? {} : { message: detail }),
  };
}

it("has the templates that the fixtures were made from", ({ expect }) => {
  expect(templates.map(({ path, sha256 }) => ({ path, sha256 }))).toEqual(
    origins.map(({ path, sha256 }) => ({ path, sha256 })),
  );
  expect(templates.length).toBeGreaterThan(90);
});

describe("every case gives what Hugging Face gives", () => {
  it.for(templates)("$name $sha256", ({ path, sha256, rows }, { expect }) => {
    const origin = origins.find((each) => each.path === path && each.sha256 === sha256);
    if (origin === undefined) throw new Error(`${path} is not installed`);
    const template = compileChatTemplate(origin);
    const outcomes = rows.map((row) => {
      const chat = cases.get(row.case);
      if (chat === undefined) throw new Error(`no case ${row.case}`);
      return outcome(template, chat, row);
    });
    expect(rows.length).toBe(cases.size);
    expect(outcomes).toMatchObject(rows.map(expected));
  });
});
