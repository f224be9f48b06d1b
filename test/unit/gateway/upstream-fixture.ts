import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import { createSecureServer, createServer } from "node:http2";
import type { Server, Socket } from "node:net";
import { createServer as createTcpServer } from "node:net";

import type { ServiceImpl } from "@connectrpc/connect";
import { createClient } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { createGrpcWebTransport } from "@connectrpc/connect-web";

import type { Gateway, GatewayOptions } from "../../../scripts/gateway/server.ts";
import { startGateway } from "../../../scripts/gateway/server.ts";
import { SglangScheduler } from "../../../src/engine/gen/sglang_scheduler_pb.ts";

/** `onTestFinished` of the test's context: everything started here ends with the test. */
export type OnTestFinished = (cleanup: () => Promise<void> | void) => void;

/** The contents of a file in `certificates/`. */
export function certificate(name: string): string {
  return readFileSync(new URL(`certificates/${name}`, import.meta.url), "utf8");
}

export interface Upstream {
  /** `host:port`. */
  readonly address: string;
  readonly port: number;
  readonly sessions: ReadonlySet<ServerHttp2Session>;
  /** Breaks every connection, as a process that is killed does. */
  kill(): void;
}

type StreamHandler = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

export interface RawUpstreamOptions {
  readonly port?: number;
  /** Serves TLS with the server certificate; with `mutual` it asks for the client's. */
  readonly tls?: "server" | "mutual";
  readonly maxConcurrentStreams?: number;
}

/** An HTTP/2 server whose every stream is answered by `onStream`, byte for byte. */
export async function startRawUpstream(
  onTestFinished: OnTestFinished,
  onStream: StreamHandler,
  options: RawUpstreamOptions = {},
): Promise<Upstream> {
  const { maxConcurrentStreams } = options;
  const settings = maxConcurrentStreams === undefined ? {} : { maxConcurrentStreams };
  const server =
    options.tls === undefined
      ? createServer({ settings })
      : createSecureServer({
          settings,
          cert: certificate("server.pem"),
          key: certificate("server-key.pem"),
          ca: certificate("ca.pem"),
          requestCert: options.tls === "mutual",
          rejectUnauthorized: options.tls === "mutual",
        });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => undefined);
    onStream(stream, headers);
  });
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => undefined);
    session.on("close", () => sessions.delete(session));
  });
  const { port, kill } = await listen(onTestFinished, server, options.port);
  return { address: `127.0.0.1:${port}`, port, sessions, kill };
}

/** A gRPC server of the engine's own service, made with Connect. */
export async function startScheduler(
  onTestFinished: OnTestFinished,
  implementation: Partial<ServiceImpl<typeof SglangScheduler>>,
): Promise<string> {
  const server = createServer(
    connectNodeAdapter({
      routes: (router) => {
        router.service(SglangScheduler, implementation);
      },
    }),
  );
  const { port } = await listen(onTestFinished, server);
  return `127.0.0.1:${port}`;
}

/** A TCP server that is no HTTP/2 server. */
export async function startTcpServer(
  onTestFinished: OnTestFinished,
  onSocket: (socket: Socket) => void,
): Promise<string> {
  const { port } = await listen(onTestFinished, createTcpServer(onSocket));
  return `127.0.0.1:${port}`;
}

async function listen(
  onTestFinished: OnTestFinished,
  server: Server,
  port = 0,
): Promise<{ port: number; kill: () => void }> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
  };
  server.on("connection", track);
  server.on("tlsClientError", () => undefined);
  const kill = (): void => {
    for (const socket of sockets) {
      socket.destroy();
    }
  };
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(port, "127.0.0.1", resolve);
  await promise;
  onTestFinished(() => {
    server.close();
    kill();
  });
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, kill };
}

export async function gatewayFor(
  onTestFinished: OnTestFinished,
  options: GatewayOptions,
): Promise<Gateway> {
  const gateway = await startGateway(options);
  onTestFinished(async () => gateway.close());
  return gateway;
}

/** The scheduler's client as browsers and edges have it: gRPC-Web over fetch. */
export function schedulerClient(gateway: Gateway, headers: Readonly<Record<string, string>> = {}) {
  return createClient(
    SglangScheduler,
    createGrpcWebTransport({
      baseUrl: gateway.url,
      interceptors: [
        (next) => async (request) => {
          for (const [name, value] of Object.entries(headers)) {
            request.header.set(name, value);
          }
          return next(request);
        },
      ],
    }),
  );
}

/** A message in gRPC's framing. */
export function frame(payload: string | Uint8Array, flags = 0): Buffer {
  const body = Buffer.from(payload);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(flags, 0);
  prefix.writeUInt32BE(body.length, 1);
  return Buffer.concat([prefix, body]);
}

export interface Reply {
  readonly httpStatus: number;
  readonly headers: Headers;
  readonly body: Buffer;
  /** Payloads of the message frames. */
  readonly messages: readonly string[];
  /** The lines of the trailers frame; undefined when there is none. */
  readonly trailers: Readonly<Record<string, string>> | undefined;
}

export const METHOD_PATH = "/test.Service/Method";

/** Sends one gRPC-Web request and reads the reply to its end. Rejects when the connection breaks. */
export async function callRaw(
  gateway: Gateway,
  body: Uint8Array<ArrayBuffer> = Buffer.from(frame("hello")),
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> {
  const response = await fetch(`${gateway.url}${METHOD_PATH}`, {
    method: "POST",
    headers: { "content-type": "application/grpc-web+proto", ...headers },
    body,
  });
  return readReply(response);
}

export async function readReply(response: Response): Promise<Reply> {
  const raw = Buffer.from(await response.arrayBuffer());
  const text = response.headers.get("content-type")?.startsWith("application/grpc-web-text");
  const body = text === true ? decodeText(raw) : raw;
  return {
    httpStatus: response.status,
    headers: response.headers,
    body: raw,
    ...(response.ok ? splitFrames(body) : { messages: [], trailers: undefined }),
  };
}

/** Decodes padded base64 texts that stand one after the other. */
function decodeText(raw: Buffer): Buffer {
  const groups = raw.toString("latin1").match(/.{4}/gs) ?? [];
  return Buffer.concat(groups.map((group) => Buffer.from(group, "base64")));
}

function splitFrames(body: Buffer): Pick<Reply, "messages" | "trailers"> {
  const messages: string[] = [];
  let trailers: Record<string, string> | undefined;
  let position = 0;
  while (position < body.length) {
    const length = body.readUInt32BE(position + 1);
    const payload = body.toString("latin1", position + 5, position + 5 + length);
    if (body.readUInt8(position) === 0x80) {
      trailers = Object.fromEntries(
        payload.split("\r\n").flatMap((line) => {
          const colon = line.indexOf(":");
          return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1)]] : [];
        }),
      );
    } else {
      messages.push(payload);
    }
    position += 5 + length;
  }
  return { messages, trailers };
}

/** Headers of a gRPC reply. */
export const GRPC_REPLY = { ":status": 200, "content-type": "application/grpc+proto" } as const;

/** Answers OK with these bytes as the body. */
export function answer(stream: ServerHttp2Stream, body: Uint8Array): void {
  stream.respond(GRPC_REPLY, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(body);
}

/** Resolves when the condition holds; rejects after two seconds. For states that no event tells. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 2000;
  while (!condition()) {
    if (performance.now() > deadline) {
      throw new Error(`not within two seconds: ${what}`);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}
