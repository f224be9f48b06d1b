import { isIP } from "node:net";
import { parseArgs } from "node:util";

import { parseTokens } from "./auth.ts";
import type { LogLevel } from "./log.ts";
import { LOG_LEVELS } from "./log.ts";
import type { GatewayOptions } from "./settings.ts";
import { DEFAULTS, parseAddress, toSettings } from "./settings.ts";

/** Something is wrong with the command line or the environment; the message says what. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

interface OptionRow {
  /** What the value looks like; undefined for a flag. */
  readonly value?: string;
  readonly fallback?: string;
  readonly help: string;
}

const OPTIONS = {
  upstream: { value: "HOST:PORT", help: "the gRPC server to pass calls to" },
  allow: {
    value: "HOST:PORT,…",
    help: "workers that a client may choose with the header x-worker; off unless given",
  },
  listen: {
    value: "HOST:PORT",
    fallback: "127.0.0.1:8080",
    help: "where to listen; port 0 takes a free one",
  },
  "token-file": {
    value: "FILE",
    help: "accepted tokens, one a line; read again when it changes and on SIGHUP",
  },
  "no-auth": { help: "listen on a public address without tokens or client certificates" },
  "tls-cert": { value: "FILE", help: "serve HTTPS with this certificate chain (PEM)" },
  "tls-key": { value: "FILE", help: "its key (PEM)" },
  "tls-client-ca": { value: "FILE", help: "clients must show a certificate signed by this CA" },
  "upstream-tls": { help: "speak TLS to the upstream" },
  "upstream-ca": { value: "FILE", help: "trust this CA for the upstream, instead of the system's" },
  "upstream-cert": { value: "FILE", help: "client certificate for the upstream" },
  "upstream-key": { value: "FILE", help: "its key" },
  "upstream-server-name": {
    value: "NAME",
    help: "the name in the upstream's certificate, if not HOST",
  },
  "upstream-insecure": { help: "accept any certificate of the upstream; for trials only" },
  "max-request-message": { value: "SIZE", fallback: "64MiB", help: "largest message of a request" },
  "max-response-message": { value: "SIZE", fallback: "64MiB", help: "largest message of a reply" },
  "max-headers": { value: "SIZE", fallback: "32KiB", help: "largest header block, both sides" },
  "max-calls": { value: "N", fallback: String(DEFAULTS.maxCalls), help: "calls at a time" },
  "max-connections": {
    value: "N",
    fallback: String(DEFAULTS.maxConnections),
    help: "connections to one upstream",
  },
  "max-streams": {
    value: "N",
    fallback: String(DEFAULTS.maxStreamsPerConnection),
    help: "calls on one connection to an upstream",
  },
  "connect-timeout": { value: "TIME", fallback: "5s", help: "until the upstream speaks HTTP/2" },
  "connection-idle": {
    value: "TIME",
    fallback: "5m",
    help: "close upstream connections without calls",
  },
  "idle-timeout": {
    value: "TIME",
    fallback: "0",
    help: "end a call when the upstream sends nothing for this long; 0 = never",
  },
  "keepalive-interval": {
    value: "TIME",
    fallback: "30s",
    help: "ping a silent upstream that has calls; 0 = never",
  },
  "keepalive-timeout": {
    value: "TIME",
    fallback: "10s",
    help: "how long a ping may stay unanswered",
  },
  "drain-delay": {
    value: "TIME",
    fallback: "0",
    help: "on SIGTERM: fail health checks this long before refusing calls",
  },
  "drain-timeout": {
    value: "TIME",
    fallback: "30s",
    help: "on SIGTERM: how long running calls may take",
  },
  "log-level": {
    value: LOG_LEVELS.join("|"),
    fallback: "info",
    help: "lowest level to log, to stderr",
  },
  help: { help: "show this text" },
} as const satisfies Record<string, OptionRow>;

type OptionName = keyof typeof OPTIONS;

/** Reads a file named on the command line. */
export type ReadFile = (path: string) => string;

export type CommandLine =
  | { readonly kind: "help"; readonly text: string }
  | {
      readonly kind: "run";
      readonly gateway: GatewayOptions;
      readonly tokenFile: string | undefined;
      readonly tlsFiles: { readonly cert: string; readonly key: string } | undefined;
      readonly drain: { readonly delayMs: number; readonly timeoutMs: number };
      readonly logLevel: LogLevel;
    };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the command line, then the environment, then the defaults, and the files they name. Throws a UsageError for
 * everything that would not work, so that a gateway that starts is one that can serve.
 */
export function readCommandLine(
  args: readonly string[],
  environment: Environment,
  readFile: ReadFile,
): CommandLine {
  const values = new Values(parseFlags(args), environment, readFile);
  if (values.flag("help")) {
    return { kind: "help", text: helpText() };
  }
  const gateway = readGatewayOptions(values, environment);
  const level = values.text("log-level") ?? "info";
  const logLevel = LOG_LEVELS.find((known) => known === level);
  if (logLevel === undefined) {
    throw new UsageError(`--log-level: "${level}" is not one of ${LOG_LEVELS.join(", ")}`);
  }
  const cert = values.text("tls-cert");
  const key = values.text("tls-key");
  try {
    toSettings(gateway);
  } catch (error) {
    throw new UsageError(`--${error instanceof Error ? error.message : String(error)}`);
  }
  checkExposure(gateway, values.flag("no-auth"));
  return {
    kind: "run",
    gateway,
    tokenFile: values.text("token-file"),
    tlsFiles: cert !== undefined && key !== undefined ? { cert, key } : undefined,
    drain: { delayMs: values.duration("drain-delay"), timeoutMs: values.duration("drain-timeout") },
    logLevel,
  };
}

function readGatewayOptions(values: Values, environment: Environment): GatewayOptions {
  const tokens = readTokens(values, environment);
  const tls = readServerTls(values);
  const upstreamTls = readUpstreamTls(values);
  const upstream = values.text("upstream");
  const allow = values.text("allow");
  return {
    ...(upstream !== undefined && { upstream }),
    ...(allow !== undefined && { allow: allow.split(",").map((entry) => entry.trim()) }),
    listen: values.required("listen"),
    ...(tokens !== undefined && { tokens }),
    ...(tls !== undefined && { tls }),
    ...(upstreamTls !== undefined && { upstreamTls }),
    maxRequestMessageBytes: values.size("max-request-message"),
    maxResponseMessageBytes: values.size("max-response-message"),
    maxHeaderBytes: values.size("max-headers"),
    maxCalls: values.count("max-calls"),
    maxConnections: values.count("max-connections"),
    maxStreamsPerConnection: values.count("max-streams"),
    connectTimeoutMs: values.duration("connect-timeout", "positive"),
    connectionIdleMs: values.duration("connection-idle", "positive"),
    idleTimeoutMs: values.duration("idle-timeout"),
    keepaliveIntervalMs: values.duration("keepalive-interval"),
    keepaliveTimeoutMs: values.duration("keepalive-timeout", "positive"),
  };
}

/** Tokens of the file and of GATEWAY_TOKENS together; undefined when neither is given. */
function readTokens(values: Values, environment: Environment): readonly string[] | undefined {
  const inline = environment["GATEWAY_TOKENS"];
  const file = values.file("token-file");
  if (inline === undefined && file === undefined) {
    return undefined;
  }
  try {
    const tokens = [
      ...parseTokens(file ?? "", "the token file"),
      ...parseTokens(inline ?? "", "GATEWAY_TOKENS"),
    ];
    if (tokens.length === 0) {
      throw new Error("there is no token in the token file or GATEWAY_TOKENS");
    }
    return tokens;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readServerTls(values: Values): GatewayOptions["tls"] {
  const cert = values.file("tls-cert");
  const key = values.file("tls-key");
  const clientCa = values.file("tls-client-ca");
  if (cert === undefined && key === undefined && clientCa === undefined) {
    return undefined;
  }
  if (cert === undefined || key === undefined) {
    throw new UsageError("--tls-cert, --tls-key: give both to serve HTTPS");
  }
  return { cert, key, ...(clientCa !== undefined && { clientCa }) };
}

function readUpstreamTls(values: Values): GatewayOptions["upstreamTls"] {
  const ca = values.file("upstream-ca");
  const cert = values.file("upstream-cert");
  const key = values.file("upstream-key");
  const serverName = values.text("upstream-server-name");
  const insecure = values.flag("upstream-insecure");
  if (!values.flag("upstream-tls")) {
    if (insecure || [ca, cert, key, serverName].some((value) => value !== undefined)) {
      throw new UsageError(
        "--upstream-tls: missing, though other options of upstream TLS are given",
      );
    }
    return undefined;
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError("--upstream-cert, --upstream-key: give both or neither");
  }
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(serverName !== undefined && { serverName }),
    insecure,
  };
}

/** An open port in front of a GPU is a mistake more often than a wish, so it must be asked for by name. */
function checkExposure(gateway: GatewayOptions, noAuth: boolean): void {
  const { host } = parseAddress(gateway.listen ?? "", "listen");
  const loopback =
    host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
  const guarded = gateway.tokens !== undefined || gateway.tls?.clientCa !== undefined;
  if (!loopback && !guarded && !noAuth) {
    throw new UsageError(
      `--listen: ${host} is not a loopback address; give --token-file, GATEWAY_TOKENS or --tls-client-ca, or --no-auth`,
    );
  }
}

type Flags = Readonly<Record<string, string | boolean | undefined>>;

function parseFlags(args: readonly string[]): Flags {
  const options = Object.fromEntries(
    Object.entries<OptionRow>(OPTIONS).map(([name, row]) => [
      name,
      { type: row.value === undefined ? ("boolean" as const) : ("string" as const) },
    ]),
  );
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** The environment variable that stands in for an option: `--token-file` is GATEWAY_TOKEN_FILE. */
function environmentName(name: string): string {
  return `GATEWAY_${name.toUpperCase().replaceAll("-", "_")}`;
}

const DURATION_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const SIZE_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
};

/** Timers of Node go up to this. */
const MAX_DURATION_MS = 2 ** 31 - 1;

/** A gRPC message has at most this, by its length field. */
const MAX_SIZE_BYTES = 2 ** 32 - 1;

class Values {
  readonly #flags: Flags;
  readonly #environment: Environment;
  readonly #readFile: ReadFile;

  constructor(flags: Flags, environment: Environment, readFile: ReadFile) {
    this.#flags = flags;
    this.#environment = environment;
    this.#readFile = readFile;
  }

  text(name: OptionName): string | undefined {
    const row: OptionRow = OPTIONS[name];
    const given = this.#flags[name];
    return typeof given === "string"
      ? given
      : (this.#environment[environmentName(name)] ?? row.fallback);
  }

  required(name: OptionName): string {
    return this.text(name) ?? "";
  }

  flag(name: OptionName): boolean {
    if (this.#flags[name] === true) {
      return true;
    }
    const variable = environmentName(name);
    const value = this.#environment[variable] ?? "";
    if (!["", "0", "1", "false", "true"].includes(value)) {
      throw new UsageError(`${variable}: "${value}" is not 1, 0, true or false`);
    }
    return value === "1" || value === "true";
  }

  file(name: OptionName): string | undefined {
    const path = this.text(name);
    if (path === undefined) {
      return undefined;
    }
    try {
      return this.#readFile(path);
    } catch (error) {
      throw new UsageError(`--${name}: cannot read ${path} (${errorCode(error)})`);
    }
  }

  count(name: OptionName): number {
    const text = this.required(name);
    if (!/^[1-9]\d{0,8}$/.test(text)) {
      throw new UsageError(`--${name}: "${text}" is not a whole number above 0`);
    }
    return Number(text);
  }

  size(name: OptionName): number {
    const text = this.required(name);
    const match = /^(\d+)(B|KiB|MiB|GiB)$/.exec(text);
    const bytes = Number(match?.[1]) * (SIZE_BYTES[match?.[2] ?? ""] ?? Number.NaN);
    if (!(bytes > 0 && bytes <= MAX_SIZE_BYTES)) {
      throw new UsageError(
        `--${name}: "${text}" is not a size such as 512KiB or 64MiB, below 4GiB`,
      );
    }
    return bytes;
  }

  duration(name: OptionName, least: "zero" | "positive" = "zero"): number {
    const text = this.required(name);
    const match = /^(\d+)(ms|s|m|h)$/.exec(text);
    const ms =
      text === "0" ? 0 : Number(match?.[1]) * (DURATION_MS[match?.[2] ?? ""] ?? Number.NaN);
    if (!(ms >= (least === "zero" ? 0 : 1) && ms <= MAX_DURATION_MS)) {
      throw new UsageError(`--${name}: "${text}" is not a time such as 500ms, 30s or 5m`);
    }
    return ms;
  }
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unreadable";
}

function helpText(): string {
  const rows = Object.entries<OptionRow>(OPTIONS).map(([name, row]) => {
    const left = `  --${name}${row.value === undefined ? "" : ` ${row.value}`}`;
    const fallback = row.fallback === undefined ? "" : ` [${row.fallback}]`;
    return left.length < 34
      ? `${left.padEnd(34)}${row.help}${fallback}`
      : `${left}\n${" ".repeat(34)}${row.help}${fallback}`;
  });
  return `Usage: npm run gateway -- --upstream HOST:PORT [options]

Passes gRPC-Web calls on to a gRPC server.

${rows.join("\n")}

Every option can be given as an environment variable instead: --token-file is
GATEWAY_TOKEN_FILE; flags take 1 or 0. The command line wins. GATEWAY_TOKENS holds
tokens themselves, separated by commas or spaces; they add to those of the file.
TIME is a number with ms, s, m or h. SIZE is a number with B, KiB, MiB or GiB.

When it listens it prints one line of JSON to stdout: {"event":"ready","port":…,"url":…}.
Logs go to stderr, one JSON object a line. GET /healthz tells whether the gateway takes
calls, GET /readyz also whether the upstream can be reached.
`;
}
