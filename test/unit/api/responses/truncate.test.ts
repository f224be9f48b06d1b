import { describe, it } from "vitest";

import { responseRequest } from "../../../../src/api/responses/schema.ts";
import { toChatRequest } from "../../../../src/api/responses/to-chat-request.ts";
import { truncate } from "../../../../src/api/responses/truncate.ts";
import { parseWire } from "../../../../src/api/shared/schema.ts";
import type { PromptRequest } from "../../../../src/generation/make-prompt.ts";

/** A model whose prompts have a token for each character of their messages. */
function createService(contextLength: number | null) {
  let calls = 0;
  return {
    tokenizeChat: ({ messages }: PromptRequest) => {
      calls += 1;
      const length = messages.reduce(
        (sum, { content }) => sum + (typeof content === "string" ? content.length : 0),
        0,
      );
      return Promise.resolve({ tokenIds: new Uint32Array(length), contextLength });
    },
    calls: () => calls,
  };
}

const user = (content: string) => ({ role: "user", content });
const says = (content: string) => ({ role: "assistant", content });
const call = (id: string) => ({ type: "function_call", call_id: id, name: "f", arguments: "{}" });
const output = (id: string, text: string) => ({
  type: "function_call_output",
  call_id: id,
  output: text,
});
const decode = (body: object) => toChatRequest(parseWire(responseRequest, { model: "m", ...body }));

const chat = [user("aaaa"), says("bbbb"), user("cccc"), says("dddd"), user("eeee")];
const agent = [
  user("aaaa"),
  says("bbbb"),
  user("cccc"),
  call("1"),
  output("1", "dddd"),
  call("2"),
  output("2", "eeee"),
  call("3"),
  output("3", "ffff"),
];

const rows: readonly {
  readonly name: string;
  readonly body: object;
  readonly contextLength: number | null;
  readonly contents: readonly (string | null)[];
}[] = [
  {
    name: "changes nothing that fits",
    body: { input: chat },
    contextLength: 21,
    contents: ["aaaa", "bbbb", "cccc", "dddd", "eeee"],
  },
  {
    name: "changes nothing when nobody knows the limit",
    body: { input: chat },
    contextLength: null,
    contents: ["aaaa", "bbbb", "cccc", "dddd", "eeee"],
  },
  {
    name: "drops the oldest turn, answer included",
    body: { input: chat },
    contextLength: 20,
    contents: ["cccc", "dddd", "eeee"],
  },
  {
    name: "leaves room for the output",
    body: { input: chat, max_output_tokens: 8 },
    contextLength: 19,
    contents: ["eeee"],
  },
  {
    name: "keeps the instructions",
    body: { instructions: "iiii", input: chat },
    contextLength: 20,
    contents: ["iiii", "cccc", "dddd", "eeee"],
  },
  {
    name: "keeps the last user's message, whatever its length",
    body: { input: chat },
    contextLength: 2,
    contents: ["eeee"],
  },
  {
    name: "drops what the assistant says before any user",
    body: { input: [says("aaaa"), user("bbbb"), says("cccc"), user("dddd")] },
    contextLength: 13,
    contents: ["bbbb", "cccc", "dddd"],
  },
  {
    name: "drops an agent's oldest calls with their outputs once there are no older turns",
    body: { input: agent },
    contextLength: 13,
    contents: ["cccc", null, "eeee", null, "ffff"],
  },
  {
    name: "keeps an agent's last call with its output",
    body: { input: agent },
    contextLength: 2,
    contents: ["cccc", null, "ffff"],
  },
];

describe("truncation", () => {
  it.for(rows)("$name", async ({ body, contextLength, contents }, { expect }) => {
    const { request, paths } = await truncate(decode(body), createService(contextLength));
    expect(request.messages.map(({ content }) => content)).toEqual(contents);
    expect(paths).toHaveLength(contents.length);
  });

  it("takes few rounds for a long history", async ({ expect }) => {
    const input = Array.from({ length: 500 }, (_, turn) => [
      user(`question ${turn}`),
      says("x".repeat(100)),
    ]).flat();
    const service = createService(5_000);
    const { request } = await truncate(decode({ input: [...input, user("last")] }), service);
    expect(request.messages.length).toBeLessThan(120);
    expect(request.messages.length).toBeGreaterThan(40);
    expect(service.calls()).toBeLessThan(8);
  });
});
