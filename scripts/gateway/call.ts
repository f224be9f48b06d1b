import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { ClientHttp2Stream, IncomingHttpHeaders as Http2Headers } from "node:http2";
import { constants } from "node:http2";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";

import { Base64Decoder, Base64Encoder } from "./base64-stream.ts";
import type { FrameFault, Trailer } from "./frames.ts";
import { encodeTrailersFrame, MessageFramer } from "./frames.ts";
import type { GrpcWebType } from "./headers.ts";
import {
  grpcFormat,
  headerBlockBytes,
  parseGrpcTimeout,
  replyType,
  statusFields,
  toReplyHeaders,
  toTrailers,
  toUpstreamHeaders,
} from "./headers.ts";
import type { GrpcStatus } from "./status.ts";
import { encodeGrpcMessage, GRPC, statusFromHttp, statusFromReset } from "./status.ts";
import type { StreamLease, UpstreamPool } from "./upstream.ts";
import { UpstreamError } from "./upstream.ts";

/** What HTTP/1.1 and HTTP/2 requests of Node have in common, as far as it is used here. */
export interface DownstreamRequest extends Readable {
  readonly headers: IncomingHttpHeaders;
  readonly httpVersionMajor: number;
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly socket: Socket;
}

/** What HTTP/1.1 and HTTP/2 replies of Node have in common, as far as it is used here. */
export interface DownstreamResponse extends Writable {
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown;
  /** HTTP/2 replies send their headers at once and have no such method. */
  flushHeaders?(): void;
}

export interface CallOptions {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly requestType: GrpcWebType;
  /** Whether the reply is base64. */
  readonly replyText: boolean;
  readonly pool: UpstreamPool;
  /** True when `authorization` carried the gateway's own token. */
  readonly dropAuthorization: boolean;
  readonly maxRequestMessageBytes: number;
  readonly maxResponseMessageBytes: number;
  /** Names and values of the upstream's headers, or of its trailers. */
  readonly maxHeaderBytes: number;
  /** Silence of the upstream that ends a call, in ms; 0 for none. */
  readonly idleTimeoutMs: number;
  /** Called once, when the client has all of the reply or is gone. */
  readonly onDone: (record: CallRecord) => void;
}

/** What a call came to. */
export interface CallRecord {
  readonly path: string;
  readonly upstream: string;
  /** The gRPC status sent, or CANCELLED when the client left first. */
  readonly code: number;
  /** True when the client left before it had the whole reply. */
  readonly cancelled: boolean;
  /** Bytes of the bodies in gRPC framing, base64 not counted. */
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly responseMessages: number;
  readonly durationMs: number;
  /** From the start to the first bytes of a message; undefined when none came. */
  readonly firstMessageMs: number | undefined;
}

/** How long past its own deadline a call may go on: the upstream should report the deadline first. */
const DEADLINE_GRACE_MS = 500;

/** The longest timer Node has. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A request body that nobody wants is read and thrown away up to this size, so the client can get its reply. */
const DISCARD_BYTES = 16 * 1024 * 1024;

const FAULTS: Readonly<Record<FrameFault, (direction: "request" | "response") => GrpcStatus>> = {
  "message-too-large": (direction) => ({
    code: GRPC.RESOURCE_EXHAUSTED,
    message: `${direction} message is larger than the gateway's limit`,
  }),
  "unknown-flags": (direction) => ({
    code: direction === "request" ? GRPC.INVALID_ARGUMENT : GRPC.INTERNAL,
    message: `${direction} message has unknown flags`,
  }),
};

/** Reads a body that will not be used, and breaks the connection when it does not end. */
export function discardBody(request: DownstreamRequest): void {
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARD_BYTES) {
      request.destroy();
    }
  });
  request.on("error", () => undefined);
  request.resume();
}

/**
 * One call on its way through: a gRPC-Web request in, a gRPC stream out, and back.
 *
 * Nothing is collected: bytes are passed on as they come, each side is paused while the other is full, and at most one
 * small message a direction is kept (see MessageFramer). A reply is ended properly in exactly one of three ways: with the
 * upstream's trailers, with a status of our own, or by breaking the connection when it stops inside a message.
 */
export class Call {
  readonly #request: DownstreamRequest;
  readonly #response: DownstreamResponse;
  readonly #options: CallOptions;
  readonly #started = performance.now();
  readonly #requestFramer: MessageFramer;
  readonly #responseFramer: MessageFramer;
  readonly #decoder: Base64Decoder | undefined;
  readonly #encoder: Base64Encoder | undefined;
  #stream: ClientHttp2Stream | undefined;
  #lease: StreamLease | undefined;
  #deadlineTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  /** The reply's headers, from when the upstream sent its own. */
  #replyHeaders: OutgoingHttpHeaders | undefined;
  #headSent = false;
  /** A status that came in the headers: the reply is complete unless data follows. */
  #headStatus: readonly Trailer[] = [];
  #trailers: readonly Trailer[] | undefined;
  /** The status of the reply; once it is set, the upstream is done with. */
  #code: number | undefined;
  #requestBytes = 0;
  #responseBytes = 0;
  #firstMessageMs: number | undefined;
  /** HTTP/2 has its own way to say that a client left. */
  readonly #http1Socket: Socket | undefined;
  readonly #onSocketEnd = (): void => this.#clientLeft();

  constructor(request: DownstreamRequest, response: DownstreamResponse, options: CallOptions) {
    this.#request = request;
    this.#response = response;
    this.#options = options;
    this.#http1Socket = request.httpVersionMajor < 2 ? request.socket : undefined;
    this.#requestFramer = new MessageFramer(options.maxRequestMessageBytes);
    this.#responseFramer = new MessageFramer(options.maxResponseMessageBytes);
    this.#decoder = options.requestType.text ? new Base64Decoder() : undefined;
    this.#encoder = options.replyText ? new Base64Encoder() : undefined;
  }

  /** Bytes kept for this call in either direction, Node's own stream buffers included. */
  get bufferedBytes(): number {
    return (
      this.#requestFramer.heldBytes +
      this.#responseFramer.heldBytes +
      this.#request.readableLength +
      this.#response.writableLength +
      (this.#stream?.readableLength ?? 0) +
      (this.#stream?.writableLength ?? 0)
    );
  }

  async run(): Promise<void> {
    this.#response.once("close", () => this.#closed());
    this.#response.on("error", () => this.#clientLeft());
    this.#request.on("error", () => this.#clientLeft());
    // A client that sends FIN has left: a reply over HTTP/1.1 needs no half-open connection.
    this.#http1Socket?.once("end", this.#onSocketEnd);
    this.#startDeadline();
    try {
      const lease = await this.#options.pool.acquire();
      this.#open(lease);
    } catch (error) {
      const message = error instanceof UpstreamError ? error.message : "upstream call failed";
      this.fail({ code: GRPC.UNAVAILABLE, message });
    }
  }

  /** Ends the call with a status of the gateway's own. Has no effect on a call that has its status. */
  fail(status: GrpcStatus): void {
    if (this.#code !== undefined) {
      return;
    }
    this.#settle(status.code);
    discardBody(this.#request);
    this.#reply([
      ["grpc-status", String(status.code)],
      ["grpc-message", encodeGrpcMessage(status.message)],
    ]);
  }

  #startDeadline(): void {
    const timeoutMs = parseGrpcTimeout(this.#request.headers["grpc-timeout"]);
    if (timeoutMs !== undefined) {
      this.#deadlineTimer = setTimeout(
        () => this.fail({ code: GRPC.DEADLINE_EXCEEDED, message: "deadline exceeded" }),
        Math.min(timeoutMs + DEADLINE_GRACE_MS, MAX_TIMER_MS),
      );
    }
  }

  #open(lease: StreamLease): void {
    if (this.#code !== undefined) {
      lease.release();
      return;
    }
    const { pool, path, requestType, dropAuthorization, idleTimeoutMs } = this.#options;
    const headers = toUpstreamHeaders(this.#request.headers, {
      path,
      authority: pool.authority,
      scheme: pool.scheme,
      format: requestType.format,
      dropAuthorization,
    });
    try {
      this.#stream = lease.session.request(headers, { endStream: false });
    } catch (error) {
      lease.release();
      throw error;
    }
    this.#lease = lease;
    this.#stream.once("close", () => lease.release());
    if (idleTimeoutMs > 0) {
      this.#idleTimer = setTimeout(() => this.#checkIdle(), idleTimeoutMs);
    }
    this.#readUpstream(this.#stream);
    this.#readDownstream(this.#stream);
  }

  #readUpstream(stream: ClientHttp2Stream): void {
    stream.on("response", (headers) => this.#onHeaders(headers));
    stream.on("data", (chunk: Buffer) => this.#onData(chunk, stream));
    stream.on("trailers", (headers) => {
      if (this.#acceptBlock(headers)) {
        this.#trailers = toTrailers(headers);
      }
    });
    stream.once("end", () => this.#onUpstreamEnd(stream));
    stream.once("close", () => this.#onUpstreamEnd(stream));
    // The reason is asked for at `close`, which follows.
    stream.on("error", () => undefined);
    this.#response.on("drain", () => stream.resume());
  }

  #readDownstream(stream: ClientHttp2Stream): void {
    this.#request.on("data", (chunk: Buffer) => this.#onRequestData(chunk, stream));
    this.#request.once("end", () => this.#onRequestEnd(stream));
    stream.on("drain", () => this.#request.resume());
  }

  #onRequestData(chunk: Buffer, stream: ClientHttp2Stream): void {
    if (this.#code !== undefined) {
      return;
    }
    this.#idleTimer?.refresh();
    const bytes = this.#decoder === undefined ? chunk : this.#decoder.push(chunk);
    if (bytes === undefined) {
      this.fail({ code: GRPC.INVALID_ARGUMENT, message: "request body is not base64" });
      return;
    }
    this.#requestBytes += bytes.length;
    const { pieces, fault } = this.#requestFramer.push(bytes);
    if (fault !== undefined) {
      this.fail(FAULTS[fault]("request"));
      return;
    }
    if (pieces.length > 0 && !stream.write(join(pieces))) {
      this.#request.pause();
    }
  }

  #onRequestEnd(stream: ClientHttp2Stream): void {
    if (this.#code !== undefined) {
      return;
    }
    if (this.#requestFramer.complete && this.#decoder?.complete !== false) {
      stream.end();
      return;
    }
    this.fail({ code: GRPC.INVALID_ARGUMENT, message: "request body ends inside a message" });
  }

  /** HTTP/2 makes a limit on headers advisory until the peer has confirmed it, so it is checked here as well. */
  #acceptBlock(headers: Http2Headers): boolean {
    if (headerBlockBytes(headers) <= this.#options.maxHeaderBytes) {
      return true;
    }
    const message = "response headers are larger than the gateway's limit";
    this.fail({ code: GRPC.RESOURCE_EXHAUSTED, message });
    return false;
  }

  #onHeaders(headers: Http2Headers): void {
    if (this.#code !== undefined || !this.#acceptBlock(headers)) {
      return;
    }
    this.#heard();
    const httpStatus = Number(headers[":status"]);
    const format = grpcFormat(headers["content-type"]);
    this.#headStatus = statusFields(headers);
    if (this.#headStatus.length === 0 && (httpStatus !== 200 || format === null)) {
      this.fail({
        code: statusFromHttp(httpStatus),
        message: `upstream answered HTTP ${httpStatus}${format === null ? ", which is not gRPC" : ""}`,
      });
      return;
    }
    const { replyText, requestType } = this.#options;
    const contentType = replyType(replyText, format ?? requestType.format);
    this.#replyHeaders = toReplyHeaders(headers, contentType);
    if (this.#headStatus.length === 0) {
      this.#sendHead();
    }
  }

  #onData(chunk: Buffer, stream: ClientHttp2Stream): void {
    if (this.#code !== undefined) {
      return;
    }
    this.#heard();
    const { pieces, fault } = this.#responseFramer.push(chunk);
    if (pieces.length > 0) {
      this.#firstMessageMs ??= performance.now() - this.#started;
      this.#sendHead();
      if (!this.#write(join(pieces))) {
        stream.pause();
      }
    }
    if (fault !== undefined) {
      this.fail(FAULTS[fault]("response"));
    }
  }

  /** The upstream said all it will say: with trailers, or cut off. */
  #onUpstreamEnd(stream: ClientHttp2Stream): void {
    if (this.#code !== undefined) {
      return;
    }
    const trailers = this.#trailers ?? (this.#headStatus.length > 0 ? this.#headStatus : undefined);
    if (trailers === undefined) {
      this.fail(this.#breakStatus(stream));
      return;
    }
    const code = Number(trailers.find(([name]) => name === "grpc-status")?.[1] ?? GRPC.UNKNOWN);
    if (code === GRPC.OK && !(this.#responseFramer.complete && stream.readableEnded)) {
      this.fail({ code: GRPC.INTERNAL, message: "upstream ended inside a message" });
      return;
    }
    const stated = trailers.some(([name]) => name === "grpc-status");
    this.#settle(code);
    discardBody(this.#request);
    this.#reply(stated ? trailers : [["grpc-status", String(GRPC.UNKNOWN)], ...trailers]);
  }

  #breakStatus(stream: ClientHttp2Stream): GrpcStatus {
    const fault = this.#lease?.connectionFault();
    return fault === undefined
      ? statusFromReset(stream.rstCode)
      : { code: GRPC.UNAVAILABLE, message: fault };
  }

  #heard(): void {
    this.#lease?.heard();
    this.#idleTimer?.refresh();
  }

  #checkIdle(): void {
    // While the client reads too slowly the upstream is held back by us, which is no silence of its own.
    if (this.#stream?.isPaused() === true) {
      this.#idleTimer?.refresh();
      return;
    }
    this.fail({ code: GRPC.DEADLINE_EXCEEDED, message: "upstream sent nothing for too long" });
  }

  #sendHead(): void {
    if (!this.#headSent) {
      this.#headSent = true;
      this.#response.writeHead(200, this.#replyHeaders ?? {});
      this.#response.flushHeaders?.();
    }
  }

  #write(bytes: Buffer): boolean {
    this.#responseBytes += bytes.length;
    const body = this.#encoder?.push(bytes, this.#responseFramer.atBoundary) ?? bytes;
    return body.length === 0 || this.#response.write(body);
  }

  /** Ends the reply with these trailers: in its headers when nothing was sent, else in a last frame. */
  #reply(trailers: readonly Trailer[]): void {
    if (!this.#headSent) {
      this.#headSent = true;
      const { replyText, requestType } = this.#options;
      this.#response.writeHead(200, {
        "content-type": replyType(replyText, requestType.format),
        ...this.#replyHeaders,
        ...Object.fromEntries(trailers),
        "content-length": "0",
      });
      this.#response.end();
      return;
    }
    if (!this.#responseFramer.atBoundary) {
      // Part of a message is out, so a trailers frame would be read as the rest of it.
      this.#response.destroy(new Error("the reply broke off inside a message"));
      return;
    }
    const frame = encodeTrailersFrame(trailers);
    this.#responseBytes += frame.length;
    this.#response.end(this.#encoder?.push(frame, true) ?? frame);
  }

  #settle(code: number): void {
    this.#code = code;
    clearTimeout(this.#deadlineTimer);
    clearTimeout(this.#idleTimer);
    const stream = this.#stream;
    if (stream !== undefined && !(stream.readableEnded && stream.writableFinished)) {
      // The upstream stops working for a stream that is reset.
      stream.close(constants.NGHTTP2_CANCEL);
      stream.resume();
    }
  }

  #clientLeft(): void {
    if (this.#code === undefined) {
      this.#settle(GRPC.CANCELLED);
      this.#response.destroy();
    }
  }

  #closed(): void {
    const cancelled = !this.#response.writableFinished;
    this.#clientLeft();
    this.#http1Socket?.off("end", this.#onSocketEnd);
    this.#options.onDone({
      path: this.#options.path,
      upstream: this.#options.pool.authority,
      code: this.#code ?? GRPC.UNKNOWN,
      cancelled,
      requestBytes: this.#requestBytes,
      responseBytes: this.#responseBytes,
      responseMessages: this.#responseFramer.messages,
      durationMs: performance.now() - this.#started,
      firstMessageMs: this.#firstMessageMs,
    });
  }
}

function join(pieces: readonly Buffer[]): Buffer {
  const [first, ...rest] = pieces;
  return first !== undefined && rest.length === 0 ? first : Buffer.concat(pieces);
}
