import fc from "fast-check";
import { describe, it } from "vitest";

import { createMessageWriter } from "../../../../src/api/messages/message-writer.ts";
import { renderMessage } from "../../../../src/api/messages/render-response.ts";
import { createMessageStream } from "../../../../src/api/messages/render-stream.ts";
import { EdgeError } from "../../../../src/core/api-error.ts";
import type { FinishReason, GenerationEvent } from "../../../../src/core/generation-event.ts";
import { foldMessageStream } from "../../../support/message-stream.ts";

const options = {
  id: "msg_1",
  requestId: "req_1",
  model: "m",
  stopSequences: ["END"],
  hidesThinking: false,
};
const usage = { promptTokens: 30, completionTokens: 7, cachedTokens: 20, reasoningTokens: 3 };
const index = 0;

const begun: GenerationEvent = { type: "usage", usage: { ...usage, completionTokens: 1 } };
const text = (value: string): GenerationEvent => ({ type: "text-delta", index, text: value });
const thought = (value: string): GenerationEvent => ({
  type: "reasoning-delta",
  index,
  text: value,
});
const call = (number: number, json: string, isWhole = true): GenerationEvent[] => [
  { type: "tool-call-start", index, call: number, id: `call_${number}`, name: "f" },
  ...Array.from(json, (piece): GenerationEvent => ({
    type: "tool-call-delta",
    index,
    call: number,
    arguments: piece,
  })),
  ...(isWhole ? [{ type: "tool-call-end", index, call: number } as const] : []),
];
const end = (
  finishReason: FinishReason = "stop",
  matchedStop: number | string | null = 2,
): GenerationEvent[] => [
  { type: "choice-end", index, finishReason, matchedStop },
  { type: "generation-end", usage },
];

interface Row {
  readonly name: string;
  readonly events: readonly GenerationEvent[];
  readonly content: readonly object[];
  readonly stop?: string;
  readonly sequence?: string;
  readonly hidesThinking?: boolean;
}

const rows: readonly Row[] = [
  { name: "nothing", events: end(), content: [] },
  {
    name: "text",
    events: [text("a"), text("b"), ...end()],
    content: [{ type: "text", text: "ab" }],
  },
  {
    name: "white space alone",
    events: [text(" "), text("\n"), ...end()],
    content: [{ type: "text", text: " \n" }],
  },
  {
    name: "white space before a text",
    events: [text("\n"), text("\n"), text("a "), text(" "), ...end()],
    content: [{ type: "text", text: "\n\na  " }],
  },
  {
    name: "a thought, then text",
    events: [thought("h"), thought("m "), text("\n"), text("a"), ...end()],
    content: [
      { type: "thinking", thinking: "hm " },
      { type: "text", text: "\na" },
    ],
  },
  {
    name: "an empty thought",
    events: [thought("\n\n"), text("\n\na"), ...end()],
    content: [{ type: "text", text: "\n\na" }],
  },
  {
    name: "an empty thought and nothing else",
    events: [thought("\n\n"), ...end()],
    content: [],
  },
  {
    name: "a thought that goes on after white space of the text",
    events: [thought("a"), text("\n"), thought("b"), text("c"), thought(" "), text("d"), ...end()],
    content: [
      { type: "thinking", thinking: "ab" },
      { type: "text", text: "cd" },
    ],
  },
  {
    name: "a hidden thought",
    events: [thought("hm"), text("a"), thought("hm"), text("b"), ...end()],
    content: [{ type: "text", text: "ab" }],
    hidesThinking: true,
  },
  {
    name: "calls with white space around",
    events: [
      text("\n"),
      ...call(0, '{"a":1}'),
      text("\n"),
      ...call(1, ""),
      text(" \n"),
      ...end("tool-calls"),
    ],
    content: [
      { type: "tool_use", id: "toolu_0", name: "f", input: { a: 1 } },
      { type: "tool_use", id: "toolu_1", name: "f", input: {} },
    ],
    stop: "tool_use",
  },
  {
    name: "text between calls, thoughts too",
    events: [
      text("a"),
      ...call(0, "{}"),
      thought("b"),
      ...call(1, '{"x":{"y":[]}}'),
      text("c"),
      ...end("tool-calls"),
    ],
    content: [
      { type: "text", text: "a" },
      { type: "tool_use", input: {} },
      { type: "thinking", thinking: "b" },
      { type: "tool_use", input: { x: { y: [] } } },
      { type: "text", text: "c" },
    ],
    stop: "tool_use",
  },
  {
    name: "a call that was cut off",
    events: [...call(0, '{"a":[1,"b"],"c":"d', false), ...end("length", null)],
    content: [{ type: "tool_use", input: { a: [1, "b"] } }],
    stop: "max_tokens",
  },
  {
    name: "a stop sequence",
    events: [text("a"), ...end("stop", "END")],
    content: [{ type: "text", text: "a" }],
    stop: "stop_sequence",
    sequence: "END",
  },
  {
    name: "a string of the engine's own that ended it",
    events: [text("a"), ...end("stop", "</s>")],
    content: [{ type: "text", text: "a" }],
  },
  {
    name: "a stop sequence behind a call",
    events: [...call(0, "{}"), ...end("tool-calls", "END")],
    content: [{ type: "tool_use", input: {} }],
    stop: "tool_use",
  },
  {
    name: "log probabilities, which it leaves out",
    events: [{ type: "logprobs", index, entries: [] }, text("a"), ...end("length")],
    content: [{ type: "text", text: "a" }],
    stop: "max_tokens",
  },
];

function render(steps: readonly (readonly GenerationEvent[])[], hidesThinking = false): string {
  const stream = createMessageStream(createMessageWriter({ ...options, hidesThinking }));
  return steps.map((step) => stream.render(step)).join("");
}

async function buffer(steps: readonly (readonly GenerationEvent[])[], hidesThinking = false) {
  async function* read() {
    yield* steps;
  }
  return renderMessage(read(), createMessageWriter({ ...options, hidesThinking }));
}

describe("a message", () => {
  it.for(rows)("has $name", async (row, { expect }) => {
    const { events, content, stop = "end_turn", sequence = null, hidesThinking } = row;
    expect(await buffer([[begun, ...events]], hidesThinking)).toMatchObject({
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content,
      stop_reason: stop,
      stop_sequence: sequence,
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 20,
        cache_creation_input_tokens: 0,
        output_tokens: 7,
      },
    });
  });

  it.for(rows)("is what its stream adds up to: $name", async (row, { expect }) => {
    const events = [begun, ...row.events];
    const { message, isWhole } = foldMessageStream(render([events], row.hidesThinking));
    const buffered = await buffer([events], row.hidesThinking);
    expect(isWhole).toBe(true);
    expect({ ...message, content: [] }).toEqual({ ...buffered, content: [] });
    // A client of the stream sees all of a cut call's text; whole ones are the same.
    const whole = message.content.filter(
      (block) => block.type !== "tool_use" || typeof block.input !== "string",
    );
    expect(buffered.content).toEqual(expect.arrayContaining(whole));
    expect(message.content).toHaveLength(buffered.content.length);
  });

  it("does not depend on how events are grouped into steps", ({ expect }) => {
    fc.assert(
      fc.property(
        fc.constantFrom(...rows),
        fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 30 }),
        ({ events, hidesThinking }, sizes) => {
          const all = [begun, ...events];
          const steps: GenerationEvent[][] = [];
          let from = 0;
          for (const size of sizes) steps.push(all.slice(from, (from += size)));
          steps.push(all.slice(from));
          expect(render(steps, hidesThinking)).toBe(render([all], hidesThinking));
        },
      ),
      { seed: 1 },
    );
  });

  it("does not depend on how its text is cut", ({ expect }) => {
    for (const { events, hidesThinking } of rows) {
      const cut = events.flatMap((event): GenerationEvent[] =>
        "text" in event ? Array.from(event.text, (piece) => ({ ...event, text: piece })) : [event],
      );
      const fold = (list: readonly GenerationEvent[]) =>
        foldMessageStream(render([[begun, ...list]], hidesThinking)).message;
      expect(fold(cut)).toEqual(fold(events));
    }
  });
});

describe("a message that fails", () => {
  const failure: GenerationEvent = {
    type: "generation-error",
    error: { kind: "deadline-exceeded" },
    usage,
  };
  const places = [
    { name: "before everything", events: [], content: [] },
    { name: "in a text", events: [text("a")], content: [{ type: "text", text: "a" }] },
    { name: "in a thought", events: [thought("a")], content: [{ type: "thinking" }] },
    { name: "in a call", events: call(0, '{"a', false), content: [{ type: "tool_use" }] },
    { name: "after a call", events: call(0, "{}"), content: [{ type: "tool_use" }] },
  ];
  it.for(places)(
    "$name closes its block and tells the error",
    ({ events, content }, { expect }) => {
      const { message, error, isWhole } = foldMessageStream(
        render([[begun, ...events], [failure]]),
      );
      expect(message.content).toMatchObject(content);
      expect(error).toMatchObject({ type: "api_error" });
      expect(isWhole).toBe(false);
    },
  );

  it("is an error when it is buffered", async ({ expect }) => {
    const thrown: unknown = await buffer([[begun, text("a")], [failure]]).catch(
      (error: unknown) => error,
    );
    expect(thrown instanceof EdgeError && thrown.error).toEqual({ kind: "deadline-exceeded" });
  });
});

it("starts a message once", ({ expect }) => {
  const stream = createMessageStream(createMessageWriter(options));
  const raw = stream.start(usage) + stream.render([begun, text("a"), ...end()]);
  expect(foldMessageStream(raw).message.content).toEqual([{ type: "text", text: "a" }]);
});
