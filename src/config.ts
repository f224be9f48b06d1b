import * as z from "zod";

import type { ModelSettings } from "./core/model-settings.ts";

/** What the operator decides; see docs/configuration.md. */
export interface Config {
  readonly gateways: readonly GatewayConfig[];
  /** Sent to every gateway as a bearer token; undefined: none. */
  readonly gatewayToken: string | undefined;
  /** The key that clients send; null: anyone may call (`AUTH=off`, for a machine of one's own). */
  readonly apiKey: string | null;
  readonly unknownModelStatus: 400 | 404;
  readonly maxBodyBytes: number;
  readonly corsOrigins: readonly string[];
  readonly heartbeat: { readonly mode: "comment" | "chunk" | "off"; readonly intervalMs: number };
  /** Longest wait for the engine's first message before the headers go out all the same. */
  readonly headersHoldMs: number;
  readonly firstTokenTimeoutMs: number;
  readonly stallTimeoutMs: number;
  /** How long a worker that could not be asked is left alone. */
  readonly failedWorkerRetryMs: number;
  readonly modelSettings: ReadonlyMap<string, ModelSettings>;
}

export interface GatewayConfig {
  readonly url: string;
  /** The model that its worker serves, by the name it was compiled under; undefined: what the worker says. */
  readonly model?: string;
  /** Name of the service binding that reaches it (Workers VPC, mTLS); undefined: the public network. */
  readonly binding?: string;
}

/** The configuration does not make sense; the message names the variable. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Credentials do not belong into a URL, which is logged: they are GATEWAY_TOKEN's. */
const gatewayUrl = z
  .url({ protocol: /^https?$/, error: "must be an http(s) URL" })
  .refine((url) => new URL(url).username === "" && new URL(url).password === "", {
    error: "must not hold credentials; set GATEWAY_TOKEN",
  });

const gateway = z.union([
  gatewayUrl.transform((url): GatewayConfig => ({ url })),
  z
    .strictObject({
      url: gatewayUrl,
      model: z.string().min(1).exactOptional(),
      binding: z.string().min(1).exactOptional(),
    })
    .transform((entry): GatewayConfig => entry),
]);

const modelSettings = z
  .record(
    z.string(),
    z.strictObject({
      tool_call_parser: z.string().min(1).exactOptional(),
      reasoning_parser: z.string().min(1).exactOptional(),
      keep_tools_without_choice: z.boolean().exactOptional(),
    }),
  )
  .transform((entries) => {
    const settings = new Map<string, ModelSettings>();
    for (const [model, entry] of Object.entries(entries)) {
      const { tool_call_parser, reasoning_parser, keep_tools_without_choice } = entry;
      settings.set(model, {
        ...(tool_call_parser === undefined ? {} : { toolCallParser: tool_call_parser }),
        ...(reasoning_parser === undefined ? {} : { reasoningParser: reasoning_parser }),
        ...(keep_tools_without_choice === undefined
          ? {}
          : { keepsToolsWithoutChoice: keep_tools_without_choice }),
      });
    }
    return settings;
  });

/** JSON text of a value that another schema then checks. */
const json = (example: string) =>
  z.string().transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue(`must be JSON, e.g. ${example}`);
      return z.NEVER;
    }
  });

const milliseconds = (fallback: number) => z.coerce.number().int().min(1).default(fallback);

const schema = z.object({
  GATEWAYS: z
    .string({ error: "is not set; list the gateways of your workers" })
    .pipe(json('["https://gpu-1.example.com"]'))
    .pipe(z.array(gateway).min(1)),
  GATEWAY_TOKEN: z.string().min(1).optional(),
  API_KEY: z.string().min(8).optional(),
  AUTH: z.enum(["on", "off"]).default("on"),
  UNKNOWN_MODEL_STATUS: z.enum(["400", "404"]).default("404"),
  MAX_BODY_BYTES: z.coerce
    .number()
    .int()
    .min(1_024)
    .default(16 * 1024 * 1024),
  CORS_ORIGINS: z
    .string()
    .default("*")
    .transform((text) => text.split(",").map((origin) => origin.trim())),
  HEARTBEAT: z.enum(["comment", "chunk", "off"]).default("comment"),
  HEARTBEAT_INTERVAL_MS: milliseconds(15_000),
  HEADERS_HOLD_MS: milliseconds(10_000),
  FIRST_TOKEN_TIMEOUT_MS: milliseconds(300_000),
  STALL_TIMEOUT_MS: milliseconds(60_000),
  FAILED_WORKER_RETRY_MS: milliseconds(10_000),
  MODEL_SETTINGS: json('{"my-model": {"tool_call_parser": "qwen25"}}')
    .default({})
    .pipe(modelSettings),
});

/** Reads the Worker's variables and secrets. Throws ConfigError. */
export function readConfig(env: Readonly<Record<string, unknown>>): Config {
  const result = schema.safeParse(env);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new ConfigError(
      `${issue?.path.join(".") ?? "configuration"}: ${issue?.message ?? "not valid"}`,
    );
  }
  const vars = result.data;
  if (vars.AUTH === "on" && vars.API_KEY === undefined) {
    throw new ConfigError(
      "API_KEY: is not set; set it as a secret, or AUTH=off on a machine of your own",
    );
  }
  return {
    gateways: vars.GATEWAYS,
    gatewayToken: vars.GATEWAY_TOKEN,
    apiKey: vars.AUTH === "off" ? null : (vars.API_KEY ?? ""),
    unknownModelStatus: vars.UNKNOWN_MODEL_STATUS === "400" ? 400 : 404,
    maxBodyBytes: vars.MAX_BODY_BYTES,
    corsOrigins: vars.CORS_ORIGINS,
    heartbeat: { mode: vars.HEARTBEAT, intervalMs: vars.HEARTBEAT_INTERVAL_MS },
    headersHoldMs: vars.HEADERS_HOLD_MS,
    firstTokenTimeoutMs: vars.FIRST_TOKEN_TIMEOUT_MS,
    stallTimeoutMs: vars.STALL_TIMEOUT_MS,
    failedWorkerRetryMs: vars.FAILED_WORKER_RETRY_MS,
    modelSettings: vars.MODEL_SETTINGS,
  };
}
