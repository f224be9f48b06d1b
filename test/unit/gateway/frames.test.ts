import * as fc from "fast-check";
import { describe, it } from "vitest";

import { encodeTrailersFrame, HOLD_BYTES, MessageFramer } from "../../../scripts/gateway/frames.ts";
import { frame } from "./upstream-fixture.ts";

/** Cuts bytes at the given places (any numbers; taken modulo the length). */
function cut(bytes: Buffer, places: readonly number[]): readonly Buffer[] {
  const sorted = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [...sorted, bytes.length].map((end, index) => bytes.subarray(sorted[index - 1] ?? 0, end));
}

describe("MessageFramer", () => {
  it("passes the same bytes on however they are cut", ({ expect }) => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 3 * HOLD_BYTES }), { maxLength: 5 }),
        fc.array(fc.nat(), { maxLength: 20 }),
        (sizes, places) => {
          const whole = Buffer.concat(sizes.map((size) => frame(Buffer.alloc(size, size % 251))));
          const framer = new MessageFramer(4 * HOLD_BYTES);
          const pieces = cut(whole, places).flatMap((chunk) => framer.push(chunk).pieces);
          expect(Buffer.concat(pieces).equals(whole)).toBe(true);
          expect(framer.complete).toBe(true);
          expect(framer.messages).toBe(sizes.length);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("passes a small message on only when it is whole, also byte by byte", ({ expect }) => {
    const message = frame("hello");
    const framer = new MessageFramer(100);
    const outputs = [...message].map((byte) => framer.push(Buffer.from([byte])).pieces);
    expect(outputs.slice(0, -1).flat()).toEqual([]);
    expect(Buffer.concat(outputs.at(-1) ?? [])).toEqual(message);
  });

  it("keeps no more than a small message, and is at no boundary inside a large one", ({
    expect,
  }) => {
    const framer = new MessageFramer(10 * HOLD_BYTES);
    const large = frame(Buffer.alloc(2 * HOLD_BYTES));
    framer.push(large.subarray(0, HOLD_BYTES));
    expect(framer.heldBytes).toBe(0);
    expect(framer.atBoundary).toBe(false);
    framer.push(large.subarray(HOLD_BYTES));
    expect(framer.atBoundary).toBe(true);
    framer.push(frame(Buffer.alloc(HOLD_BYTES - 5)).subarray(0, -1));
    expect(framer.heldBytes).toBe(HOLD_BYTES - 1);
    expect(framer.complete).toBe(false);
    expect(framer.atBoundary).toBe(true);
  });

  const faults = [
    { name: "a message over the limit", bad: frame(Buffer.alloc(101)), fault: "message-too-large" },
    { name: "a trailers frame", bad: frame("grpc-status:0", 0x80), fault: "unknown-flags" },
    { name: "a reserved flag", bad: frame("x", 0x02), fault: "unknown-flags" },
  ];
  it.for(faults)("stops before $name, wherever it is cut", ({ bad, fault }, { expect }) => {
    const good = frame(Buffer.alloc(100, 7), 0x01);
    const whole = Buffer.concat([good, bad]);
    for (let place = 0; place < whole.length; place += 1) {
      const framer = new MessageFramer(100);
      const outputs = cut(whole, [place]).map((chunk) => framer.push(chunk));
      expect(Buffer.concat(outputs.flatMap(({ pieces }) => pieces))).toEqual(good);
      expect(outputs.at(-1)?.fault).toBe(fault);
      expect(framer.push(good)).toEqual({ pieces: [], fault });
    }
  });
});

describe("encodeTrailersFrame", () => {
  it("writes flag, length and one line a trailer, with values as octets", ({ expect }) => {
    const encoded = encodeTrailersFrame([
      ["grpc-status", "0"],
      ["x-octets", "\u00e9"],
    ]);
    const payload = Buffer.from("grpc-status:0\r\nx-octets:\u00e9\r\n", "latin1");
    expect(encoded).toEqual(Buffer.concat([Buffer.from([0x80, 0, 0, 0, payload.length]), payload]));
  });
});
