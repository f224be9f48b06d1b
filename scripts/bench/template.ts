import { createHash } from "node:crypto";
import { mock } from "node:test";

import { Template } from "@huggingface/jinja";

import type { ChatTemplate } from "../../src/prompt/template/chat-template.ts";
import { compileChatTemplate } from "../../src/prompt/template/compile-chat-template.ts";
import {
  readChats,
  readRenderedTemplates,
  type ChatCase,
  type RenderedCase,
} from "../../test/unit/prompt/template/fixtures.ts";
import { readTemplateOrigins, type TemplateOrigin } from "../oracle/template-sources.ts";
import { formatTable } from "./table.ts";

/**
 * Our chat templates beside @huggingface/jinja's, on the fixtures that Hugging Face's own Python made: rows that come out
 * right, and time for all of them. The library gets the special tokens, and its clock shows the time of the fixtures. Cases of continue_final_message are left out: the library has no notion of it.
 */
const { now, cases } = readChats();
const origins = readTemplateOrigins();
mock.timers.enable({ apis: ["Date"], now });

interface Engine {
  readonly name: string;
  compile(origin: TemplateOrigin): (chat: ChatCase) => string;
}

const ours: Engine = {
  name: "sgl-edge",
  compile(origin) {
    const template: ChatTemplate = compileChatTemplate(origin);
    return (chat) =>
      template.render({
        messages: chat.messages,
        ...(chat.tools === undefined ? {} : { tools: chat.tools }),
        addGenerationPrompt: chat.addGenerationPrompt ?? true,
        continueFinalMessage: false,
        kwargs: chat.kwargs ?? {},
        now,
      });
  },
};

const library: Engine = {
  name: "@huggingface/jinja",
  compile(origin) {
    const named = new Map(
      Object.entries(origin.templates).map(([name, text]) => [name, new Template(text)]),
    );
    return (chat) => {
      const name = chat.tools !== undefined && named.has("tool_use") ? "tool_use" : "default";
      const template = named.get(name);
      if (template === undefined) throw new Error("no template");
      return template.render({
        messages: chat.messages.map((message) => ({ ...message })),
        tools: chat.tools ?? null,
        add_generation_prompt: chat.addGenerationPrompt ?? true,
        ...origin.specialTokens,
        ...chat.kwargs,
      });
    };
  },
};

function isRight(render: (chat: ChatCase) => string, chat: ChatCase, row: RenderedCase): boolean {
  let text: string;
  try {
    text = render(chat);
  } catch {
    return row.error !== undefined;
  }
  if (row.text !== undefined) return row.text === text;
  return row.sha256 === createHash("sha256").update(text).digest("hex").slice(0, 16);
}

const rows = [ours, library].map((engine) => {
  let right = 0;
  let all = 0;
  const startedAt = performance.now();
  for (const rendered of readRenderedTemplates()) {
    const origin = origins.find(
      ({ path, sha256 }) => path === rendered.path && sha256 === rendered.sha256,
    );
    if (origin === undefined) throw new Error(`${rendered.path} is not installed`);
    const render = engine.compile(origin);
    for (const row of rendered.rows) {
      const chat = cases.get(row.case);
      if (chat === undefined || chat.continueFinalMessage === true) continue;
      all += 1;
      if (isRight(render, chat, row)) right += 1;
    }
  }
  return [
    engine.name,
    String(right),
    String(all - right),
    `${(performance.now() - startedAt).toFixed(0)} ms`,
  ];
});
console.log(formatTable(["engine", "right", "wrong", "time for all"], rows));
