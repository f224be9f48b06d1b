import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp } from "node:net";

import { describe, it } from "vitest";

import type { Gateway } from "../../../scripts/gateway/server.ts";
import type { Upstream } from "./upstream-fixture.ts";
import {
  certificate,
  frame,
  gatewayFor,
  GRPC_REPLY,
  METHOD_PATH,
  startRawUpstream,
  until,
} from "./upstream-fixture.ts";

/** What happens to the one stream of an upstream that never ends it. */
interface Watched {
  readonly upstream: Upstream;
  readonly started: Promise<void>;
  /** The HTTP/2 error code, and when the reset came. */
  readonly reset: Promise<{ readonly code: number; readonly at: number }>;
}

async function startEndless(
  onTestFinished: (cleanup: () => void) => void,
  mode: "silent" | "streaming",
): Promise<Watched> {
  const started = Promise.withResolvers<void>();
  const reset = Promise.withResolvers<{ code: number; at: number }>();
  const upstream = await startRawUpstream(onTestFinished, (stream) => {
    stream.on("close", () => reset.resolve({ code: stream.rstCode, at: performance.now() }));
    if (mode === "streaming") {
      stream.respond(GRPC_REPLY);
      const timer = setInterval(() => stream.write(frame("token")), 5);
      stream.on("close", () => clearInterval(timer));
    }
    started.resolve();
  });
  return { upstream, started: started.promise, reset: reset.promise };
}

const CANCEL = 8;

/** Far below the second in which an engine must hear of it, far above what it takes. */
const SOON_MS = 200;

async function post(gateway: Gateway, signal: AbortSignal): Promise<Response> {
  return fetch(`${gateway.url}${METHOD_PATH}`, {
    method: "POST",
    headers: { "content-type": "application/grpc-web+proto" },
    body: Buffer.from(frame("hello")),
    signal,
  });
}

describe("when the client leaves", () => {
  it("resets a running stream at once", async ({ expect, onTestFinished }) => {
    const { upstream, reset } = await startEndless(onTestFinished, "streaming");
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const controller = new AbortController();
    const response = await post(gateway, controller.signal);
    await response.body?.getReader().read();
    const left = performance.now();
    controller.abort();
    const { code, at } = await reset;
    expect(code).toBe(CANCEL);
    expect(at - left).toBeLessThan(SOON_MS);
    await until(() => gateway.stats().activeCalls === 0, "the call ends");
    expect(gateway.stats()).toMatchObject({ cancelledCalls: 1, bufferedBytes: 0 });
  });

  it("resets a stream that has not answered yet", async ({ expect, onTestFinished }) => {
    const { upstream, started, reset } = await startEndless(onTestFinished, "silent");
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const controller = new AbortController();
    const response = post(gateway, controller.signal).catch(() => "aborted");
    await started;
    const left = performance.now();
    controller.abort();
    const { code, at } = await reset;
    expect(code).toBe(CANCEL);
    expect(at - left).toBeLessThan(SOON_MS);
    expect(await response).toBe("aborted");
  });

  const farewells = ["end", "destroy", "resetAndDestroy"] as const;
  it.for(farewells)("notices a socket's %s", async (farewell, { expect, onTestFinished }) => {
    const { upstream, started, reset } = await startEndless(onTestFinished, "silent");
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const socket = connectTcp(gateway.port, "127.0.0.1");
    socket.on("error", () => undefined);
    const body = frame("hello");
    socket.write(
      `POST ${METHOD_PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/grpc-web\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
    await started;
    const left = performance.now();
    socket[farewell]();
    const { code, at } = await reset;
    expect(code).toBe(CANCEL);
    expect(at - left).toBeLessThan(SOON_MS);
    socket.destroy();
  });

  it("resets when the client leaves in the middle of its request", async ({
    expect,
    onTestFinished,
  }) => {
    const { upstream, started, reset } = await startEndless(onTestFinished, "silent");
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const socket = connectTcp(gateway.port, "127.0.0.1");
    socket.write(
      `POST ${METHOD_PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/grpc-web\r\ncontent-length: 100\r\n\r\nabc`,
    );
    await started;
    socket.destroy();
    expect((await reset).code).toBe(CANCEL);
  });

  it("passes on a reset of an HTTP/2 client, whose connection stays", async ({
    expect,
    onTestFinished,
  }) => {
    const { upstream, started, reset } = await startEndless(onTestFinished, "silent");
    const gateway = await gatewayFor(onTestFinished, {
      upstream: upstream.address,
      tls: { cert: certificate("server.pem"), key: certificate("server-key.pem") },
    });
    const session = connectHttp2(gateway.url, { ca: certificate("ca.pem") });
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ":method": "POST",
      ":path": METHOD_PATH,
      "content-type": "application/grpc-web",
    });
    stream.on("error", () => undefined);
    stream.end(frame("hello"));
    await started;
    const left = performance.now();
    stream.close(CANCEL);
    const { code, at } = await reset;
    expect(code).toBe(CANCEL);
    expect(at - left).toBeLessThan(SOON_MS);
    expect(session.destroyed).toBe(false);
  });

  it("opens no stream when the client left while a connection was made", async ({
    expect,
    onTestFinished,
  }) => {
    let streams = 0;
    const upstream = await startRawUpstream(onTestFinished, () => {
      streams += 1;
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const controller = new AbortController();
    const response = post(gateway, controller.signal).catch(() => "aborted");
    controller.abort();
    expect(await response).toBe("aborted");
    await until(() => gateway.stats().activeCalls === 0, "the call ends");
    expect(streams).toBe(0);
  });
});
