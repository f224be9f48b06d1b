import { createSecureContext } from "node:tls";

import type { Log } from "./log.ts";
import { createLog } from "./log.ts";
import type { UpstreamAddress, UpstreamSettings, UpstreamTls } from "./upstream.ts";

/** What `startGateway` takes. Everything but the upstream has a default. Times are in ms, sizes in bytes. */
export interface GatewayOptions {
  /** `host:port` of the gRPC server. May be left out when `allow` is given. */
  readonly upstream?: string;
  /** Other workers that a client may choose with the header `x-worker: host:port`. */
  readonly allow?: readonly string[];
  /** `host:port` to listen on; port 0 takes a free one. Default 127.0.0.1:0. */
  readonly listen?: string;
  /** Accepted tokens. Undefined: no token is asked for. */
  readonly tokens?: readonly string[];
  /** Serves HTTPS (HTTP/1.1 and HTTP/2). With `clientCa` clients must show a certificate signed by it. */
  readonly tls?: {
    readonly cert: string | Buffer;
    readonly key: string | Buffer;
    readonly clientCa?: string | Buffer;
  };
  /** Speaks TLS to the upstream. */
  readonly upstreamTls?: UpstreamTls;
  readonly maxRequestMessageBytes?: number;
  readonly maxResponseMessageBytes?: number;
  readonly maxHeaderBytes?: number;
  readonly maxCalls?: number;
  readonly maxConnections?: number;
  readonly maxStreamsPerConnection?: number;
  readonly connectTimeoutMs?: number;
  readonly connectionIdleMs?: number;
  /** 0 (the default): a call may be silent as long as it likes. */
  readonly idleTimeoutMs?: number;
  /** 0: no pings. */
  readonly keepaliveIntervalMs?: number;
  readonly keepaliveTimeoutMs?: number;
  /** Default: silent. */
  readonly log?: Log;
}

/** The defaults of every number, in ms and bytes. */
export const DEFAULTS = {
  maxRequestMessageBytes: 64 * 1024 * 1024,
  maxResponseMessageBytes: 64 * 1024 * 1024,
  maxHeaderBytes: 32 * 1024,
  maxCalls: 1024,
  maxConnections: 16,
  maxStreamsPerConnection: 100,
  connectTimeoutMs: 5000,
  connectionIdleMs: 300_000,
  idleTimeoutMs: 0,
  keepaliveIntervalMs: 30_000,
  keepaliveTimeoutMs: 10_000,
  drainTimeoutMs: 30_000,
} as const;

/** GatewayOptions with every default filled in and every address read. */
export interface GatewaySettings {
  readonly listen: UpstreamAddress;
  readonly defaultUpstream: string | undefined;
  /** Every upstream by its `host:port`, the default one included. */
  readonly upstreams: ReadonlyMap<string, UpstreamAddress>;
  readonly allow: ReadonlySet<string>;
  readonly tokens: readonly string[] | undefined;
  readonly tls: GatewayOptions["tls"];
  readonly upstreamSettings: UpstreamSettings;
  readonly maxRequestMessageBytes: number;
  readonly maxResponseMessageBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxCalls: number;
  readonly idleTimeoutMs: number;
  readonly log: Log;
}

/** Reads `host:port`, also `[v6]:port`. Throws with the name of the option on anything else. */
export function parseAddress(text: string, option: string): UpstreamAddress {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:/[\]]+)):(\d{1,5})$/.exec(text);
  const host = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  if (host === undefined || port > 65_535) {
    throw new Error(`${option}: "${text}" is not host:port`);
  }
  return { host, port };
}

/** Throws an Error that names the option when the options contradict each other. */
export function toSettings(options: GatewayOptions): GatewaySettings {
  const { upstream, allow = [], tokens, tls, upstreamTls } = options;
  if (upstream === undefined && allow.length === 0) {
    throw new Error("upstream: give the gRPC server's host:port");
  }
  const upstreams = new Map<string, UpstreamAddress>();
  for (const address of allow) {
    upstreams.set(address, parseAddress(address, "allow"));
  }
  if (upstream !== undefined) {
    upstreams.set(upstream, parseAddress(upstream, "upstream"));
  }
  checkCertificates("tls-cert", tls && { ...tls, ca: tls.clientCa });
  checkCertificates("upstream-tls", upstreamTls);
  const numbers = { ...DEFAULTS, ...options };
  return {
    listen: parseAddress(options.listen ?? "127.0.0.1:0", "listen"),
    defaultUpstream: upstream,
    upstreams,
    allow: new Set(allow),
    tokens,
    tls,
    upstreamSettings: {
      tls: upstreamTls,
      connectTimeoutMs: numbers.connectTimeoutMs,
      keepaliveIntervalMs: numbers.keepaliveIntervalMs,
      keepaliveTimeoutMs: numbers.keepaliveTimeoutMs,
      maxConnections: numbers.maxConnections,
      maxStreamsPerConnection: numbers.maxStreamsPerConnection,
      connectionIdleMs: numbers.connectionIdleMs,
      maxHeaderBytes: numbers.maxHeaderBytes,
    },
    maxRequestMessageBytes: numbers.maxRequestMessageBytes,
    maxResponseMessageBytes: numbers.maxResponseMessageBytes,
    maxHeaderBytes: numbers.maxHeaderBytes,
    maxCalls: numbers.maxCalls,
    idleTimeoutMs: numbers.idleTimeoutMs,
    log: options.log ?? createLog("silent", () => undefined),
  };
}

interface Certificates {
  readonly ca?: string | Buffer | undefined;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
}

/** Loads them once, so that a broken file is found at the start and not with the first connection. */
function checkCertificates(option: string, certificates: Certificates | undefined): void {
  try {
    const { ca, cert, key } = certificates ?? {};
    createSecureContext({ ca, cert, key });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${option}: certificate or key cannot be used (${reason})`, { cause: error });
  }
}
