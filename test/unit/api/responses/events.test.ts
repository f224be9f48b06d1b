import fc from "fast-check";
import { describe, it } from "vitest";

import { createResponseStream } from "../../../../src/api/responses/render-stream.ts";
import {
  createResponseMachine,
  foldResponse,
} from "../../../../src/api/responses/response-machine.ts";
import { responseRequest } from "../../../../src/api/responses/schema.ts";
import { toChatRequest } from "../../../../src/api/responses/to-chat-request.ts";
import { toWireError } from "../../../../src/api/responses/wire-error.ts";
import { parseWire } from "../../../../src/api/shared/schema.ts";
import type { ApiError } from "../../../../src/core/api-error.ts";
import type {
  FinishReason,
  GenerationEvent,
  TokenLogprob,
} from "../../../../src/core/generation-event.ts";
import { foldEvents, parseEvents, type Item } from "./fold-events.ts";

const USAGE = { promptTokens: 9, completionTokens: 7, cachedTokens: 4, reasoningTokens: 2 };
const TOOLS = [
  { type: "function", name: "f", parameters: { type: "object" } },
  { type: "custom", name: "patch" },
  {
    type: "namespace",
    name: "ns",
    description: "",
    tools: [
      { type: "function", name: "g" },
      { type: "custom", name: "h" },
    ],
  },
];

const say = (text: string): GenerationEvent => ({ type: "text-delta", index: 0, text });
const think = (text: string): GenerationEvent => ({ type: "reasoning-delta", index: 0, text });
const start = (call: number, name: string): GenerationEvent => ({
  type: "tool-call-start",
  index: 0,
  call,
  id: `call_${call}`,
  name,
});
const more = (call: number, text: string): GenerationEvent => ({
  type: "tool-call-delta",
  index: 0,
  call,
  arguments: text,
});
const done = (call: number): GenerationEvent => ({ type: "tool-call-end", index: 0, call });
const call = (number: number, name: string, text: string): GenerationEvent[] => [
  start(number, name),
  more(number, text),
  done(number),
];
const finish = (finishReason: FinishReason): GenerationEvent[] => [
  { type: "choice-end", index: 0, finishReason, matchedStop: null },
  { type: "generation-end", usage: USAGE },
];
const fail = (error: ApiError): GenerationEvent => ({
  type: "generation-error",
  error,
  usage: USAGE,
});
const broken: ApiError = { kind: "engine-error", detail: "The engine broke." };
const scored = (token: string): TokenLogprob => {
  const bytes = [...new TextEncoder().encode(token)];
  return { token, bytes, logprob: -1, top: [], textOffset: 0 };
};
const logprobs = (...tokens: readonly string[]): GenerationEvent => ({
  type: "logprobs",
  index: 0,
  entries: tokens.map(scored),
});

function createMachine(body: object = {}) {
  const wire = parseWire(responseRequest, { model: "m", input: "x", tools: TOOLS, ...body });
  const decoded = toChatRequest(wire);
  let ids = 0;
  return createResponseMachine({
    id: "resp_1",
    createdAt: 1_000,
    wire,
    origins: decoded.origins,
    nameError: (error) => toWireError(error, decoded),
    ids: { hex: () => String(++ids) },
    clock: { now: () => 2_500_000 },
  });
}

function stream(steps: readonly (readonly GenerationEvent[])[]) {
  const machine = createResponseStream(createMachine());
  const raw = machine.head + steps.map((step) => machine.render(step)).join("") + machine.tail;
  const events = parseEvents(raw);
  const final = events.at(-1)?.response;
  if (final === undefined) throw new Error("the stream has no end");
  return { raw, events, final };
}

/** An item in few words. */
function brief(item: Item): string {
  const value = item.content?.map(({ text }) => text).join("|") ?? item.arguments ?? item.input;
  const name = [item.namespace, item.name].filter((part) => part !== undefined).join(".");
  return [item.type, item.status, name, value].filter((part) => part !== "").join(" ");
}

const rows: readonly {
  readonly name: string;
  readonly events: readonly GenerationEvent[];
  readonly status: string;
  readonly output: readonly string[];
}[] = [
  { name: "nothing at all", events: finish("stop"), status: "completed", output: [] },
  {
    name: "text",
    events: [say("Hel"), say("lo"), ...finish("stop")],
    status: "completed",
    output: ["message completed Hello"],
  },
  {
    name: "thoughts, then text",
    events: [think("a"), think("b"), say("c"), ...finish("stop")],
    status: "completed",
    output: ["reasoning completed ab", "message completed c"],
  },
  {
    name: "thoughts between texts",
    events: [say("a"), think("b"), say("c"), ...finish("stop")],
    status: "completed",
    output: ["message completed a", "reasoning completed b", "message completed c"],
  },
  {
    name: "only blank text",
    events: [say("\n"), say("\n"), ...finish("stop")],
    status: "completed",
    output: ["message completed \n\n"],
  },
  {
    name: "blank thoughts and blank text around calls",
    events: [
      think("\n\n"),
      say("\n\n"),
      ...call(0, "f", "{}"),
      say("\n"),
      ...call(1, "f", "{}"),
      say("\n"),
      ...finish("tool-calls"),
    ],
    status: "completed",
    output: ["function_call completed f {}", "function_call completed f {}"],
  },
  {
    name: "blank text that goes on after all",
    events: [think("a"), say("\n"), say("\nb"), ...finish("stop")],
    status: "completed",
    output: ["reasoning completed a", "message completed \n\nb"],
  },
  {
    name: "blank text inside thoughts",
    events: [think("a"), say("\n"), think("b"), say("c"), ...finish("stop")],
    status: "completed",
    output: ["reasoning completed ab", "message completed c"],
  },
  {
    name: "text before, between and after calls",
    events: [
      say("a"),
      ...call(0, "f", '{"x":1}'),
      say("b"),
      ...call(1, "f", "{}"),
      say("c"),
      ...finish("tool-calls"),
    ],
    status: "completed",
    output: [
      "message completed a",
      'function_call completed f {"x":1}',
      "message completed b",
      "function_call completed f {}",
      "message completed c",
    ],
  },
  {
    name: "text and thoughts inside a call, which come after it",
    events: [
      start(0, "f"),
      more(0, "{"),
      say("a"),
      think("b"),
      more(0, "}"),
      say("c"),
      done(0),
      say("d"),
      ...finish("tool-calls"),
    ],
    status: "completed",
    output: [
      "function_call completed f {}",
      "message completed a",
      "reasoning completed b",
      "message completed cd",
    ],
  },
  {
    name: "two calls open at once",
    events: [
      start(0, "f"),
      more(0, "{"),
      start(1, "ns__g"),
      say("a"),
      more(1, "{}"),
      done(1),
      more(0, "}"),
      done(0),
      ...finish("tool-calls"),
    ],
    status: "completed",
    output: [
      "function_call completed f {}",
      "function_call completed ns.g {}",
      "message completed a",
    ],
  },
  {
    name: "a call that has no arguments",
    events: [start(0, "f"), done(0), ...finish("tool-calls")],
    status: "completed",
    output: ["function_call completed f"],
  },
  {
    name: "a call of a tool that nobody offered",
    events: [...call(0, "ns__unknown", "{}"), ...finish("tool-calls")],
    status: "completed",
    output: ["function_call completed ns__unknown {}"],
  },
  {
    name: "custom tools",
    events: [
      start(0, "patch"),
      more(0, '{"in'),
      more(0, 'put": "a\\'),
      more(0, "n\\u00e9\\ud83d"),
      more(0, '\\ude00"}'),
      done(0),
      ...call(1, "ns__h", '{"input":""}'),
      ...finish("tool-calls"),
    ],
    status: "completed",
    output: ["custom_tool_call completed patch a\né😀", "custom_tool_call completed ns.h"],
  },
  {
    name: "a custom tool whose input does not come first",
    events: [...call(0, "patch", '{"why":"x","input":"y"}'), ...finish("tool-calls")],
    status: "completed",
    output: ["custom_tool_call completed patch y"],
  },
  {
    name: "a custom tool that is called without its input",
    events: [...call(0, "patch", '{"text":"x"}'), ...finish("tool-calls")],
    status: "completed",
    output: ['custom_tool_call completed patch {"text":"x"}'],
  },
  {
    name: "text that was cut off",
    events: [think("a"), say("b"), ...finish("length")],
    status: "incomplete",
    output: ["reasoning completed a", "message incomplete b"],
  },
  {
    name: "thoughts that were cut off",
    events: [think("a"), ...finish("length")],
    status: "incomplete",
    output: ["reasoning incomplete a"],
  },
  {
    name: "a call that was cut off",
    events: [say("a"), ...call(0, "f", "{}"), start(1, "f"), more(1, '{"x'), ...finish("length")],
    status: "incomplete",
    output: [
      "message completed a",
      "function_call completed f {}",
      'function_call incomplete f {"x',
    ],
  },
  {
    name: "a custom call that was cut off in an escape",
    events: [start(0, "patch"), more(0, '{"input":"ab\\'), ...finish("length")],
    status: "incomplete",
    output: ["custom_tool_call incomplete patch ab"],
  },
  {
    name: "a custom call that was cut off before its input",
    events: [start(0, "patch"), more(0, '{"inp'), ...finish("length")],
    status: "incomplete",
    output: ["custom_tool_call incomplete patch"],
  },
  {
    name: "the length's end right behind a whole call",
    events: [...call(0, "f", "{}"), ...finish("length")],
    status: "incomplete",
    output: ["function_call completed f {}"],
  },
  {
    name: "a call that the model left open",
    events: [start(0, "f"), more(0, "{"), say("a"), ...finish("stop")],
    status: "completed",
    output: ["function_call incomplete f {", "message completed a"],
  },
  { name: "a fault before all", events: [fail(broken)], status: "failed", output: [] },
  {
    name: "a fault after text",
    events: [think("a"), say("b"), fail(broken)],
    status: "failed",
    output: ["reasoning completed a", "message incomplete b"],
  },
  {
    name: "a fault inside a call",
    events: [say("a"), start(0, "f"), more(0, "{"), say("b"), fail(broken)],
    status: "failed",
    output: ["message completed a", "function_call incomplete f {", "message incomplete b"],
  },
  {
    name: "an end without a reason",
    events: [say("a"), { type: "generation-end", usage: USAGE }],
    status: "failed",
    output: ["message incomplete a"],
  },
  {
    name: "usage on the way",
    events: [{ type: "usage", usage: USAGE }, say("a"), ...finish("stop")],
    status: "completed",
    output: ["message completed a"],
  },
];

describe("the events of a response", () => {
  it.for(rows)("$name", ({ events, status, output }, { expect }) => {
    const { events: told, final } = stream(events.map((event) => [event]));
    expect(final.status).toBe(status);
    expect(final.output.map(brief)).toEqual(output);
    expect(foldEvents(told)).toEqual(final.output);
    expect(told.slice(0, 2).map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
    ]);
    expect(told.at(-1)?.type).toBe(`response.${status}`);
    expect(told.filter(({ response }) => response !== undefined)).toHaveLength(3);
    const ids = final.output.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.for(rows)(
    "do not depend on how the engine's steps are cut: $name",
    ({ events }, { expect }) => {
      const { raw } = stream(events.map((event) => [event]));
      const cuts = fc.array(fc.nat({ max: events.length }), { maxLength: 4 });
      fc.assert(
        fc.property(cuts, (places) => {
          const bounds = [0, ...places.toSorted((one, other) => one - other), events.length];
          const steps = bounds.slice(1).map((end, index) => events.slice(bounds[index], end));
          expect(stream(steps).raw).toBe(raw);
        }),
        { seed: 1, numRuns: 20 },
      );
    },
  );

  it.for(rows)("do not depend on how the text is cut: $name", ({ events }, { expect }) => {
    const whole = stream([events]);
    const split = stream([events.flatMap(toCharacters)]);
    expect(foldEvents(split.events)).toEqual(foldEvents(whole.events));
    expect(split.final).toEqual(whole.final);
  });

  it.for(rows.filter(({ events }) => events.at(-1)?.type === "generation-end"))(
    "add up to the buffered reply: $name",
    async ({ events }, { expect }) => {
      const buffered = await foldResponse(toSteps([events]), createMachine());
      expect(buffered).toEqual(stream([events]).final);
    },
  );

  it("are these, in this order", ({ expect }) => {
    const { events } = stream([
      [think("a"), say("b"), ...call(0, "f", "{}"), ...call(1, "patch", '{"input":"c"}')],
      finish("tool-calls"),
    ]);
    const item = "response.output_item";
    const part = "response.content_part";
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      `${item}.added`,
      `${part}.added`,
      "response.reasoning_text.delta",
      "response.reasoning_text.done",
      `${part}.done`,
      `${item}.done`,
      `${item}.added`,
      `${part}.added`,
      "response.output_text.delta",
      "response.output_text.done",
      `${part}.done`,
      `${item}.done`,
      `${item}.added`,
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      `${item}.done`,
      `${item}.added`,
      "response.custom_tool_call_input.delta",
      "response.custom_tool_call_input.done",
      `${item}.done`,
      "response.completed",
    ]);
    expect(events.flatMap(({ item: told }) => told?.id ?? [])).toEqual(
      ["rs_1", "msg_2", "fc_3", "ctc_4"].flatMap((id) => [id, id]),
    );
  });
});

/** The same events with deltas of one character each. */
function toCharacters(event: GenerationEvent): GenerationEvent[] {
  if (event.type === "tool-call-delta") {
    return Array.from(event.arguments, (text) => ({ ...event, arguments: text }));
  }
  if (event.type !== "text-delta" && event.type !== "reasoning-delta") return [event];
  return Array.from(event.text, (text) => ({ ...event, text }));
}

async function* toSteps(steps: readonly (readonly GenerationEvent[])[]) {
  for (const step of steps) yield await Promise.resolve(step);
}

/** Any order of text, thoughts and calls that a model could write, calls inside each other included. */
const anyReply = fc
  .array(
    fc.oneof(
      fc.constantFrom(" ", "\n", "a", "b ").map((text) => say(text)),
      fc.constantFrom("\n", "c", " d").map((text) => think(text)),
      fc.constantFrom("f", "patch", "ns__h").map((name) => name),
      fc.constantFrom('{"input":', '"x\\n', '"}').map((json) => more(0, json)),
      fc.constant(done(0)),
    ),
    { maxLength: 14 },
  )
  .chain((parts) =>
    fc.constantFrom(finish("stop"), finish("length"), [fail(broken)]).map((end) => {
      const open: number[] = [];
      let calls = 0;
      const events = parts.flatMap((part): GenerationEvent[] => {
        if (typeof part === "string") {
          open.push(calls);
          return [start(calls++, part)];
        }
        if (part.type !== "tool-call-delta" && part.type !== "tool-call-end") return [part];
        const number = part.type === "tool-call-end" ? open.shift() : open.at(-1);
        return number === undefined ? [] : [Object.assign({}, part, { call: number })];
      });
      return events.concat(end);
    }),
  );

describe("any reply", () => {
  it("folds to its last event, and loses nothing but blanks", ({ expect }) => {
    const visible = (texts: readonly string[]) => texts.join("").replace(/\s/g, "");
    const textsOf = (output: readonly Item[], type: string) =>
      visible(
        output
          .flatMap((item) => (item.type === type ? (item.content ?? []) : []))
          .map(({ text }) => text),
      );
    const deltasOf = (events: readonly GenerationEvent[], type: string) =>
      visible(
        events.flatMap((event) => (event.type === type && "text" in event ? event.text : [])),
      );
    fc.assert(
      fc.property(anyReply, (events) => {
        const { events: told, final } = stream(events.map((event) => [event]));
        expect(foldEvents(told)).toEqual(final.output);
        expect(textsOf(final.output, "message")).toBe(deltasOf(events, "text-delta"));
        expect(textsOf(final.output, "reasoning")).toBe(deltasOf(events, "reasoning-delta"));
        const calls = events.filter(({ type }) => type === "tool-call-start").length;
        expect(final.output.filter(({ type }) => type.endsWith("_call"))).toHaveLength(calls);
        const last = final.output.findIndex(({ status }) => status === "incomplete");
        if (final.status === "completed" && last >= 0) {
          expect(final.output[last]?.type).toMatch(/_call$/);
        }
      }),
      { seed: 1, numRuns: 300 },
    );
  });
});

describe("a response's end", () => {
  it("tells usage, times and what was cut", ({ expect }) => {
    expect(stream([[say("a"), ...finish("stop")]]).final).toMatchObject({
      id: "resp_1",
      created_at: 1_000,
      completed_at: 2_500,
      incomplete_details: null,
      error: null,
      usage: {
        input_tokens: 9,
        input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
        output_tokens: 7,
        output_tokens_details: { reasoning_tokens: 2 },
        total_tokens: 16,
      },
    });
    expect(stream([[say("a"), ...finish("length")]]).final).toMatchObject({
      completed_at: null,
      incomplete_details: { reason: "max_output_tokens" },
      error: null,
    });
  });

  const failures: readonly { readonly error: ApiError; readonly code: string }[] = [
    { error: broken, code: "server_error" },
    { error: { kind: "deadline-exceeded" }, code: "server_error" },
    { error: { kind: "internal" }, code: "server_error" },
    { error: { kind: "no-worker-available", retryAfterMs: 5 }, code: "server_error" },
    {
      error: { kind: "rate-limited", detail: "slow", retryAfterMs: 5 },
      code: "rate_limit_exceeded",
    },
    { error: { kind: "invalid-request", detail: "no" }, code: "invalid_prompt" },
    {
      error: {
        kind: "context-length-exceeded",
        limit: 8,
        promptTokens: 9,
        param: "messages",
      },
      code: "context_length_exceeded",
    },
  ];

  it.for(failures)("tells a fault as $code ($error.kind)", ({ error, code }, { expect }) => {
    const { final, events } = stream([[say("a"), fail(error)]]);
    expect(final.error?.code).toBe(code);
    expect(final.error?.message).not.toBe("");
    expect(final).toMatchObject({ completed_at: null, usage: { total_tokens: 16 } });
    expect(events.map(({ type }) => type)).not.toContain("error");
  });

  it("throws the fault of a buffered reply, which has a status for it", async ({ expect }) => {
    const folding = foldResponse(toSteps([[say("a"), fail(broken)]]), createMachine());
    await expect(folding).rejects.toMatchObject({ error: broken });
  });
});

describe("log probabilities", () => {
  const tokensOf = (steps: readonly (readonly GenerationEvent[])[]) =>
    stream(steps).final.output.map((item) =>
      item.content?.flatMap((part) =>
        (part.logprobs ?? []).map((entry) => (entry as { token: string }).token),
      ),
    );
  const end = finish("stop");

  it("stand in the deltas and the part of the text they belong to", ({ expect }) => {
    const { events, final } = stream([
      [logprobs("Gr", "üße"), say("Grüße"), logprobs("!"), say("!"), ...end],
    ]);
    expect(foldEvents(events)).toEqual(final.output);
    expect(final.output[0]?.content?.[0]?.logprobs).toMatchObject([
      { token: "Gr", logprob: -1, top_logprobs: [] },
      { token: "üße" },
      { token: "!" },
    ]);
  });

  const placed = [
    {
      name: "not of thoughts and markers in the same step",
      steps: [
        [logprobs("hm", "</think>", "\n\n", "a", "b"), think("hm"), say("\n\na"), say("b"), ...end],
      ],
      tokens: [[], ["\n\n", "a", "b"]],
    },
    {
      name: "not of a marker that came before",
      steps: [
        [logprobs("hm"), think("hm")],
        [logprobs("</think>")],
        [logprobs("a"), say("a")],
        end,
      ],
      tokens: [[], ["a"]],
    },
    {
      name: "not of a call",
      steps: [
        [logprobs("a"), say("a")],
        [logprobs("<tool_call>", '{"b":1}'), ...call(0, "f", '{"b":1}')],
        [logprobs("b"), say("b")],
        end,
      ],
      tokens: [["a"], undefined, ["b"]],
    },
    {
      name: "of a character that lies in two tokens",
      steps: [
        [
          {
            type: "logprobs" as const,
            index: 0,
            entries: [
              { ...scored("\ufffd"), bytes: [0xc3] },
              { ...scored("\ufffd"), bytes: [0xbc] },
            ],
          },
          say("ü"),
        ],
        end,
      ],
      tokens: [["\ufffd", "\ufffd"]],
    },
    {
      name: "all there are, where no tokens spell the text",
      steps: [[logprobs("a", "b"), say("c"), ...end]],
      tokens: [["a", "b"]],
    },
  ];

  it.for(placed)("$name", ({ steps, tokens }, { expect }) => {
    expect(tokensOf(steps)).toEqual(tokens);
  });
});
