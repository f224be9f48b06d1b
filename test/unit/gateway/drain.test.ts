import { Agent, request as httpRequest } from "node:http";

import { describe, it } from "vitest";

import type { Gateway } from "../../../scripts/gateway/server.ts";
import { GRPC } from "../../../scripts/gateway/status.ts";
import type { OnTestFinished } from "./upstream-fixture.ts";
import {
  answer,
  callRaw,
  frame,
  gatewayFor,
  startRawUpstream,
  startTcpServer,
  until,
} from "./upstream-fixture.ts";

async function getStatus(gateway: Gateway, path: string): Promise<number> {
  const response = await fetch(`${gateway.url}${path}`);
  await response.arrayBuffer();
  return response.status;
}

/** A gateway with one running call, which ends when `release` is called. */
async function startBusy(onTestFinished: OnTestFinished) {
  const gate = Promise.withResolvers<void>();
  const upstream = await startRawUpstream(onTestFinished, (stream) => {
    void gate.promise.then(() => stream.destroyed || answer(stream, frame("done")));
  });
  const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
  const reply = callRaw(gateway);
  await until(() => gateway.stats().activeCalls === 1, "the call runs");
  return { gateway, reply, release: () => gate.resolve() };
}

describe("health checks", () => {
  it("tell the gateway from the upstream", async ({ expect, onTestFinished }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => answer(stream, frame("a")));
    const good = await gatewayFor(onTestFinished, {
      upstream: upstream.address,
      tokens: ["t".repeat(20)],
    });
    expect(await getStatus(good, "/healthz")).toBe(200);
    expect(await getStatus(good, "/readyz")).toBe(200);
    const silent = await startTcpServer(onTestFinished, () => undefined);
    for (const address of ["127.0.0.1:1", silent]) {
      const bad = await gatewayFor(onTestFinished, { upstream: address, connectTimeoutMs: 50 });
      expect(await getStatus(bad, "/healthz")).toBe(200);
      expect(await getStatus(bad, "/readyz")).toBe(503);
    }
  });

  it("are ready with any of several workers", async ({ expect, onTestFinished }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => answer(stream, frame("a")));
    const allow = ["127.0.0.1:1", upstream.address];
    const gateway = await gatewayFor(onTestFinished, { allow });
    expect(await getStatus(gateway, "/readyz")).toBe(200);
  });
});

describe("drain", () => {
  it("waits for running calls, then closes", async ({ expect, onTestFinished }) => {
    const { gateway, reply, release } = await startBusy(onTestFinished);
    const drained = gateway.drain({ timeoutMs: 10_000 });
    await expect(fetch(`${gateway.url}/healthz`)).rejects.toThrow();
    expect(gateway.stats()).toMatchObject({ draining: true, activeCalls: 1 });
    release();
    expect((await reply).messages).toEqual(["done"]);
    await drained;
    expect(gateway.stats()).toMatchObject({ activeCalls: 0, upstreamConnections: 0 });
  });

  it("fails health checks and still takes calls during the delay", async ({
    expect,
    onTestFinished,
  }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => answer(stream, frame("a")));
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const drained = gateway.drain({ delayMs: 60_000, timeoutMs: 0 });
    expect(await getStatus(gateway, "/healthz")).toBe(503);
    expect(await getStatus(gateway, "/readyz")).toBe(503);
    expect((await callRaw(gateway)).messages).toEqual(["a"]);
    await gateway.close();
    await drained;
  });

  it("refuses calls on connections that are still open", async ({ expect, onTestFinished }) => {
    const { gateway, reply, release } = await startBusy(onTestFinished);
    // Two requests on one connection: the second is only read when the first has its answer.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const post = async (): Promise<number | undefined> => {
      const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
      const request = httpRequest(
        `${gateway.url}/test.Service/Method`,
        { method: "POST", agent, headers: { "content-type": "application/grpc-web" } },
        (response) => {
          response.resume();
          response.on("end", () => resolve(response.statusCode));
        },
      );
      request.on("error", reject);
      request.end(frame("q"));
      return promise;
    };
    const first = post();
    await until(() => gateway.stats().activeCalls === 2, "the second call runs");
    const drained = gateway.drain({ timeoutMs: 10_000 });
    const second = post().catch(() => "connection closed");
    release();
    expect(await first).toBe(200);
    expect([503, "connection closed"]).toContain(await second);
    expect((await reply).messages).toEqual(["done"]);
    await drained;
    expect(gateway.stats().totalCalls).toBe(2);
  });

  it("ends what is left after its timeout as UNAVAILABLE", async ({ expect, onTestFinished }) => {
    const { gateway, reply } = await startBusy(onTestFinished);
    await gateway.drain({ timeoutMs: 50 });
    const ended = await reply;
    expect(ended.headers.get("grpc-status")).toBe(String(GRPC.UNAVAILABLE));
    expect(ended.headers.get("grpc-message")).toBe("gateway is shutting down");
  });

  it("is cut short by close", async ({ expect, onTestFinished }) => {
    const { gateway, reply } = await startBusy(onTestFinished);
    const drained = gateway.drain({ timeoutMs: 60_000 });
    await gateway.close();
    await drained;
    expect((await reply).headers.get("grpc-status")).toBe(String(GRPC.UNAVAILABLE));
  });
});
