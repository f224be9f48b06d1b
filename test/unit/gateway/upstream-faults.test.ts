import type { ServerHttp2Stream } from "node:http2";
import { connect as connectTcp } from "node:net";

import { Code } from "@connectrpc/connect";
import { describe, it } from "vitest";

import { HOLD_BYTES } from "../../../scripts/gateway/frames.ts";
import type { GatewayOptions } from "../../../scripts/gateway/server.ts";
import { GRPC } from "../../../scripts/gateway/status.ts";
import type { Reply } from "./upstream-fixture.ts";
import {
  answer,
  callRaw,
  frame,
  gatewayFor,
  GRPC_REPLY,
  schedulerClient,
  startRawUpstream,
  startTcpServer,
  until,
} from "./upstream-fixture.ts";

/** The status of a reply, from its headers or its last frame. */
function statusOf(reply: Reply): number {
  return Number(reply.trailers?.["grpc-status"] ?? reply.headers.get("grpc-status") ?? Number.NaN);
}

const FAST: Partial<GatewayOptions> = { connectTimeoutMs: 100 };

describe("an upstream that cannot be reached", () => {
  it("is UNAVAILABLE when nothing listens", async ({ expect, onTestFinished }) => {
    const gateway = await gatewayFor(onTestFinished, { upstream: "127.0.0.1:1" });
    const reply = await callRaw(gateway);
    expect(statusOf(reply)).toBe(GRPC.UNAVAILABLE);
    expect(reply.headers.get("grpc-message")).toContain("ECONNREFUSED");
    expect(reply.headers.get("grpc-message")).not.toContain("127.0.0.1");
    await expect(schedulerClient(gateway).abort({})).rejects.toMatchObject({
      code: Code.Unavailable,
    });
  });

  it("is UNAVAILABLE when its name does not resolve", async ({ expect, onTestFinished }) => {
    const gateway = await gatewayFor(onTestFinished, { upstream: "worker.invalid:1" });
    expect(statusOf(await callRaw(gateway))).toBe(GRPC.UNAVAILABLE);
  });

  it("is UNAVAILABLE when it takes the connection and says nothing", async ({
    expect,
    onTestFinished,
  }) => {
    const upstream = await startTcpServer(onTestFinished, () => undefined);
    const gateway = await gatewayFor(onTestFinished, { upstream, ...FAST });
    const started = performance.now();
    const replies = await Promise.all([callRaw(gateway), callRaw(gateway)]);
    expect(replies.map(statusOf)).toEqual([GRPC.UNAVAILABLE, GRPC.UNAVAILABLE]);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it("is UNAVAILABLE when it speaks HTTP/1.1", async ({ expect, onTestFinished }) => {
    const upstream = await startTcpServer(onTestFinished, (socket) => {
      socket.write("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
    });
    const gateway = await gatewayFor(onTestFinished, { upstream, ...FAST });
    expect(statusOf(await callRaw(gateway))).toBe(GRPC.UNAVAILABLE);
  });

  it("is UNAVAILABLE when it closes at once", async ({ expect, onTestFinished }) => {
    const upstream = await startTcpServer(onTestFinished, (socket) => socket.destroy());
    const gateway = await gatewayFor(onTestFinished, { upstream, ...FAST });
    expect(statusOf(await callRaw(gateway))).toBe(GRPC.UNAVAILABLE);
  });

  it("is found again when it comes back", async ({ expect, onTestFinished }) => {
    const first = await startRawUpstream(onTestFinished, (stream) => answer(stream, frame("one")));
    const gateway = await gatewayFor(onTestFinished, { upstream: first.address });
    expect((await callRaw(gateway)).messages).toEqual(["one"]);
    first.kill();
    await until(() => gateway.stats().upstreamConnections === 0, "the lost connection is noticed");
    expect((await callRaw(gateway)).messages).toEqual(["one"]);
  });
});

interface BreakRow {
  readonly name: string;
  readonly act: (stream: ServerHttp2Stream) => void;
  readonly code: number;
  readonly messages?: readonly string[];
}

describe("an upstream that answers wrongly", () => {
  const html = { "content-type": "text/html" };
  const rows: readonly BreakRow[] = [
    {
      name: "HTML of a proxy with 502",
      act: (stream) => {
        stream.respond({ ":status": 502, ...html });
        stream.end("<h1>Bad gateway</h1>");
      },
      code: GRPC.UNAVAILABLE,
    },
    {
      name: "HTML with 200",
      act: (stream) => {
        stream.respond({ ":status": 200, ...html });
        stream.end("<h1>Hello</h1>");
      },
      code: GRPC.UNKNOWN,
    },
    {
      name: "401 without a status",
      act: (stream) => stream.respond({ ":status": 401 }, { endStream: true }),
      code: GRPC.UNAUTHENTICATED,
    },
    {
      name: "a status of its own beside 503",
      act: (stream) => stream.respond({ ":status": 503, "grpc-status": "8" }, { endStream: true }),
      code: GRPC.RESOURCE_EXHAUSTED,
    },
    {
      name: "headers and nothing else",
      act: (stream) => stream.respond(GRPC_REPLY, { endStream: true }),
      code: GRPC.UNAVAILABLE,
    },
    {
      name: "messages and no trailers",
      act: (stream) => {
        stream.respond(GRPC_REPLY);
        stream.end(frame("one"));
      },
      code: GRPC.UNAVAILABLE,
      messages: ["one"],
    },
    {
      name: "trailers without a status",
      act: (stream) => {
        stream.respond(GRPC_REPLY, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "x-only": "this" }));
        stream.end(frame("one"));
      },
      code: GRPC.UNKNOWN,
      messages: ["one"],
    },
    {
      name: "OK inside a message",
      act: (stream) =>
        answer(stream, Buffer.concat([frame("one"), frame("cut off").subarray(0, 8)])),
      code: GRPC.INTERNAL,
      messages: ["one"],
    },
    {
      name: "a trailers frame of gRPC-Web",
      act: (stream) => answer(stream, Buffer.concat([frame("one"), frame("grpc-status:0", 0x80)])),
      code: GRPC.INTERNAL,
      messages: ["one"],
    },
    {
      name: "a message over the limit",
      act: (stream) => answer(stream, Buffer.concat([frame("one"), frame(Buffer.alloc(1001))])),
      code: GRPC.RESOURCE_EXHAUSTED,
      messages: ["one"],
    },
    {
      name: "a reset with INTERNAL_ERROR",
      act: (stream) => stream.close(2),
      code: GRPC.INTERNAL,
    },
    {
      name: "a refused stream",
      act: (stream) => stream.close(7),
      code: GRPC.UNAVAILABLE,
    },
    {
      name: "a reset with ENHANCE_YOUR_CALM",
      act: (stream) => stream.close(11),
      code: GRPC.RESOURCE_EXHAUSTED,
    },
    {
      name: "a reset after a message",
      act: (stream) => {
        stream.respond(GRPC_REPLY);
        stream.write(frame("one"), () => setTimeout(() => stream.destroy(new Error("fault")), 20));
      },
      code: GRPC.INTERNAL,
      messages: ["one"],
    },
  ];
  it.for(rows)("gives status $code for $name", async (row, { expect, onTestFinished }) => {
    const upstream = await startRawUpstream(onTestFinished, row.act);
    const gateway = await gatewayFor(onTestFinished, {
      upstream: upstream.address,
      maxResponseMessageBytes: 1000,
    });
    const reply = await callRaw(gateway);
    expect(reply.httpStatus).toBe(200);
    expect(reply.headers.get("content-type")).toBe("application/grpc-web+proto");
    expect(statusOf(reply)).toBe(row.code);
    expect(reply.messages).toEqual(row.messages ?? []);
  });

  it("resets the stream of a message over the limit", async ({ expect, onTestFinished }) => {
    const reset = Promise.withResolvers<number>();
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      stream.on("close", () => reset.resolve(stream.rstCode));
      stream.respond(GRPC_REPLY);
      stream.write(frame(Buffer.alloc(1001)));
    });
    const gateway = await gatewayFor(onTestFinished, {
      upstream: upstream.address,
      maxResponseMessageBytes: 1000,
    });
    expect(statusOf(await callRaw(gateway))).toBe(GRPC.RESOURCE_EXHAUSTED);
    expect(await reset.promise).toBe(8);
  });

  const large = { "x-large": "x".repeat(9000) };
  const blocks: readonly BreakRow[] = [
    {
      name: "headers",
      act: (stream) => stream.respond({ ...GRPC_REPLY, ...large }),
      code: GRPC.RESOURCE_EXHAUSTED,
    },
    {
      name: "trailers",
      act: (stream) => {
        stream.respond(GRPC_REPLY, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0", ...large }));
        stream.end();
      },
      code: GRPC.RESOURCE_EXHAUSTED,
    },
  ];
  it.for(blocks)("refuses $name over the limit", async ({ act, code }, context) => {
    const { expect, onTestFinished } = context;
    const upstream = await startRawUpstream(onTestFinished, act);
    const gateway = await gatewayFor(onTestFinished, {
      upstream: upstream.address,
      maxHeaderBytes: 8192,
    });
    // Before and after the upstream has confirmed the limit.
    expect(statusOf(await callRaw(gateway))).toBe(code);
    expect(statusOf(await callRaw(gateway))).toBe(code);
  });
});

describe("an upstream that dies", () => {
  const moments: readonly (BreakRow & { readonly broken?: boolean })[] = [
    { name: "before it answers", act: () => undefined, code: GRPC.UNAVAILABLE },
    {
      name: "after its headers",
      act: (stream) => stream.respond(GRPC_REPLY),
      code: GRPC.UNAVAILABLE,
    },
    {
      name: "between two messages",
      act: (stream) => {
        stream.respond(GRPC_REPLY);
        stream.write(frame("one"));
      },
      code: GRPC.UNAVAILABLE,
      messages: ["one"],
    },
    {
      name: "inside a small message",
      act: (stream) => {
        stream.respond(GRPC_REPLY);
        stream.write(Buffer.concat([frame("one"), frame("cut off").subarray(0, 8)]));
      },
      code: GRPC.UNAVAILABLE,
      messages: ["one"],
    },
  ];
  it.for(moments)("$name is UNAVAILABLE", async (row, { expect, onTestFinished }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      row.act(stream);
      // The bytes must be on their way before the connection breaks.
      setTimeout(() => upstream.kill(), 30);
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const reply = await callRaw(gateway);
    expect(statusOf(reply)).toBe(row.code);
    expect(reply.messages).toEqual(row.messages ?? []);
  });

  it("inside a large message breaks the connection instead of ending it", async ({
    expect,
    onTestFinished,
  }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      stream.respond(GRPC_REPLY);
      stream.write(frame(Buffer.alloc(4 * HOLD_BYTES)).subarray(0, HOLD_BYTES));
      setTimeout(() => upstream.kill(), 30);
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    await expect(callRaw(gateway)).rejects.toThrow();
    await until(() => gateway.stats().activeCalls === 0, "the call ends");
  });

  it("is told to the client of a stream as unavailable", async ({ expect, onTestFinished }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      stream.respond(GRPC_REPLY);
      stream.write(frame(""));
      setTimeout(() => upstream.kill(), 30);
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const messages = schedulerClient(gateway).generate({})[Symbol.asyncIterator]();
    expect((await messages.next()).done).toBe(false);
    await expect(messages.next()).rejects.toMatchObject({ code: Code.Unavailable });
  });
});

describe("an upstream that says goodbye", () => {
  it("finishes its calls, and new ones go to a new connection", async ({
    expect,
    onTestFinished,
  }) => {
    const gate = Promise.withResolvers<void>();
    let calls = 0;
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      calls += 1;
      if (calls > 1) {
        answer(stream, frame("second"));
        return;
      }
      stream.session?.goaway(0);
      void gate.promise.then(() => answer(stream, frame("first")));
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const first = callRaw(gateway);
    await until(() => calls === 1, "the first call arrives");
    // The GOAWAY needs a moment to arrive; nothing outside tells when it did.
    await new Promise((resolve) => {
      setTimeout(resolve, 30);
    });
    expect((await callRaw(gateway)).messages).toEqual(["second"]);
    expect(upstream.sessions.size).toBe(2);
    gate.resolve();
    expect((await first).messages).toEqual(["first"]);
    await until(() => gateway.stats().upstreamConnections === 1, "the first connection is closed");
  });
});

describe("an upstream that falls silent", () => {
  it("may be silent without an idle timeout", async ({ expect, onTestFinished }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      setTimeout(() => answer(stream, frame("at last")), 300);
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    expect((await callRaw(gateway)).messages).toEqual(["at last"]);
  });

  it("ends as DEADLINE_EXCEEDED with an idle timeout", async ({ expect, onTestFinished }) => {
    const reset = Promise.withResolvers<number>();
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      stream.on("close", () => reset.resolve(stream.rstCode));
      stream.respond(GRPC_REPLY);
      stream.write(frame("one"));
    });
    const gateway = await gatewayFor(onTestFinished, {
      upstream: upstream.address,
      idleTimeoutMs: 100,
    });
    const reply = await callRaw(gateway);
    expect(reply.messages).toEqual(["one"]);
    expect(statusOf(reply)).toBe(GRPC.DEADLINE_EXCEEDED);
    expect(await reset.promise).toBe(8);
  });

  it("ends at the call's own deadline, though the upstream ignores it", async ({
    expect,
    onTestFinished,
  }) => {
    const upstream = await startRawUpstream(onTestFinished, () => undefined);
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const reply = await callRaw(gateway, Buffer.from(frame("q")), { "grpc-timeout": "50m" });
    expect(statusOf(reply)).toBe(GRPC.DEADLINE_EXCEEDED);
  });

  it("is UNAVAILABLE when its host is gone and pings stay unanswered", async ({
    expect,
    onTestFinished,
  }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => stream.respond(GRPC_REPLY));
    // A wire that can be cut without either end being told.
    let cut = false;
    const wire = await startTcpServer(onTestFinished, (near) => {
      const far = connectTcp(upstream.port, "127.0.0.1");
      near.on("data", (chunk) => cut || far.write(chunk));
      far.on("data", (chunk) => cut || near.write(chunk));
      near.on("close", () => far.destroy());
      far.on("error", () => undefined);
    });
    const gateway = await gatewayFor(onTestFinished, {
      upstream: wire,
      keepaliveIntervalMs: 50,
      keepaliveTimeoutMs: 50,
    });
    const reply = callRaw(gateway);
    await until(() => gateway.stats().activeCalls === 1, "the call runs");
    await new Promise((resolve) => {
      setTimeout(resolve, 150);
    });
    expect(gateway.stats().activeCalls).toBe(1);
    cut = true;
    const lost = await reply;
    expect(statusOf(lost)).toBe(GRPC.UNAVAILABLE);
    expect(lost.trailers?.["grpc-message"]).toContain("pings");
  });
});

describe("an upstream with few places", () => {
  it("gets as many connections as it needs, and no more than allowed", async ({
    expect,
    onTestFinished,
  }) => {
    const gate = Promise.withResolvers<void>();
    const upstream = await startRawUpstream(
      onTestFinished,
      (stream) => {
        void gate.promise.then(() => answer(stream, frame("ok")));
      },
      { maxConcurrentStreams: 2 },
    );
    const gateway = await gatewayFor(onTestFinished, {
      upstream: upstream.address,
      maxConnections: 3,
    });
    const replies = Array.from({ length: 7 }, async () => callRaw(gateway));
    const refused = await Promise.race(replies);
    expect(statusOf(refused)).toBe(GRPC.UNAVAILABLE);
    expect(gateway.stats().upstreamConnections).toBe(3);
    gate.resolve();
    const codes = (await Promise.all(replies)).map(statusOf);
    expect(codes.filter((code) => code === GRPC.OK).length).toBe(6);
  });

  it("loses connections that have no calls", async ({ expect, onTestFinished }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => answer(stream, frame("a")));
    const gateway = await gatewayFor(onTestFinished, {
      upstream: upstream.address,
      connectionIdleMs: 30,
    });
    expect((await callRaw(gateway)).messages).toEqual(["a"]);
    await until(() => gateway.stats().upstreamConnections === 0, "the idle connection is closed");
    expect((await callRaw(gateway)).messages).toEqual(["a"]);
  });
});
