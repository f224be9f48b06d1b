import type { ClientHttp2Session } from "node:http2";
import { connect as connectHttp2, constants } from "node:http2";
import type { Socket } from "node:net";
import { connect as connectTcp } from "node:net";
import { connect as connectTls, TLSSocket } from "node:tls";

import type { Log } from "./log.ts";

/** TLS towards the upstream. Files' contents, not paths. */
export interface UpstreamTls {
  /** Certificate authorities to trust instead of the system's. */
  readonly ca?: string | Buffer;
  /** A client certificate with its key, for upstreams that ask for one. */
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  /** The name to ask for and to check, when it is not the host's. */
  readonly serverName?: string;
  /** Accepts any certificate. For trials only. */
  readonly insecure?: boolean;
}

export interface UpstreamAddress {
  readonly host: string;
  readonly port: number;
}

export interface UpstreamSettings {
  /** Undefined: HTTP/2 in the clear, with prior knowledge. */
  readonly tls: UpstreamTls | undefined;
  /** From the first packet to the upstream's HTTP/2 settings, in ms. */
  readonly connectTimeoutMs: number;
  /** Between pings while calls are open and nothing was heard, in ms; 0 for none. */
  readonly keepaliveIntervalMs: number;
  /** How long a ping may stay unanswered, in ms. */
  readonly keepaliveTimeoutMs: number;
  /** Connections to one upstream at a time. */
  readonly maxConnections: number;
  /** Calls on one connection; the upstream's own limit holds where it is lower. */
  readonly maxStreamsPerConnection: number;
  /** A connection without calls is closed after this long, so that names are resolved again; in ms. */
  readonly connectionIdleMs: number;
  /** Names and values of one header block, in bytes. */
  readonly maxHeaderBytes: number;
}

/** Why no connection could be had. The message is safe to show: it names no address. */
export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
}

/** The right to open one stream. `release` must be called once, when that stream is closed. */
export interface StreamLease {
  readonly session: ClientHttp2Session;
  /** Tells the keepalive that bytes came, so no ping is needed. */
  heard(): void;
  release(): void;
  /** Set when the connection itself broke, so that a stream's own error code means nothing. */
  connectionFault(): string | undefined;
}

/** TCP keepalive finds a dead host on connections that have no calls, and so no pings. */
const TCP_KEEPALIVE_MS = 30_000;

/** Node counts queued outgoing bytes against this and refuses new streams above it; in MB, a session. */
const SESSION_MEMORY_MB = 256;

/**
 * The connections to one upstream: opened when needed, shared by calls, left for good at a GOAWAY or a fault. Every new
 * connection resolves the name again. Calls that arrive while one is being opened wait for it together.
 */
export class UpstreamPool {
  readonly address: UpstreamAddress;
  readonly scheme: "http" | "https";
  readonly #settings: UpstreamSettings;
  readonly #log: Log;
  readonly #connections = new Set<Connection>();
  #opening: Promise<Connection> | undefined;
  #keepaliveIntervalMs: number;
  #closed = false;

  constructor(address: UpstreamAddress, settings: UpstreamSettings, log: Log) {
    this.address = address;
    this.scheme = settings.tls === undefined ? "http" : "https";
    this.#settings = settings;
    this.#log = log;
    this.#keepaliveIntervalMs = settings.keepaliveIntervalMs;
  }

  /** `host:port` as it stands in `:authority`. */
  get authority(): string {
    const { host, port } = this.address;
    return `${host.includes(":") ? `[${host}]` : host}:${port}`;
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** A place for one stream. Rejects with an UpstreamError. */
  async acquire(): Promise<StreamLease> {
    // Every round fills or opens one connection, so there are at most as many rounds as connections.
    for (let round = 0; round <= this.#settings.maxConnections; round += 1) {
      for (const connection of this.#connections) {
        const lease = connection.lease();
        if (lease !== undefined) {
          return lease;
        }
      }
      const live = [...this.#connections].filter((connection) => connection.usable).length;
      if (this.#opening === undefined && live >= this.#settings.maxConnections) {
        break;
      }
      await this.#open();
    }
    throw new UpstreamError("too many calls to the upstream");
  }

  /** Resolves when the upstream speaks HTTP/2 to us. Rejects with an UpstreamError. */
  async checkReachable(): Promise<void> {
    const connected = [...this.#connections].some((connection) => connection.usable);
    if (!connected) {
      await this.#open();
    }
  }

  /** Breaks every connection; calls on them fail. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#connections) {
      connection.destroy("gateway closed");
    }
    this.#connections.clear();
  }

  async #open(): Promise<Connection> {
    if (this.#closed) {
      throw new UpstreamError("gateway closed");
    }
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #connect(): Promise<Connection> {
    const started = performance.now();
    try {
      const { session, socket } = await openSession(this.address, this.#settings);
      const connection = new Connection({
        session,
        socket,
        settings: this.#settings,
        log: this.#log,
      });
      this.#watch(connection, session);
      return connection;
    } catch (error) {
      const reason = error instanceof UpstreamError ? error.message : String(error);
      this.#log("warn", "upstream-connect-failed", { upstream: this.authority, reason });
      throw error;
    } finally {
      const durationMs = Math.round(performance.now() - started);
      this.#log("debug", "upstream-connect", { upstream: this.authority, durationMs });
    }
  }

  #watch(connection: Connection, session: ClientHttp2Session): void {
    this.#connections.add(connection);
    connection.startKeepalive(this.#keepaliveIntervalMs);
    session.on("goaway", (errorCode) => {
      this.#log("info", "upstream-goaway", { upstream: this.authority, errorCode });
      if (errorCode === constants.NGHTTP2_ENHANCE_YOUR_CALM) {
        // What gRPC asks of a client that was told it pings too often.
        this.#keepaliveIntervalMs *= 2;
      }
    });
    session.on("close", () => {
      this.#connections.delete(connection);
      this.#log("debug", "upstream-disconnect", { upstream: this.authority });
    });
    if (this.#closed) {
      connection.destroy("gateway closed");
    }
  }
}

interface ConnectionParts {
  readonly session: ClientHttp2Session;
  readonly socket: Socket;
  readonly settings: UpstreamSettings;
  readonly log: Log;
}

/** One HTTP/2 connection with its count of calls and its timers. */
class Connection {
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #settings: UpstreamSettings;
  readonly #log: Log;
  #streams = 0;
  #retired = false;
  #fault: string | undefined;
  /** When bytes last came, in performance.now() time. */
  #heardAt = performance.now();
  #idleTimer: NodeJS.Timeout | undefined;
  #pingTimer: NodeJS.Timeout | undefined;
  #pingDeadline: NodeJS.Timeout | undefined;

  constructor(parts: ConnectionParts) {
    this.#session = parts.session;
    this.#socket = parts.socket;
    this.#settings = parts.settings;
    this.#log = parts.log;
    this.#session.on("goaway", () => {
      this.#retired = true;
    });
    this.#session.on("error", (error) => {
      this.#fault ??= describeFault(error);
    });
    this.#session.on("close", () => {
      this.#retired = true;
      clearTimeout(this.#idleTimer);
      clearInterval(this.#pingTimer);
      clearTimeout(this.#pingDeadline);
    });
    this.#watchIdle();
  }

  get usable(): boolean {
    return !this.#retired && !this.#session.closed && !this.#session.destroyed;
  }

  lease(): StreamLease | undefined {
    const { maxStreamsPerConnection } = this.#settings;
    const theirs = this.#session.remoteSettings.maxConcurrentStreams ?? maxStreamsPerConnection;
    if (!this.usable || this.#streams >= Math.min(theirs, maxStreamsPerConnection)) {
      return undefined;
    }
    this.#streams += 1;
    clearTimeout(this.#idleTimer);
    let released = false;
    return {
      session: this.#session,
      heard: () => {
        this.#heardAt = performance.now();
      },
      release: () => {
        if (!released) {
          released = true;
          this.#streams -= 1;
          this.#watchIdle();
        }
      },
      connectionFault: () => this.#connectionFault(),
    };
  }

  /** Pings while calls are open and silent; an unanswered ping breaks the connection. */
  startKeepalive(intervalMs: number): void {
    if (intervalMs === 0) {
      return;
    }
    this.#pingTimer = setInterval(() => {
      const silent = performance.now() - this.#heardAt >= intervalMs / 2;
      if (this.#streams > 0 && silent && this.#pingDeadline === undefined) {
        this.#ping();
      }
    }, intervalMs).unref();
  }

  destroy(fault: string): void {
    this.#fault ??= fault;
    this.#session.destroy(new UpstreamError(fault));
  }

  #ping(): void {
    this.#pingDeadline = setTimeout(() => {
      this.#log("warn", "upstream-ping-unanswered");
      this.destroy("upstream does not answer pings");
    }, this.#settings.keepaliveTimeoutMs).unref();
    this.#session.ping(() => {
      clearTimeout(this.#pingDeadline);
      this.#pingDeadline = undefined;
    });
  }

  #watchIdle(): void {
    if (this.#streams === 0 && this.usable) {
      this.#idleTimer = setTimeout(() => {
        this.#retired = true;
        this.#session.close();
      }, this.#settings.connectionIdleMs).unref();
    }
  }

  #connectionFault(): string | undefined {
    if (this.#fault !== undefined) {
      return this.#fault;
    }
    return this.#socket.destroyed || this.#session.destroyed
      ? "connection to the upstream was lost"
      : undefined;
  }
}

interface OpenedSession {
  readonly session: ClientHttp2Session;
  readonly socket: Socket;
}

/** Connects and waits for the peer's SETTINGS, the first thing every HTTP/2 server says. */
async function openSession(
  address: UpstreamAddress,
  settings: UpstreamSettings,
): Promise<OpenedSession> {
  const { promise, resolve, reject } = Promise.withResolvers<OpenedSession>();
  const socket = openSocket(address, settings.tls);
  // The authority given here is only a default; every call names its own.
  const session = connectHttp2("http://upstream.invalid", {
    createConnection: () => socket,
    maxSessionMemory: SESSION_MEMORY_MB,
    settings: { enablePush: false, maxHeaderListSize: settings.maxHeaderBytes },
  });
  const timer = setTimeout(() => {
    fail("connecting to the upstream took too long");
  }, settings.connectTimeoutMs);
  const fail = (reason: string): void => {
    clearTimeout(timer);
    reject(new UpstreamError(reason));
    session.destroy();
    socket.destroy();
  };
  // Stays for the whole life of the session: without a listener an error would end the process.
  session.on("error", (error) =>
    fail(`connecting to the upstream failed: ${describeFault(error)}`),
  );
  socket.on("error", (error) => fail(`connecting to the upstream failed: ${describeFault(error)}`));
  session.once("close", () => fail("upstream closed the connection at once"));
  session.once("connect", () => {
    if (socket instanceof TLSSocket && socket.alpnProtocol !== "h2") {
      fail("upstream did not agree on HTTP/2 (ALPN)");
    }
  });
  session.once("remoteSettings", () => {
    clearTimeout(timer);
    resolve({ session, socket });
  });
  return promise;
}

function openSocket({ host, port }: UpstreamAddress, tls: UpstreamTls | undefined): Socket {
  const common = {
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: TCP_KEEPALIVE_MS,
  };
  if (tls === undefined) {
    return connectTcp(common);
  }
  return connectTls({
    ...common,
    ALPNProtocols: ["h2"],
    // An address is not a name that TLS could ask for.
    ...(tls.serverName !== undefined && { servername: tls.serverName }),
    ...(tls.ca !== undefined && { ca: tls.ca }),
    ...(tls.cert !== undefined && { cert: tls.cert }),
    ...(tls.key !== undefined && { key: tls.key }),
    rejectUnauthorized: tls.insecure !== true,
  });
}

/** The code of a system or TLS error, which names no address; its class where there is none. */
function describeFault(error: unknown): string {
  if (error instanceof UpstreamError) {
    return error.message;
  }
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    return error.code;
  }
  return error instanceof Error ? error.name : "unknown error";
}
