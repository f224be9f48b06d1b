import { Code } from "@connectrpc/connect";
import * as z from "zod";

const count = z.int().min(0);
const milliseconds = z.number().min(0).max(86_400_000);

/** gRPC's own spelling of the status codes, e.g. "RESOURCE_EXHAUSTED". */
const STATUS_CODES = new Map<string, Code>([
  ["CANCELLED", Code.Canceled],
  ["UNKNOWN", Code.Unknown],
  ["INVALID_ARGUMENT", Code.InvalidArgument],
  ["DEADLINE_EXCEEDED", Code.DeadlineExceeded],
  ["NOT_FOUND", Code.NotFound],
  ["ALREADY_EXISTS", Code.AlreadyExists],
  ["PERMISSION_DENIED", Code.PermissionDenied],
  ["RESOURCE_EXHAUSTED", Code.ResourceExhausted],
  ["FAILED_PRECONDITION", Code.FailedPrecondition],
  ["ABORTED", Code.Aborted],
  ["OUT_OF_RANGE", Code.OutOfRange],
  ["UNIMPLEMENTED", Code.Unimplemented],
  ["INTERNAL", Code.Internal],
  ["UNAVAILABLE", Code.Unavailable],
  ["DATA_LOSS", Code.DataLoss],
  ["UNAUTHENTICATED", Code.Unauthenticated],
]);

const statusCodeSchema = z.string().transform((name, context): Code => {
  const code = STATUS_CODES.get(name);
  if (code !== undefined) return code;
  const known = [...STATUS_CODES.keys()].join(", ");
  context.addIssue({ code: "custom", message: `unknown gRPC status "${name}"; one of ${known}` });
  return z.NEVER;
});

const chunkingSchema = z.union([
  z.literal("token"),
  z.literal("all"),
  z.strictObject({ every: z.int().min(1) }),
  z.strictObject({ random: z.strictObject({ seed: z.int(), max: z.int().min(1) }) }),
]);

const faultSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("status"),
    code: statusCodeSchema,
    message: z.string().default("simulated fault"),
    afterTokens: count.default(0),
  }),
  z.strictObject({ kind: z.literal("silence"), afterTokens: count.default(0) }),
  z.strictObject({
    kind: z.literal("cut"),
    what: z.enum(["stream", "connection"]).default("connection"),
    afterTokens: count.default(0),
  }),
  z.strictObject({ kind: z.literal("missing-complete") }),
]);

const settings = {
  chunks: chunkingSchema.exactOptional(),
  finish: z.enum(["stop", "length", "abort"]).exactOptional(),
  eos: z.union([z.boolean(), z.string().min(1), count]).exactOptional(),
  reasoningTokens: count.exactOptional(),
  startDelayMs: milliseconds.exactOptional(),
  prefillMs: milliseconds.exactOptional(),
  perTokenMs: milliseconds.exactOptional(),
  fault: faultSchema.exactOptional(),
};

const replySchema = z.union([
  z.string(),
  z
    .strictObject({
      text: z.string().exactOptional(),
      ids: z.array(count).exactOptional(),
      ...settings,
    })
    .refine((reply) => (reply.text === undefined) !== (reply.ids === undefined), {
      message: "a reply needs exactly one of text and ids",
    }),
]);

const ruleSchema = z
  .strictObject({
    name: z.string().exactOptional(),
    when: z.string().exactOptional(),
    flags: z
      .string()
      .regex(/^[imsuv]*$/, "flags may hold i, m, s, u and v")
      .exactOptional(),
    times: z.int().min(1).exactOptional(),
    reply: replySchema.exactOptional(),
    replies: z.array(replySchema).min(1).exactOptional(),
    ...settings,
  })
  .refine((rule) => rule.reply === undefined || rule.replies === undefined, {
    message: "a rule has reply or replies, not both",
  })
  .superRefine((rule, context) => {
    try {
      void new RegExp(rule.when ?? "", rule.flags ?? "");
    } catch (error) {
      context.addIssue({ code: "custom", path: ["when"], message: String(error) });
    }
  });

const rpcFaultSchema = z.strictObject({
  delayMs: milliseconds.exactOptional(),
  status: z
    .strictObject({ code: statusCodeSchema, message: z.string().default("simulated fault") })
    .exactOptional(),
  silence: z.boolean().exactOptional(),
  times: z.int().min(1).exactOptional(),
});

/** The scenario file; docs/engine-simulator.md describes it for its users. */
export const scenarioSchema = z.strictObject({
  rules: z.array(ruleSchema).default([]),
  /** Faults of whole calls, by method name ("GetLoads", "Check" …). */
  rpcs: z.record(z.string(), rpcFaultSchema).default({}),
  health: z.enum(["serving", "not-serving"]).default("serving"),
});

export type ScenarioInput = z.input<typeof scenarioSchema>;
export type Scenario = z.output<typeof scenarioSchema>;
export type Chunking = z.output<typeof chunkingSchema>;
export type Fault = z.output<typeof faultSchema>;
export type RpcFault = z.output<typeof rpcFaultSchema>;
type Rule = z.output<typeof ruleSchema>;
type ReplyEntry = z.output<typeof replySchema>;

/** One reply of a rule, with the rule's settings filled in and the captures written into the text. */
export interface ScriptedReply {
  /** Both absent: the rule only changes settings, the engine's own reply is spoken. */
  readonly text?: string;
  readonly ids?: readonly number[];
  readonly chunks?: Chunking;
  readonly finish?: "stop" | "length" | "abort";
  readonly eos?: boolean | string | number;
  readonly reasoningTokens?: number;
  readonly startDelayMs?: number;
  readonly prefillMs?: number;
  readonly perTokenMs?: number;
  readonly fault?: Fault;
}

interface LoadedRule {
  readonly rule: Rule;
  readonly pattern: RegExp;
  readonly replies: readonly ReplyEntry[];
  matches: number;
  nextReply: number;
}

/** A running scenario: remembers how often each rule matched and which of its replies is next. */
export class ScenarioPlayer {
  readonly health: Scenario["health"];
  readonly #rules: LoadedRule[];
  readonly #rpcs: Map<string, { readonly fault: RpcFault; uses: number }>;

  constructor(scenario: Scenario) {
    this.health = scenario.health;
    this.#rpcs = new Map(
      Object.entries(scenario.rpcs).map(([name, fault]) => [name, { fault, uses: 0 }]),
    );
    this.#rules = scenario.rules.map((rule) => ({
      rule,
      pattern: new RegExp(rule.when ?? "", rule.flags ?? ""),
      replies: rule.replies ?? (rule.reply === undefined ? [] : [rule.reply]),
      matches: 0,
      nextReply: 0,
    }));
  }

  /** The replies of a request's `samples` samples from the first rule that matches, or undefined. */
  match(prompt: () => string, samples: number): readonly ScriptedReply[] | undefined {
    for (const loaded of this.#rules) {
      if (loaded.matches >= (loaded.rule.times ?? Number.POSITIVE_INFINITY)) continue;
      const found = loaded.rule.when === undefined ? [] : loaded.pattern.exec(prompt());
      if (found === null) continue;
      loaded.matches += 1;
      const first = loaded.nextReply;
      loaded.nextReply += samples;
      return Array.from({ length: samples }, (_, sample) =>
        scriptedReply(loaded, first + sample, found),
      );
    }
    return undefined;
  }

  /** What is to go wrong with the next call of a method; counts as one use. */
  rpcFault(method: string): RpcFault | undefined {
    const entry = this.#rpcs.get(method);
    if (entry === undefined || entry.uses >= (entry.fault.times ?? Number.POSITIVE_INFINITY)) {
      return undefined;
    }
    entry.uses += 1;
    return entry.fault;
  }
}

function scriptedReply(
  loaded: LoadedRule,
  turn: number,
  found: RegExpExecArray | readonly string[],
): ScriptedReply {
  const { name: _name, when: _when, flags: _flags, times: _times, ...rest } = loaded.rule;
  const { reply: _reply, replies: _replies, ...ruleSettings } = rest;
  const entry = loaded.replies[turn % Math.max(1, loaded.replies.length)];
  const own = typeof entry === "string" ? { text: entry } : (entry ?? {});
  const merged = { ...ruleSettings, ...own };
  return merged.text === undefined ? merged : { ...merged, text: fillCaptures(merged.text, found) };
}

/** `$1` and `$<name>` become what the pattern captured, `$$` a dollar; anything else stays as it is written. */
function fillCaptures(text: string, found: RegExpExecArray | readonly string[]): string {
  const groups = "groups" in found ? (found.groups ?? {}) : {};
  return text.replaceAll(/\$(?:(\$)|(\d{1,2})|<([^>]+)>)/g, (whole, dollar, number, name) => {
    if (dollar !== undefined) return "$";
    if (name !== undefined) return Object.hasOwn(groups, name) ? (groups[name] ?? "") : whole;
    const index = Number(number);
    return index < found.length && index > 0 ? (found[index] ?? "") : whole;
  });
}
