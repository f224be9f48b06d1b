import fc from "fast-check";
import { describe, it } from "vitest";

import {
  encodeEnvelope,
  EnvelopeDecoder,
  EnvelopeTooLargeError,
  MAX_ENVELOPE_BYTES,
  parseTrailers,
  readStatus,
} from "../../../src/engine/envelope.ts";

function decodeAll(chunks: readonly Uint8Array[]) {
  const decoder = new EnvelopeDecoder();
  const envelopes = chunks.flatMap((chunk) => decoder.push(chunk));
  return {
    envelopes: envelopes.map(({ flags, data }) => ({ flags, data: [...data] })),
    pendingBytes: decoder.pendingBytes,
  };
}

describe("envelope decoder", () => {
  it("gives the same frames however the bytes are cut", ({ expect }) => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 17 })),
        (messages, cuts) => {
          const bytes = Uint8Array.from(
            messages.flatMap((message) => [...encodeEnvelope(message)]),
          );
          const chunks: Uint8Array[] = [];
          for (let offset = 0; offset < bytes.length;) {
            const length = cuts.next().value ?? 1;
            chunks.push(bytes.subarray(offset, offset + length));
            offset += length;
          }
          expect(decodeAll(chunks)).toEqual({
            envelopes: messages.map((message) => ({ flags: 0, data: [...message] })),
            pendingBytes: 0,
          });
        },
      ),
    );
  });

  it("tells that a frame was cut", ({ expect }) => {
    const whole = encodeEnvelope(Uint8Array.of(1, 2, 3));
    for (let length = 1; length < whole.length; length++) {
      expect(decodeAll([whole.subarray(0, length)])).toEqual({
        envelopes: [],
        pendingBytes: length,
      });
    }
  });

  it("keeps frames apart from the buffer that it goes on using", ({ expect }) => {
    const decoder = new EnvelopeDecoder();
    const one = encodeEnvelope(Uint8Array.of(1, 1));
    const two = encodeEnvelope(Uint8Array.of(2, 2));
    const first = [...one].flatMap((byte) => decoder.push(Uint8Array.of(byte)));
    for (const byte of two) decoder.push(Uint8Array.of(byte));
    expect([...(first[0]?.data ?? [])]).toEqual([1, 1]);
  });

  it("refuses a frame that is too large as soon as its length is known", ({ expect }) => {
    const header = new Uint8Array(5);
    new DataView(header.buffer).setUint32(1, MAX_ENVELOPE_BYTES + 1);
    expect(() => new EnvelopeDecoder().push(header)).toThrow(EnvelopeTooLargeError);
  });
});

describe("trailers", () => {
  const rows = [
    { text: "grpc-status: 0\r\n", status: { code: 0, message: "" } },
    {
      text: "grpc-status:13\r\ngrpc-message:bad%20%F0%9F%98%80\r\n",
      status: { code: 13, message: "bad 😀" },
    },
    { text: "Grpc-Status: 3\nGrpc-Message: 100%\n", status: { code: 3, message: "100%" } },
    { text: "grpc-status: nonsense\r\n", status: { code: 2, message: "" } },
    { text: "x-other: 1\r\n", status: null },
  ];
  it.for(rows)("$text", ({ text, status }, { expect }) => {
    const trailers = parseTrailers(new TextEncoder().encode(text));
    expect(readStatus((name) => trailers.get(name))).toEqual(status);
  });
});
