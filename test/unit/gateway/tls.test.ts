import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";

import { describe, it } from "vitest";

import type { Gateway, GatewayOptions } from "../../../scripts/gateway/server.ts";
import { startGateway } from "../../../scripts/gateway/server.ts";
import { GRPC } from "../../../scripts/gateway/status.ts";
import {
  answer,
  callRaw,
  certificate,
  frame,
  gatewayFor,
  METHOD_PATH,
  startRawUpstream,
} from "./upstream-fixture.ts";

const CA = certificate("ca.pem");
const SERVER = { cert: certificate("server.pem"), key: certificate("server-key.pem") };
const CLIENT = { cert: certificate("client.pem"), key: certificate("client-key.pem") };

describe("TLS to the upstream", () => {
  type Row = Readonly<{
    name: string;
    demand: "server" | "mutual";
    upstreamTls: GatewayOptions["upstreamTls"];
    host?: string;
    code: number;
  }>;
  const rows: readonly Row[] = [
    { name: "a trusted CA", demand: "server", upstreamTls: { ca: CA }, code: GRPC.OK },
    { name: "an unknown CA", demand: "server", upstreamTls: {}, code: GRPC.UNAVAILABLE },
    { name: "no check", demand: "server", upstreamTls: { insecure: true }, code: GRPC.OK },
    {
      name: "a name in the certificate",
      demand: "server",
      upstreamTls: { ca: CA, serverName: "worker.test" },
      code: GRPC.OK,
    },
    {
      name: "a name that is not in the certificate",
      demand: "server",
      upstreamTls: { ca: CA, serverName: "other.test" },
      code: GRPC.UNAVAILABLE,
    },
    {
      name: "the client certificate that is asked for",
      demand: "mutual",
      upstreamTls: { ca: CA, ...CLIENT },
      code: GRPC.OK,
    },
    {
      name: "no client certificate where one is asked for",
      demand: "mutual",
      upstreamTls: { ca: CA },
      code: GRPC.UNAVAILABLE,
    },
  ];
  it.for(rows)("with $name: status $code", async (row, { expect, onTestFinished }) => {
    const upstream = await startRawUpstream(
      onTestFinished,
      (stream, headers) => answer(stream, frame(String(headers[":scheme"]))),
      { tls: row.demand },
    );
    const gateway = await gatewayFor(onTestFinished, {
      upstream: upstream.address,
      ...(row.upstreamTls !== undefined && { upstreamTls: row.upstreamTls }),
    });
    const reply = await callRaw(gateway);
    const status = reply.trailers?.["grpc-status"] ?? reply.headers.get("grpc-status");
    expect(Number(status)).toBe(row.code);
    expect(reply.messages).toEqual(row.code === GRPC.OK ? ["https"] : []);
  });
});

/** One call over HTTP/1.1 and TLS. */
async function callHttps(gateway: Gateway, client: object = {}): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const request = httpsRequest(
    `${gateway.url}${METHOD_PATH}`,
    {
      method: "POST",
      headers: { "content-type": "application/grpc-web" },
      ca: CA,
      agent: false,
      ...client,
    },
    (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve(Buffer.concat(chunks)));
      response.on("error", reject);
    },
  );
  request.on("error", reject);
  request.end(frame("q"));
  return promise;
}

/** One call over HTTP/2. */
async function callHttp2(gateway: Gateway): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const session = connectHttp2(gateway.url, { ca: CA });
  session.on("error", reject);
  const stream = session.request({
    ":method": "POST",
    ":path": METHOD_PATH,
    "content-type": "application/grpc-web",
  });
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("end", () => resolve(Buffer.concat(chunks)));
  stream.on("error", reject);
  stream.end(frame("q"));
  const body = await promise;
  session.close();
  return body;
}

describe("TLS to the client", () => {
  const reply = Buffer.concat([frame("a"), frame("grpc-status:0\r\n", 0x80)]);

  it("speaks HTTP/1.1 and HTTP/2", async ({ expect, onTestFinished }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => answer(stream, frame("a")));
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address, tls: SERVER });
    expect(gateway.url).toMatch(/^https:/);
    expect(await callHttps(gateway)).toEqual(reply);
    expect(await callHttp2(gateway)).toEqual(reply);
  });

  it("asks for a client certificate when told so", async ({ expect, onTestFinished }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => answer(stream, frame("a")));
    const tls = { ...SERVER, clientCa: CA };
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address, tls });
    expect(await callHttps(gateway, CLIENT)).toEqual(reply);
    await expect(callHttps(gateway)).rejects.toThrow();
    expect(gateway.stats().totalCalls).toBe(1);
  });

  it("can change its certificate while it runs", async ({ expect, onTestFinished }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => answer(stream, frame("a")));
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address, tls: SERVER });
    gateway.setCertificate(CLIENT);
    await expect(callHttps(gateway)).rejects.toThrow();
    gateway.setCertificate(SERVER);
    expect(await callHttps(gateway)).toEqual(reply);
  });

  it("finds a broken certificate at the start", async ({ expect }) => {
    const tls = { cert: "not a certificate", key: SERVER.key };
    await expect(startGateway({ upstream: "127.0.0.1:1", tls })).rejects.toThrow(/^tls-cert: /);
    const upstreamTls = { ca: CA, cert: CLIENT.cert, key: SERVER.key };
    await expect(startGateway({ upstream: "127.0.0.1:1", upstreamTls })).rejects.toThrow(
      /^upstream-tls: /,
    );
  });
});
