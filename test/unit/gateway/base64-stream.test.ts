import * as fc from "fast-check";
import { describe, it } from "vitest";

import { Base64Decoder, Base64Encoder } from "../../../scripts/gateway/base64-stream.ts";

describe("Base64Decoder", () => {
  it("decodes padded texts one after the other, however they are cut", ({ expect }) => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 20 })),
        fc.integer({ min: 1, max: 7 }),
        (parts, step) => {
          const text = parts.map((part) => Buffer.from(part).toString("base64")).join("");
          const decoder = new Base64Decoder();
          const decoded: Buffer[] = [];
          for (let start = 0; start < text.length; start += step) {
            decoded.push(decoder.push(Buffer.from(text.slice(start, start + step))) ?? Buffer.of());
          }
          expect(Buffer.concat(decoded)).toEqual(Buffer.concat(parts));
          expect(decoder.complete).toBe(true);
        },
      ),
    );
  });

  const malformed = ["AA*A", "=AAA", "A===", "AA=A", "AAA\n"];
  it.for(malformed)("refuses %j", (text, { expect }) => {
    expect(new Base64Decoder().push(Buffer.from(text))).toBeUndefined();
  });

  it("is not complete inside a group", ({ expect }) => {
    const decoder = new Base64Decoder();
    expect(decoder.push(Buffer.from("AAAAA"))).toEqual(Buffer.alloc(3));
    expect(decoder.complete).toBe(false);
  });
});

describe("Base64Encoder", () => {
  it("gives texts that decode to the same bytes, and keeps nothing after a flush", ({ expect }) => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.uint8Array({ maxLength: 10 }), fc.boolean())), (steps) => {
        const encoder = new Base64Encoder();
        const decoder = new Base64Decoder();
        let sent = 0;
        let received = 0;
        for (const [bytes, flush] of [...steps, [Buffer.of(), true] as const]) {
          sent += bytes.length;
          const text = encoder.push(Buffer.from(bytes), flush);
          received += decoder.push(text)?.length ?? Number.NaN;
          expect(sent - received).toBeLessThanOrEqual(flush ? 0 : 2);
        }
      }),
    );
  });
});
