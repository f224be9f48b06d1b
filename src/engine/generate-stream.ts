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
 * Runs the Generate call and yields, for each read of the network, all messages that came with it: one read, one step.
 * Throws ConnectError with the call's status; a reply that is not gRPC-Web, that is compressed, or that ends without
 * trailers is an error as well. Connect's own client would take several more asynchronous steps for each message
 * (docs/benchmarks.md); all other calls go through it.
 *
 * The call ends when `signal` aborts or the iterator is returned.
 */
export async function* generateStream(
  engineFetch: EngineFetch,
  request: GenerateRequest,
  signal: AbortSignal,
): AsyncGenerator<readonly EngineMessage[], void, undefined> {
  const response = await engineFetch("/sglang.grpc.scheduler.SglangScheduler/Generate", {
    method: "POST",
    headers: { "content-type": "application/grpc-web+proto", "x-grpc-web": "1" },
    body: encodeEnvelope(toBinary(GenerateRequestSchema, request)),
    signal,
  });
  checkHead(response);
  if (response.body === null) throw new ConnectError("reply without a body", Code.Unavailable);
  const reader = response.body.getReader();
  const decoder = new EnvelopeDecoder();
  let ended = false;
  try {
    for (;;) {
      const read = await reader.read();
      if (read.done) break;
      const step = decodeStep(decoder, read.value);
      if (step.messages.length > 0) yield step.messages;
      if (step.status === null) continue;
      ended = true;
      if (step.status.code !== 0) throw toConnectError(step.status);
      return;
    }
    throw new ConnectError("the reply ended without trailers", Code.Unavailable);
  } finally {
    // Nothing may be left open: an engine call that nobody reads keeps a GPU busy.
    if (!ended) void reader.cancel().catch(() => undefined);
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
