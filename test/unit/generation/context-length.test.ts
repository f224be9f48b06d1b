import { describe, it } from "vitest";

import { EdgeError } from "../../../src/core/api-error.ts";
import { fitIntoContext } from "../../../src/generation/context-length.ts";

describe("fitting into the context", () => {
  const rows = [
    {
      name: "takes what was asked for",
      prompt: 10,
      max: 20,
      context: 100,
      maxPrompt: null,
      fits: 20,
    },
    {
      name: "takes the rest when nothing was asked for",
      prompt: 10,
      max: undefined,
      context: 100,
      maxPrompt: null,
      fits: 90,
    },
    {
      name: "may fill the context to the last token",
      prompt: 10,
      max: 90,
      context: 100,
      maxPrompt: null,
      fits: 90,
    },
    {
      name: "leaves an unknown context to the engine",
      prompt: 10,
      max: undefined,
      context: null,
      maxPrompt: null,
      fits: undefined,
    },
    {
      name: "passes a wish on when the context is unknown",
      prompt: 10,
      max: 7,
      context: null,
      maxPrompt: null,
      fits: 7,
    },
    {
      name: "respects the worker's largest prompt",
      prompt: 10,
      max: 7,
      context: 100,
      maxPrompt: 11,
      fits: 7,
    },
  ];
  it.for(rows)("$name", ({ prompt, max, context, maxPrompt, fits }, { expect }) => {
    expect(
      fitIntoContext(prompt, max, {
        contextLength: context,
        maxPromptTokens: maxPrompt,
        param: "messages",
      }),
    ).toBe(fits);
  });

  const refused = [
    {
      name: "one token too many",
      prompt: 10,
      max: 91,
      context: 100,
      maxPrompt: null,
      error: { limit: 100, promptTokens: 10, maxTokens: 91 },
    },
    {
      name: "no room for a reply",
      prompt: 100,
      max: undefined,
      context: 100,
      maxPrompt: null,
      error: { limit: 100, promptTokens: 100 },
    },
    {
      name: "a prompt over the worker's limit",
      prompt: 50,
      max: 1,
      context: 100,
      maxPrompt: 50,
      error: { limit: 49, promptTokens: 50 },
    },
  ];
  it.for(refused)("refuses $name", ({ prompt, max, context, maxPrompt, error }, { expect }) => {
    const fit = () =>
      fitIntoContext(prompt, max, {
        contextLength: context,
        maxPromptTokens: maxPrompt,
        param: "messages",
      });
    expect(fit).toThrow(EdgeError);
    try {
      fit();
    } catch (thrown) {
      expect(thrown).toMatchObject({ error: { kind: "context-length-exceeded", ...error } });
    }
  });
});
