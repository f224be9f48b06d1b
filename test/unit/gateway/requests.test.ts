import type { ServerHttp2Stream } from "node:http2";
import { connect as connectTcp } from "node:net";

import { describe, it } from "vitest";

import { parseTokens } from "../../../scripts/gateway/auth.ts";
import { createLog } from "../../../scripts/gateway/log.ts";
import { GRPC } from "../../../scripts/gateway/status.ts";
import type { OnTestFinished, Upstream } from "./upstream-fixture.ts";
import {
  answer,
  callRaw,
  frame,
  gatewayFor,
  METHOD_PATH,
  schedulerClient,
  startRawUpstream,
  until,
} from "./upstream-fixture.ts";

const OLD = "old-token-0123456789";
const NEW = "new-token-0123456789";

/** Answers each call with the value of one request header. */
async function startEcho(onTestFinished: OnTestFinished, header: string): Promise<Upstream> {
  return startRawUpstream(onTestFinished, (stream, headers) =>
    answer(stream, frame(String(headers[header] ?? "none"))),
  );
}

describe("tokens", () => {
  const rows = [
    { name: "bearer", headers: { authorization: `Bearer ${OLD}` }, httpStatus: 200 },
    { name: "bearer in lower case", headers: { authorization: `bearer ${OLD}` }, httpStatus: 200 },
    { name: "the second token", headers: { authorization: `Bearer ${NEW}` }, httpStatus: 200 },
    { name: "the own header", headers: { "x-gateway-token": OLD }, httpStatus: 200 },
    { name: "no token", headers: {}, httpStatus: 401 },
    { name: "a wrong token", headers: { authorization: `Bearer ${OLD}x` }, httpStatus: 401 },
    {
      name: "a part of a token",
      headers: { "x-gateway-token": OLD.slice(0, -1) },
      httpStatus: 401,
    },
    { name: "another scheme", headers: { authorization: `Basic ${OLD}` }, httpStatus: 401 },
    { name: "an empty token", headers: { "x-gateway-token": "" }, httpStatus: 401 },
  ];
  it.for(rows)("$name: HTTP $httpStatus", async ({ headers, httpStatus }, context) => {
    const { expect, onTestFinished } = context;
    const upstream = await startEcho(onTestFinished, "x-gateway-token");
    const options = { upstream: upstream.address, tokens: [OLD, NEW] };
    const gateway = await gatewayFor(onTestFinished, options);
    const reply = await callRaw(gateway, Buffer.from(frame("q")), headers);
    expect(reply.httpStatus).toBe(httpStatus);
    if (httpStatus === 200) {
      expect(reply.messages).toEqual(["none"]);
    } else {
      expect(reply.headers.get("grpc-status")).toBe(String(GRPC.UNAUTHENTICATED));
      expect(reply.headers.get("www-authenticate")).toBe("Bearer");
      expect(gateway.stats()).toMatchObject({ totalCalls: 0, refusedRequests: 1 });
    }
  });

  it("are told to Connect clients as unauthenticated", async ({ expect, onTestFinished }) => {
    const upstream = await startEcho(onTestFinished, "x");
    const options = { upstream: upstream.address, tokens: [OLD] };
    const client = schedulerClient(await gatewayFor(onTestFinished, options));
    await expect(client.abort({})).rejects.toMatchObject({ code: GRPC.UNAUTHENTICATED });
  });

  it("leave an authorization for the engine alone", async ({ expect, onTestFinished }) => {
    const upstream = await startEcho(onTestFinished, "authorization");
    const options = { upstream: upstream.address, tokens: [OLD] };
    const gateway = await gatewayFor(onTestFinished, options);
    const own = await callRaw(gateway, Buffer.from(frame("q")), { authorization: `Bearer ${OLD}` });
    expect(own.messages).toEqual(["none"]);
    const both = await callRaw(gateway, Buffer.from(frame("q")), {
      authorization: "Bearer for-the-engine",
      "x-gateway-token": OLD,
    });
    expect(both.messages).toEqual(["Bearer for-the-engine"]);
  });

  it("can be rotated while the gateway runs, down to none", async ({ expect, onTestFinished }) => {
    const upstream = await startEcho(onTestFinished, "x");
    const options = { upstream: upstream.address, tokens: [OLD] };
    const gateway = await gatewayFor(onTestFinished, options);
    const httpStatuses = async (): Promise<readonly number[]> => {
      const replies = [OLD, NEW].map(async (token) =>
        callRaw(gateway, Buffer.from(frame("q")), { "x-gateway-token": token }),
      );
      return (await Promise.all(replies)).map((reply) => reply.httpStatus);
    };
    expect(await httpStatuses()).toEqual([200, 401]);
    gateway.setTokens([OLD, NEW]);
    expect(await httpStatuses()).toEqual([200, 200]);
    gateway.setTokens([NEW]);
    expect(await httpStatuses()).toEqual([401, 200]);
    gateway.setTokens([]);
    expect(await httpStatuses()).toEqual([401, 401]);
  });

  it("are read from text with comments, and never repeated in an error", ({ expect }) => {
    expect(parseTokens(`# first\n${OLD}, ${NEW}\n\n`, "a file")).toEqual([OLD, NEW]);
    expect(() => parseTokens(`${OLD}\nshort`, "a file")).toThrow(
      "token 2 of a file is shorter than 16 characters",
    );
  });
});

describe("what is not a call", () => {
  const rows = [
    { method: "POST", path: "/", type: "application/grpc-web", httpStatus: 404 },
    { method: "POST", path: "/only-one", type: "application/grpc-web", httpStatus: 404 },
    { method: "POST", path: "/a.B/C/d", type: "application/grpc-web", httpStatus: 404 },
    { method: "POST", path: "/a.B/C%0d", type: "application/grpc-web", httpStatus: 404 },
    { method: "GET", path: METHOD_PATH, type: "application/grpc-web", httpStatus: 405 },
    { method: "OPTIONS", path: METHOD_PATH, type: "text/plain", httpStatus: 405 },
    { method: "POST", path: METHOD_PATH, type: "application/grpc", httpStatus: 415 },
    { method: "POST", path: METHOD_PATH, type: "application/json", httpStatus: 415 },
    { method: "POST", path: `${METHOD_PATH}?q`, type: "application/grpc-web", httpStatus: 200 },
  ];
  it.for(rows)("$method $path as $type: HTTP $httpStatus", async (row, context) => {
    const { expect, onTestFinished } = context;
    const upstream = await startEcho(onTestFinished, ":path");
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const response = await fetch(`${gateway.url}${row.path}`, {
      method: row.method,
      headers: { "content-type": row.type, origin: "https://example.com" },
      ...(row.method === "POST" && { body: Buffer.from(frame("q")) }),
    });
    await response.arrayBuffer();
    expect(response.status).toBe(row.httpStatus);
    expect(response.headers.has("grpc-status")).toBe(row.httpStatus !== 200);
    const cors = [...response.headers.keys()].filter((name) => name.startsWith("access-control"));
    expect(cors).toEqual([]);
  });

  const broken = [
    {
      name: "a message over the limit",
      body: frame(Buffer.alloc(1001)),
      code: GRPC.RESOURCE_EXHAUSTED,
    },
    {
      name: "a second message over the limit",
      body: Buffer.concat([frame("a"), frame(Buffer.alloc(1001))]),
      code: GRPC.RESOURCE_EXHAUSTED,
    },
    { name: "a cut message", body: frame("hello").subarray(0, 7), code: GRPC.INVALID_ARGUMENT },
    { name: "a cut prefix", body: Buffer.from([0, 0]), code: GRPC.INVALID_ARGUMENT },
    { name: "a trailers frame", body: frame("a:b", 0x80), code: GRPC.INVALID_ARGUMENT },
    {
      name: "text that is not base64",
      body: Buffer.from("*&^%"),
      type: "application/grpc-web-text",
      code: GRPC.INVALID_ARGUMENT,
    },
    {
      name: "text that ends inside a group",
      body: Buffer.from(`${frame("hello").toString("base64")}A`),
      type: "application/grpc-web-text",
      code: GRPC.INVALID_ARGUMENT,
    },
  ];
  it.for(broken)("a request with $name has status $code", async (row, context) => {
    const { expect, onTestFinished } = context;
    const reset = Promise.withResolvers<number>();
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      stream.resume();
      stream.on("close", () => reset.resolve(stream.rstCode));
    });
    const gateway = await gatewayFor(onTestFinished, {
      upstream: upstream.address,
      maxRequestMessageBytes: 1000,
    });
    const type = row.type ?? "application/grpc-web";
    const reply = await callRaw(gateway, Buffer.from(row.body), { "content-type": type });
    expect(reply.httpStatus).toBe(200);
    expect(reply.headers.get("grpc-status")).toBe(String(row.code));
    expect(await reset.promise).toBe(8);
  });

  it("a huge request is refused at its first bytes, and the client hears of it", async ({
    expect,
    onTestFinished,
  }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => stream.resume());
    const gateway = await gatewayFor(onTestFinished, {
      upstream: upstream.address,
      maxRequestMessageBytes: 1000,
    });
    const reply = await callRaw(gateway, Buffer.from(frame(Buffer.alloc(8 * 1024 * 1024))));
    expect(reply.headers.get("grpc-status")).toBe(String(GRPC.RESOURCE_EXHAUSTED));
    await until(() => gateway.stats().activeCalls === 0, "the call ends");
  });

  it("headers over the limit are refused", async ({ expect, onTestFinished }) => {
    const upstream = await startEcho(onTestFinished, "x-large");
    const gateway = await gatewayFor(onTestFinished, {
      upstream: upstream.address,
      maxHeaderBytes: 8192,
    });
    const large = await callRaw(gateway, Buffer.from(frame("q")), { "x-large": "x".repeat(9000) });
    expect(large.httpStatus).toBe(431);
    const small = await callRaw(gateway, Buffer.from(frame("q")), { "x-large": "x".repeat(4000) });
    expect(small.messages[0]?.length).toBe(4000);
  });

  it("more calls than allowed are refused", async ({ expect, onTestFinished }) => {
    const gate = Promise.withResolvers<void>();
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      void gate.promise.then(() => answer(stream, frame("ok")));
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address, maxCalls: 2 });
    const running = [callRaw(gateway), callRaw(gateway)];
    await until(() => gateway.stats().activeCalls === 2, "two calls run");
    const refused = await callRaw(gateway);
    expect(refused.httpStatus).toBe(503);
    expect(refused.headers.get("grpc-status")).toBe(String(GRPC.UNAVAILABLE));
    gate.resolve();
    const done = await Promise.all(running);
    expect(done.map((reply) => reply.messages)).toEqual([["ok"], ["ok"]]);
  });
});

describe("workers chosen by header", () => {
  it("are reached when they are on the list, and only then", async ({ expect, onTestFinished }) => {
    const main = await startRawUpstream(onTestFinished, (stream) => answer(stream, frame("main")));
    const other = await startRawUpstream(onTestFinished, (stream, headers) =>
      answer(stream, frame(`other ${String(headers["x-worker"] ?? "")}`)),
    );
    const third = await startRawUpstream(onTestFinished, (stream) =>
      answer(stream, frame("third")),
    );
    const gateway = await gatewayFor(onTestFinished, {
      upstream: main.address,
      allow: [other.address],
    });
    const ask = async (worker?: string): Promise<string> => {
      const headers = worker === undefined ? {} : { "x-worker": worker };
      const reply = await callRaw(gateway, Buffer.from(frame("q")), headers);
      return reply.messages[0] ?? `HTTP ${reply.httpStatus}`;
    };
    expect(await ask()).toBe("main");
    expect(await ask(other.address)).toBe("other ");
    expect(await ask(third.address)).toBe("HTTP 403");
    expect(await ask(main.address)).toBe("HTTP 403");
  });

  it("are refused by a gateway without a list", async ({ expect, onTestFinished }) => {
    const upstream = await startEcho(onTestFinished, "x");
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const headers = { "x-worker": upstream.address };
    const reply = await callRaw(gateway, Buffer.from(frame("q")), headers);
    expect(reply.httpStatus).toBe(403);
    expect(reply.headers.get("grpc-status")).toBe(String(GRPC.PERMISSION_DENIED));
  });

  it("must be named when there is no default", async ({ expect, onTestFinished }) => {
    const upstream = await startEcho(onTestFinished, "x");
    const gateway = await gatewayFor(onTestFinished, { allow: [upstream.address] });
    expect((await callRaw(gateway)).httpStatus).toBe(400);
    const headers = { "x-worker": upstream.address };
    expect((await callRaw(gateway, Buffer.from(frame("q")), headers)).messages).toEqual(["none"]);
  });
});

describe("the log", () => {
  it("has one line a call, without headers, tokens or payload", async ({
    expect,
    onTestFinished,
  }) => {
    const lines: string[] = [];
    const upstream = await startEcho(onTestFinished, "x");
    const gateway = await gatewayFor(onTestFinished, {
      upstream: upstream.address,
      tokens: [OLD],
      log: createLog("info", (line) => lines.push(line)),
    });
    await callRaw(gateway, Buffer.from(frame("payload-secret")), {
      authorization: `Bearer ${OLD}`,
      "x-request-id": "req-1",
      "x-private": "header-secret",
    });
    await until(() => lines.length > 0, "the call is logged");
    expect(lines.length).toBe(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      level: "info",
      event: "call",
      path: METHOD_PATH,
      status: "OK",
      cancelled: false,
      requestBytes: frame("payload-secret").length,
      responseMessages: 1,
      requestId: "req-1",
      upstream: upstream.address,
    });
    expect(lines[0]).not.toMatch(/secret|old-token/);
  });
});

describe("slow clients and slow upstreams", () => {
  /** What one call may hold: a window and a stream buffer or two a side, and what the operating system gives at once. */
  const BOUND = 1024 * 1024;

  it("hold the upstream back instead of filling memory", async ({ expect, onTestFinished }) => {
    let produced = 0;
    const message = frame(Buffer.alloc(16_000));
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      const produce = (): void => {
        while (!stream.destroyed && stream.write(message)) {
          produced += message.length;
        }
      };
      stream.on("drain", produce);
      produce();
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const socket = connectTcp(gateway.port, "127.0.0.1");
    onTestFinished(() => {
      socket.destroy();
    });
    const body = frame("q");
    socket.pause();
    socket.write(
      `POST ${METHOD_PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/grpc-web\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
    const stalledAt = await stalled(() => produced);
    expect(gateway.stats().bufferedBytes).toBeGreaterThan(0);
    expect(gateway.stats().bufferedBytes).toBeLessThan(BOUND);
    let received = 0;
    socket.on("data", (chunk) => {
      received += chunk.length;
    });
    socket.resume();
    await until(() => received > stalledAt + 10 * BOUND, "the stream goes on when it is read");
    expect(gateway.stats().bufferedBytes).toBeLessThan(BOUND);
  });

  it("hold the client back instead of filling memory", async ({ expect, onTestFinished }) => {
    let read = 0;
    const streams: ServerHttp2Stream[] = [];
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      stream.pause();
      streams.push(stream);
      stream.on("end", () => answer(stream, frame("ok")));
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const size = 40 * 1024 * 1024;
    const reply = callRaw(gateway, Buffer.from(frame(Buffer.alloc(size))));
    await until(() => gateway.stats().bufferedBytes > 0, "the request begins");
    await stalled(() => gateway.stats().bufferedBytes);
    expect(gateway.stats().bufferedBytes).toBeLessThan(BOUND);
    streams[0]?.on("data", (chunk: Buffer) => {
      read += chunk.length;
    });
    streams[0]?.resume();
    expect((await reply).messages).toEqual(["ok"]);
    expect(read).toBe(size + 5);
  });
});

/** Waits until a count has stopped growing, and returns it. */
async function stalled(count: () => number): Promise<number> {
  let last = -1;
  while (count() !== last) {
    last = count();
    await new Promise((resolve) => {
      setTimeout(resolve, 150);
    });
  }
  return last;
}
