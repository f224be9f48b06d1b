import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

import type { EngineFetch } from "./engine-fetch.ts";
import type { EngineMessage } from "./engine-message.ts";
import {
  COMPRESSED_FLAG,
  encodeEnvelope,
  EnvelopeDecoder,
  EnvelopeTooLargeError,
  parseTrailers,
  readStatus,
  TRAILER_FLAG,
  type Envelope,
} from "./envelope.ts";
import { ProtocolError } from "./errors.ts";
import {
  GenerateRequestSchema,
  GenerateResponseSchema,
  type GenerateRequest,
} from "./gen/sglang_scheduler_pb.ts";
import { toEngineMessage } from "./generate-call.ts";

/** gRPC status of an HTTP status that the gateway itself gave. */
const CODE_OF_HTTP_STATUS: Readonly<Record<number, Code>> = {
  400: Code.Internal,
  401: Code.Unauthenticated,
  403: Code.PermissionDenied,
  404: Code.Unimplemented,
  413: Code.ResourceExhausted,
  429: Code.Unavailable,
  502: Code.Unavailable,
  503: Code.Unavailable,
  504: Code.DeadlineExceeded,
};

/**
 * A running Generate call. Each step is what one read of the network brought: one read, one step. Connect's own client
 * would take several more asynchronous steps for each message (docs/benchmarks.md); all other calls go through it.
 */
export interface GenerateStream {
  /**
   * The messages of the next read that brings any; null when the call has ended well. Rejects with ConnectError with the
   * call's status, also for a reply that is not gRPC-Web, that is compressed, or that ends without trailers. The call
   * starts with the first `next`; one `next` at a time.
   */
  next(): Promise<readonly EngineMessage[] | null>;
  /** Lets go of the connection. Idempotent. */
  cancel(): void;
}

/** The call also ends when `signal` aborts. */
export function openGenerateStream(
  engineFetch: EngineFetch,
  request: GenerateRequest,
  signal: AbortSignal,
): GenerateStream {
  return new WebStream(() =>
    engineFetch("/sglang.grpc.scheduler.SglangScheduler/Generate", {
      method: "POST",
      headers: { "content-type": "application/grpc-web+proto", "x-grpc-web": "1" },
      body: encodeEnvelope(toBinary(GenerateRequestSchema, request)),
      signal,
    }),
  );
}

class WebStream implements GenerateStream {
  readonly #call: () => Promise<Response>;
  readonly #decoder = new EnvelopeDecoder();
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  /** The status came, perhaps together with the last messages. */
  #status: Step["status"] = null;

  constructor(call: () => Promise<Response>) {
    this.#call = call;
  }

  async next(): Promise<readonly EngineMessage[] | null> {
    try {
      const reader = (this.#reader ??= await this.#open());
      while (this.#status === null) {
        const read = await reader.read();
        if (read.done) throw new ConnectError("the reply ended without trailers", Code.Unavailable);
        const { messages, status } = decodeStep(this.#decoder, read.value);
        this.#status = status;
        if (messages.length > 0) return messages;
      }
    } catch (error) {
      this.cancel();
      throw error;
    }
    if (this.#status.code !== 0) throw toConnectError(this.#status);
    return null;
  }

  cancel(): void {
    // Nothing may be left open: an engine call that nobody reads keeps a GPU busy.
    if (this.#status === null) void this.#reader?.cancel().catch(() => undefined);
  }

  async #open(): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    const response = await this.#call();
    checkHead(response);
    if (response.body === null) throw new ConnectError("reply without a body", Code.Unavailable);
    return response.body.getReader();
  }
}

interface Step {
  readonly messages: readonly EngineMessage[];
  readonly status: { readonly code: number; readonly message: string } | null;
}

function decodeStep(decoder: EnvelopeDecoder, chunk: Uint8Array): Step {
  const messages: EngineMessage[] = [];
  for (const envelope of pushChunk(decoder, chunk)) {
    if ((envelope.flags & COMPRESSED_FLAG) !== 0) {
      throw new ProtocolError("a compressed message, which was not asked for");
    }
    if ((envelope.flags & TRAILER_FLAG) !== 0) {
      const trailers = parseTrailers(envelope.data);
      const status = readStatus((name) => trailers.get(name));
      return {
        messages,
        status: status ?? { code: Code.Unknown, message: "trailers without a status" },
      };
    }
    const message = parseMessage(envelope.data);
    if (message !== null) messages.push(message);
  }
  return { messages, status: null };
}

function pushChunk(decoder: EnvelopeDecoder, chunk: Uint8Array): Envelope[] {
  try {
    return decoder.push(chunk);
  } catch (error) {
    if (!(error instanceof EnvelopeTooLargeError)) throw error;
    throw new ProtocolError("broken frames", { cause: error });
  }
}

function parseMessage(data: Uint8Array): EngineMessage | null {
  try {
    return toEngineMessage(fromBinary(GenerateResponseSchema, data));
  } catch (error) {
    throw new ProtocolError("a message that cannot be decoded", { cause: error });
  }
}

function toConnectError({ code, message }: { readonly code: number; readonly message: string }) {
  return new ConnectError(message, isCode(code) ? code : Code.Unknown);
}

function isCode(code: number): code is Code {
  return code in Code;
}

/** Statuses that come with the headers: HTTP errors of the gateway and trailers-only replies. */
function checkHead(response: Response): void {
  const status = readStatus((name) => response.headers.get(name));
  if (status !== null && status.code !== 0) throw toConnectError(status);
  if (!response.ok) {
    throw new ConnectError(
      `HTTP ${response.status} from the gateway`,
      CODE_OF_HTTP_STATUS[response.status] ?? Code.Unknown,
    );
  }
}
