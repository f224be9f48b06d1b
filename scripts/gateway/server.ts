import type { OutgoingHttpHeaders } from "node:http";
import { createServer } from "node:http";
import type { ServerHttp2Session } from "node:http2";
import { createSecureServer } from "node:http2";
import type { Server, Socket } from "node:net";

import { TokenSet } from "./auth.ts";
import type { CallRecord, DownstreamRequest, DownstreamResponse } from "./call.ts";
import { Call, discardBody } from "./call.ts";
import { parseGrpcWebType, wantsText, WORKER_HEADER } from "./headers.ts";
import type { Log } from "./log.ts";
import type { GatewayOptions, GatewaySettings } from "./settings.ts";
import { toSettings } from "./settings.ts";
import type { GrpcCode, GrpcStatus } from "./status.ts";
import { encodeGrpcMessage, GRPC, statusName } from "./status.ts";
import { UpstreamPool } from "./upstream.ts";

export type { GatewayOptions } from "./settings.ts";

interface GatewayStats {
  readonly draining: boolean;
  /** Calls whose reply is not yet complete. */
  readonly activeCalls: number;
  readonly totalCalls: number;
  /** Calls that the client left. */
  readonly cancelledCalls: number;
  /** Requests refused before they became a call: no token, wrong path or type, draining, too many. */
  readonly refusedRequests: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** Bytes held at this moment for all calls, Node's stream buffers included. */
  readonly bufferedBytes: number;
  /** Open connections to upstreams. */
  readonly upstreamConnections: number;
}

export interface Gateway {
  readonly port: number;
  /** `http://host:port` or `https://host:port`, with the address it listens on. */
  readonly url: string;
  stats(): GatewayStats;
  /** Replaces the accepted tokens. Refuses everything when there are none. */
  setTokens(tokens: readonly string[]): void;
  /** Replaces the certificate of new TLS connections. */
  setCertificate(certificate: {
    readonly cert: string | Buffer;
    readonly key: string | Buffer;
  }): void;
  /** Goes out of service gently (see DrainOptions), then closes. A second call returns the first one's promise. */
  drain(options: DrainOptions): Promise<void>;
  /** Ends every call at once and closes. */
  close(): Promise<void>;
}

/**
 * A drain has two parts. For `delayMs` the health checks fail but calls are still taken, so that balancers can look away
 * first. Then nothing new is taken, the running calls get up to `timeoutMs`, and what is left ends as UNAVAILABLE.
 */
interface DrainOptions {
  readonly delayMs?: number;
  readonly timeoutMs: number;
}

/** The answer to a request that does not become a call. */
interface Refusal extends GrpcStatus {
  readonly httpStatus: number;
  readonly headers?: OutgoingHttpHeaders;
}

/** Starts a gateway and resolves when it listens. Rejects when the options contradict each other or the port is taken. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const settings = toSettings(options);
  const gateway = new GatewayServer(settings);
  await gateway.listen();
  return gateway;
}

const METHOD_PATH = /^\/[\w.-]{1,200}\/[\w.-]{1,200}$/;

/** Longer than the idle time of the clients' pools, so that they and not we close an idle connection. */
const KEEP_ALIVE_MS = 120_000;

/** How long a drain waits after its timeout for the last replies to leave. */
const FLUSH_MS = 1000;

class GatewayServer implements Gateway {
  readonly #settings: GatewaySettings;
  readonly #log: Log;
  readonly #server: Server;
  readonly #replaceCertificate: ((cert: string | Buffer, key: string | Buffer) => void) | undefined;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #pools: ReadonlyMap<string, UpstreamPool>;
  readonly #tokens: TokenSet | undefined;
  readonly #calls = new Set<Call>();
  readonly #totals = { calls: 0, cancelled: 0, refused: 0, requestBytes: 0, responseBytes: 0 };
  #whenNoCalls: (() => void) | undefined;
  /** Health checks fail. */
  #draining = false;
  /** New calls are refused. */
  #refusing = false;
  /** Resolved by `close`, which waits for nothing. */
  readonly #hurry = Promise.withResolvers<void>();
  #closing: Promise<void> | undefined;

  constructor(settings: GatewaySettings) {
    this.#settings = settings;
    this.#log = settings.log;
    this.#tokens = settings.tokens === undefined ? undefined : new TokenSet(settings.tokens);
    this.#pools = new Map(
      [...settings.upstreams].map(([name, address]) => [
        name,
        new UpstreamPool(address, settings.upstreamSettings, settings.log),
      ]),
    );
    const { server, replaceCertificate } = this.#createServer();
    this.#server = server;
    this.#replaceCertificate = replaceCertificate;
  }

  #createServer(): {
    server: Server;
    replaceCertificate?: (cert: string | Buffer, key: string | Buffer) => void;
  } {
    const { tls, maxHeaderBytes } = this.#settings;
    const handle = (request: DownstreamRequest, response: DownstreamResponse): void =>
      this.#handle(request, response);
    if (tls === undefined) {
      const server = createServer(
        { maxHeaderSize: maxHeaderBytes, keepAlive: true, keepAliveTimeout: KEEP_ALIVE_MS },
        handle,
      );
      server.on("connection", (socket) => this.#track(socket));
      return { server };
    }
    const server = createSecureServer(
      {
        allowHTTP1: true,
        cert: tls.cert,
        key: tls.key,
        settings: { maxHeaderListSize: maxHeaderBytes },
        ...(tls.clientCa !== undefined && {
          ca: tls.clientCa,
          requestCert: true,
          rejectUnauthorized: true,
        }),
      },
      handle,
    );
    server.on("secureConnection", (socket) => this.#track(socket));
    server.on("session", (session) => {
      this.#sessions.add(session);
      session.on("close", () => this.#sessions.delete(session));
    });
    // HTTP/1.1 connections of a secure server take these from the server object, as a plain server's do.
    Object.assign(server, { keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: maxHeaderBytes });
    return {
      server,
      replaceCertificate: (cert, key) => server.setSecureContext({ ...tls, cert, key }),
    };
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => undefined);
  }

  async listen(): Promise<void> {
    const { host, port } = this.#settings.listen;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once("error", reject);
    this.#server.listen({ host, port }, () => {
      this.#server.off("error", reject);
      resolve();
    });
    await promise;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  get url(): string {
    const { listen, tls } = this.#settings;
    const host = listen.host.includes(":") ? `[${listen.host}]` : listen.host;
    return `${tls === undefined ? "http" : "https"}://${host}:${this.port}`;
  }

  stats(): GatewayStats {
    const { calls, cancelled, refused, requestBytes, responseBytes } = this.#totals;
    let bufferedBytes = 0;
    for (const call of this.#calls) {
      bufferedBytes += call.bufferedBytes;
    }
    let upstreamConnections = 0;
    for (const pool of this.#pools.values()) {
      upstreamConnections += pool.connections;
    }
    return {
      draining: this.#draining,
      activeCalls: this.#calls.size,
      totalCalls: calls,
      cancelledCalls: cancelled,
      refusedRequests: refused,
      requestBytes,
      responseBytes,
      bufferedBytes,
      upstreamConnections,
    };
  }

  setTokens(tokens: readonly string[]): void {
    this.#tokens?.replace(tokens);
  }

  setCertificate(certificate: { cert: string | Buffer; key: string | Buffer }): void {
    this.#replaceCertificate?.(certificate.cert, certificate.key);
  }

  async drain({ delayMs = 0, timeoutMs }: DrainOptions): Promise<void> {
    this.#draining = true;
    this.#closing ??= this.#drainAndClose(delayMs, timeoutMs);
    return this.#closing;
  }

  async close(): Promise<void> {
    this.#draining = true;
    this.#failCalls();
    this.#closing ??= this.#shutDown(0);
    // Cuts a drain short that is under way.
    this.#hurry.resolve();
    return this.#closing;
  }

  async #drainAndClose(delayMs: number, timeoutMs: number): Promise<void> {
    this.#log("info", "drain", { activeCalls: this.#calls.size, delayMs, timeoutMs });
    if (delayMs > 0) {
      await this.#wait(this.#hurry.promise, delayMs);
    }
    await this.#shutDown(timeoutMs);
  }

  async #shutDown(timeoutMs: number): Promise<void> {
    this.#refusing = true;
    const closed = Promise.withResolvers<void>();
    this.#server.close(() => closed.resolve());
    for (const session of this.#sessions) {
      session.close();
    }
    await this.#wait(Promise.race([this.#noCalls(), this.#hurry.promise]), timeoutMs);
    this.#failCalls();
    await this.#wait(this.#noCalls(), FLUSH_MS);
    for (const socket of this.#sockets) {
      socket.destroySoon();
    }
    for (const pool of this.#pools.values()) {
      pool.close();
    }
    await closed.promise;
  }

  /** Waits for the promise, but no longer than this. */
  async #wait(promise: Promise<void>, timeoutMs: number): Promise<void> {
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, timeoutMs);
    await Promise.race([promise, timeout.promise]);
    clearTimeout(timer);
  }

  #failCalls(): void {
    for (const call of this.#calls) {
      call.fail({ code: GRPC.UNAVAILABLE, message: "gateway is shutting down" });
    }
  }

  async #noCalls(): Promise<void> {
    if (this.#calls.size > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#whenNoCalls = resolve;
      await promise;
    }
  }

  #handle(request: DownstreamRequest, response: DownstreamResponse): void {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    if (request.method === "GET" && (path === "/healthz" || path === "/readyz")) {
      void this.#answerHealth(path, response);
      return;
    }
    const admitted = this.#admit(request, path);
    if ("httpStatus" in admitted) {
      this.#refuse(request, response, admitted);
      return;
    }
    this.#startCall(request, response, { path, ...admitted });
  }

  #startCall(
    request: DownstreamRequest,
    response: DownstreamResponse,
    admitted: Admitted & { readonly path: string },
  ): void {
    const requestId = request.headers["x-request-id"];
    const call: Call = new Call(request, response, {
      ...admitted,
      maxRequestMessageBytes: this.#settings.maxRequestMessageBytes,
      maxResponseMessageBytes: this.#settings.maxResponseMessageBytes,
      maxHeaderBytes: this.#settings.maxHeaderBytes,
      idleTimeoutMs: this.#settings.idleTimeoutMs,
      onDone: (record) => this.#callDone(call, record, saneRequestId(requestId)),
    });
    this.#calls.add(call);
    this.#totals.calls += 1;
    void call.run();
  }

  #callDone(call: Call, record: CallRecord, requestId: string | undefined): void {
    this.#calls.delete(call);
    this.#totals.cancelled += record.cancelled ? 1 : 0;
    this.#totals.requestBytes += record.requestBytes;
    this.#totals.responseBytes += record.responseBytes;
    const { path, upstream, code, cancelled, requestBytes, responseBytes, responseMessages } =
      record;
    const faults: readonly number[] = [
      GRPC.UNKNOWN,
      GRPC.INTERNAL,
      GRPC.UNAVAILABLE,
      GRPC.DATA_LOSS,
    ];
    this.#log(faults.includes(code) ? "warn" : "info", "call", {
      path,
      status: statusName(code),
      httpStatus: 200,
      cancelled,
      requestBytes,
      responseBytes,
      responseMessages,
      durationMs: Math.round(record.durationMs),
      firstMessageMs: record.firstMessageMs && Math.round(record.firstMessageMs),
      upstream,
      requestId,
    });
    if (this.#calls.size === 0) {
      this.#whenNoCalls?.();
    }
  }

  /** Decides whether a request becomes a call. The token comes first: without it nothing is told about the rest. */
  #admit(request: DownstreamRequest, path: string): Admitted | Refusal {
    const auth = this.#tokens?.check(request.headers);
    if (auth === "refused") {
      return refusal(401, GRPC.UNAUTHENTICATED, "gateway token is missing or wrong", {
        "www-authenticate": "Bearer",
      });
    }
    if (!METHOD_PATH.test(path)) {
      return refusal(404, GRPC.UNIMPLEMENTED, "path is not /package.Service/Method");
    }
    if (request.method !== "POST") {
      return refusal(405, GRPC.UNIMPLEMENTED, "method is not POST", { allow: "POST" });
    }
    const requestType = parseGrpcWebType(request.headers["content-type"]);
    if (requestType === undefined) {
      return refusal(415, GRPC.INVALID_ARGUMENT, "content type is not application/grpc-web");
    }
    if (this.#refusing) {
      return refusal(503, GRPC.UNAVAILABLE, "gateway is shutting down", { connection: "close" });
    }
    if (this.#calls.size >= this.#settings.maxCalls) {
      return refusal(503, GRPC.UNAVAILABLE, "gateway has too many calls");
    }
    const pool = this.#route(request.headers[WORKER_HEADER]);
    if ("httpStatus" in pool) {
      return pool;
    }
    const replyText = wantsText(requestType, request.headers.accept);
    return { requestType, replyText, pool, dropAuthorization: auth === "authorization" };
  }

  #route(worker: string | string[] | undefined): UpstreamPool | Refusal {
    const name = worker === undefined ? this.#settings.defaultUpstream : String(worker);
    if (name === undefined) {
      return refusal(400, GRPC.INVALID_ARGUMENT, `header ${WORKER_HEADER} is missing`);
    }
    const pool = this.#pools.get(name);
    if (pool === undefined || (worker !== undefined && !this.#settings.allow.has(name))) {
      return refusal(403, GRPC.PERMISSION_DENIED, `${WORKER_HEADER} is not on the allow list`);
    }
    return pool;
  }

  #refuse(request: DownstreamRequest, response: DownstreamResponse, reason: Refusal): void {
    this.#totals.refused += 1;
    const { httpStatus, code, message, headers } = reason;
    this.#log("info", "refused", { httpStatus, status: statusName(code), reason: message });
    const { connection: _, ...http2Headers } = headers ?? {};
    response.on("error", () => undefined);
    response.writeHead(httpStatus, {
      "content-type": "text/plain; charset=utf-8",
      "grpc-status": String(code),
      "grpc-message": encodeGrpcMessage(message),
      ...(request.httpVersionMajor < 2 ? headers : http2Headers),
    });
    response.end(`${message}\n`);
    discardBody(request);
  }

  async #answerHealth(path: string, response: DownstreamResponse): Promise<void> {
    const status = this.#draining
      ? "draining"
      : path === "/healthz" || (await this.#reachable())
        ? "ok"
        : "upstream unreachable";
    response.on("error", () => undefined);
    response.writeHead(status === "ok" ? 200 : 503, {
      "content-type": "application/json",
      "cache-control": "no-store",
    });
    response.end(`${JSON.stringify({ status })}\n`);
  }

  /** With a default upstream, whether that one can be reached; else whether any can. */
  async #reachable(): Promise<boolean> {
    const { defaultUpstream } = this.#settings;
    const pool = defaultUpstream === undefined ? undefined : this.#pools.get(defaultUpstream);
    const pools = pool === undefined ? [...this.#pools.values()] : [pool];
    return Promise.any(pools.map((one) => one.checkReachable())).then(
      () => true,
      () => false,
    );
  }
}

interface Admitted {
  readonly requestType: NonNullable<ReturnType<typeof parseGrpcWebType>>;
  readonly replyText: boolean;
  readonly pool: UpstreamPool;
  readonly dropAuthorization: boolean;
}

function refusal(
  httpStatus: number,
  code: GrpcCode,
  message: string,
  headers: OutgoingHttpHeaders = {},
): Refusal {
  return { httpStatus, code, message, headers };
}

/** The client's request id for the log, when it is one: at most 128 harmless characters. */
function saneRequestId(value: string | string[] | undefined): string | undefined {
  return typeof value === "string" && /^[\w.-]{1,128}$/.test(value) ? value : undefined;
}
