import type { EngineFetch } from "./engine-fetch.ts";
import { EnvelopeDecoder, EnvelopeTooLargeError, TRAILER_FLAG } from "./envelope.ts";
import { ProtocolError, TransportError } from "./errors.ts";

/** Largest reply of a unary call; they are small facts. */
const MAX_UNARY_BYTES = 8 * 1024 * 1024;

/**
 * Reads and checks a unary reply before connect's client sees it: that client waits for its timeout when frames are
 * broken, and calls a cut reply the caller's fault. Rejects with ProtocolError or TransportError.
 */
export function guardUnary(engineFetch: EngineFetch): EngineFetch {
  return async (path, init) => {
    const response = await engineFetch(path, init);
    if (!response.ok || response.body === null) return response;
    const chunks: Uint8Array[] = [];
    const decoder = new EnvelopeDecoder();
    let length = 0;
    let hasTrailers = response.headers.has("grpc-status");
    try {
      for await (const chunk of response.body) {
        length += chunk.length;
        if (length > MAX_UNARY_BYTES) throw new ProtocolError("a unary reply without an end");
        chunks.push(chunk);
        hasTrailers ||= decoder.push(chunk).some(({ flags }) => (flags & TRAILER_FLAG) !== 0);
      }
    } catch (error) {
      if (error instanceof ProtocolError || init.signal?.aborted === true) throw error;
      if (error instanceof EnvelopeTooLargeError) {
        throw new ProtocolError("broken frames", { cause: error });
      }
      throw new TransportError("the reply broke off", { cause: error });
    }
    if (!hasTrailers || decoder.pendingBytes > 0) {
      throw new TransportError("the reply ended without trailers");
    }
    return new Response(new Blob(chunks), { status: response.status, headers: response.headers });
  };
}
