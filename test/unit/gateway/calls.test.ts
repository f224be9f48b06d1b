import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http2";

import { Code, ConnectError } from "@connectrpc/connect";
import { describe, it } from "vitest";

import {
  answer,
  callRaw,
  frame,
  gatewayFor,
  GRPC_REPLY,
  METHOD_PATH,
  readReply,
  schedulerClient,
  startRawUpstream,
  startScheduler,
} from "./upstream-fixture.ts";

describe("with Connect on both ends", () => {
  it("passes a unary call", async ({ expect, onTestFinished }) => {
    const upstream = await startScheduler(onTestFinished, {
      abort: (request) => ({ success: true, message: `${request.requestId}: ${request.reason}` }),
    });
    const gateway = await gatewayFor(onTestFinished, { upstream });
    const reply = await schedulerClient(gateway).abort({ requestId: "r1", reason: "gr\u00fcnde" });
    expect(reply).toMatchObject({ success: true, message: "r1: gr\u00fcnde" });
  });

  it("passes each message on before the next one exists", async ({ expect, onTestFinished }) => {
    const received: (() => void)[] = [];
    const upstream = await startScheduler(onTestFinished, {
      async *generate() {
        for (let index = 0; index < 20; index += 1) {
          const { promise, resolve } = Promise.withResolvers<void>();
          received.push(resolve);
          yield { requestId: String(index) };
          // A gateway that collected anything would wait here for ever.
          await promise;
        }
      },
    });
    const gateway = await gatewayFor(onTestFinished, { upstream });
    const ids: string[] = [];
    for await (const message of schedulerClient(gateway).generate({})) {
      ids.push(message.requestId);
      received.at(-1)?.();
    }
    expect(ids).toEqual(Array.from({ length: 20 }, (_, index) => String(index)));
  });

  const codes = Object.values(Code).filter((code) => typeof code === "number");
  it.for(codes)("passes on status %i with its message and details", async (code, context) => {
    const { expect, onTestFinished } = context;
    const message = "100% gr\u00fcn \u4f60\u597d\n\u{1f600} %41";
    const upstream = await startScheduler(onTestFinished, {
      abort: () => {
        throw new ConnectError(message, code, { "x-why": "because", "x-raw-bin": "AAEC" });
      },
      async *generate() {
        yield { requestId: "first" };
        throw new ConnectError(message, code);
      },
    });
    const client = schedulerClient(await gatewayFor(onTestFinished, { upstream }));
    const unary = await client.abort({}).catch((error: unknown) => ConnectError.from(error));
    expect(unary).toMatchObject({ code, rawMessage: message });
    expect(unary instanceof ConnectError && unary.metadata.get("x-why")).toBe("because");
    expect(unary instanceof ConnectError && unary.metadata.get("x-raw-bin")).toBe("AAEC");
    const ids: string[] = [];
    const stream = (async () => {
      for await (const reply of client.generate({})) {
        ids.push(reply.requestId);
      }
    })();
    await expect(stream).rejects.toMatchObject({ code, rawMessage: message });
    expect(ids).toEqual(["first"]);
  });

  it("passes metadata both ways", async ({ expect, onTestFinished }) => {
    const upstream = await startScheduler(onTestFinished, {
      abort: (_request, context) => {
        context.responseHeader.set("x-initial", context.requestHeader.get("x-sent") ?? "");
        context.responseHeader.set("x-initial-bin", context.requestHeader.get("x-sent-bin") ?? "");
        context.responseTrailer.set("x-timeout-seen", String(context.timeoutMs() !== undefined));
        context.responseTrailer.append("x-twice", "a");
        context.responseTrailer.append("x-twice", "b");
        return {};
      },
    });
    const gateway = await gatewayFor(onTestFinished, { upstream });
    const seen: Record<string, string | null> = {};
    await schedulerClient(gateway).abort(
      {},
      {
        timeoutMs: 5000,
        headers: { "x-sent": "v", "x-sent-bin": "/wA=" },
        onHeader: (headers) => {
          seen["initial"] = headers.get("x-initial");
          seen["binary"] = headers.get("x-initial-bin");
        },
        onTrailer: (trailers) => {
          seen["timeout"] = trailers.get("x-timeout-seen");
          seen["twice"] = trailers.get("x-twice");
        },
      },
    );
    expect(seen).toEqual({ initial: "v", binary: "/wA=", timeout: "true", twice: "a, b" });
  });

  it("passes large messages both ways", async ({ expect, onTestFinished }) => {
    const upstream = await startScheduler(onTestFinished, {
      abort: (request) => ({ message: request.reason }),
    });
    const gateway = await gatewayFor(onTestFinished, { upstream });
    const reason = "0123456789abcdef".repeat(1024 * 512);
    const reply = await schedulerClient(gateway).abort({ reason });
    expect(reply.message.length).toBe(reason.length);
    expect(digest(reply.message)).toBe(digest(reason));
    expect(gateway.stats().bufferedBytes).toBe(0);
  });

  it("carries 200 streams at once over several connections", async ({ expect, onTestFinished }) => {
    const all = Promise.withResolvers<void>();
    let started = 0;
    const upstream = await startScheduler(onTestFinished, {
      async *generate(request) {
        yield { requestId: `${request.requestId}-first` };
        started += 1;
        if (started === 200) {
          all.resolve();
        }
        await all.promise;
        yield { requestId: `${request.requestId}-last` };
      },
    });
    const gateway = await gatewayFor(onTestFinished, { upstream });
    const client = schedulerClient(gateway);
    const run = async (id: string): Promise<readonly string[]> => {
      const ids: string[] = [];
      for await (const message of client.generate({ requestId: id })) {
        ids.push(message.requestId);
      }
      return ids;
    };
    const runs = Array.from({ length: 200 }, async (_, index) => run(String(index)));
    const results = await Promise.all(runs);
    expect(results).toEqual(runs.map((_, index) => [`${index}-first`, `${index}-last`]));
    expect(gateway.stats()).toMatchObject({
      totalCalls: 200,
      cancelledCalls: 0,
      upstreamConnections: 2,
    });
  });

  it("reports an unknown service as unimplemented", async ({ expect, onTestFinished }) => {
    const upstream = await startScheduler(onTestFinished, {});
    const gateway = await gatewayFor(onTestFinished, { upstream });
    await expect(schedulerClient(gateway).abort({})).rejects.toMatchObject({
      code: Code.Unimplemented,
    });
    const reply = await callRaw(gateway);
    expect(reply.headers.get("grpc-status")).toBe("12");
  });
});

describe("byte for byte", () => {
  it("turns gRPC-Web into gRPC and trailers into a frame", async ({ expect, onTestFinished }) => {
    let seen: IncomingHttpHeaders = {};
    const body: Buffer[] = [];
    let resetCode: number | undefined;
    const upstream = await startRawUpstream(onTestFinished, (stream, headers) => {
      seen = headers;
      stream.on("data", (chunk: Buffer) => body.push(chunk));
      stream.on("end", () => answer(stream, Buffer.concat([frame("one"), frame("two", 1)])));
      stream.on("close", () => {
        resetCode = stream.rstCode;
      });
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const reply = await callRaw(gateway, Buffer.from(frame("hello")), { "grpc-timeout": "7S" });
    expect(Buffer.concat(body)).toEqual(frame("hello"));
    expect(seen).toMatchObject({
      ":method": "POST",
      ":path": METHOD_PATH,
      ":authority": upstream.address,
      "content-type": "application/grpc+proto",
      "grpc-timeout": "7S",
      te: "trailers",
    });
    expect(reply).toMatchObject({
      httpStatus: 200,
      messages: ["one", "two"],
      trailers: { "grpc-status": "0" },
    });
    expect(reply.headers.get("content-type")).toBe("application/grpc-web+proto");
    expect(resetCode).toBe(0);
  });

  it("keeps a trailers-only reply in the headers, with an empty body", async ({
    expect,
    onTestFinished,
  }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      stream.respond(
        { ...GRPC_REPLY, "grpc-status": "5", "grpc-message": "k%C3%B6ln %25", "x-meta": "m" },
        { endStream: true },
      );
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const reply = await callRaw(gateway);
    expect(reply.body.length).toBe(0);
    expect(reply.httpStatus).toBe(200);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "grpc-status": "5",
      "grpc-message": "k%C3%B6ln %25",
      "x-meta": "m",
      "content-type": "application/grpc-web+proto",
    });
    const client = schedulerClient(gateway);
    const expected = { code: Code.NotFound, rawMessage: "k\u00f6ln %" };
    await expect(client.abort({})).rejects.toMatchObject(expected);
    await expect(client.generate({})[Symbol.asyncIterator]().next()).rejects.toMatchObject(
      expected,
    );
  });

  it("takes a status in the headers of a reply that is ended by an empty body", async ({
    expect,
    onTestFinished,
  }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      stream.respond({ ...GRPC_REPLY, "grpc-status": "9" });
      stream.end();
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const reply = await callRaw(gateway);
    expect(reply.headers.get("grpc-status")).toBe("9");
    expect(reply.body.length).toBe(0);
  });

  it("joins what an upstream writes byte by byte", async ({ expect, onTestFinished }) => {
    const bytes = Buffer.concat([frame("one"), frame(""), frame("three")]);
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      stream.respond(GRPC_REPLY, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      const writeFrom = (index: number): void => {
        if (index === bytes.length) {
          stream.end();
          return;
        }
        stream.write(bytes.subarray(index, index + 1), () => setImmediate(writeFrom, index + 1));
      };
      writeFrom(0);
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const reply = await callRaw(gateway);
    expect(reply.messages).toEqual(["one", "", "three"]);
    expect(reply.trailers).toEqual({ "grpc-status": "0" });
  });

  it("speaks base64 with grpc-web-text clients", async ({ expect, onTestFinished }) => {
    const body: Buffer[] = [];
    const large = "x".repeat(200_000);
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      stream.on("data", (chunk: Buffer) => body.push(chunk));
      stream.on("end", () => answer(stream, Buffer.concat([frame("ab"), frame(large)])));
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const sent = frame("hello").toString("base64");
    const reply = await callRaw(gateway, Buffer.from(sent), {
      "content-type": "application/grpc-web-text",
    });
    expect(Buffer.concat(body)).toEqual(frame("hello"));
    expect(reply.headers.get("content-type")).toBe("application/grpc-web-text+proto");
    expect(reply.messages).toEqual(["ab", large]);
    expect(reply.trailers).toEqual({ "grpc-status": "0" });
  });

  it("answers in base64 when only the Accept header asks for it", async ({
    expect,
    onTestFinished,
  }) => {
    const upstream = await startRawUpstream(onTestFinished, (stream) => answer(stream, frame("a")));
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const reply = await callRaw(gateway, Buffer.from(frame("q")), {
      accept: "application/grpc-web-text",
    });
    expect(reply.headers.get("content-type")).toBe("application/grpc-web-text+proto");
    expect(reply.messages).toEqual(["a"]);
  });

  it("passes on other message formats under their own name", async ({ expect, onTestFinished }) => {
    let type: string | undefined;
    const upstream = await startRawUpstream(onTestFinished, (stream, headers) => {
      type = headers["content-type"];
      stream.respond(
        { ":status": 200, "content-type": "application/grpc+json" },
        { waitForTrailers: true },
      );
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(frame("{}"));
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const reply = await callRaw(gateway, Buffer.from(frame("{}")), {
      "content-type": "application/grpc-web+json",
    });
    expect(type).toBe("application/grpc+json");
    expect(reply.headers.get("content-type")).toBe("application/grpc-web+json");
  });

  it("sends the reply's headers before the first message", async ({ expect, onTestFinished }) => {
    const gate = Promise.withResolvers<void>();
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      stream.respond({ ...GRPC_REPLY, "x-early": "yes" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      void gate.promise.then(() => stream.end(frame("late")));
    });
    const gateway = await gatewayFor(onTestFinished, { upstream: upstream.address });
    const response = await fetch(`${gateway.url}${METHOD_PATH}`, {
      method: "POST",
      headers: { "content-type": "application/grpc-web" },
      body: Buffer.from(frame("q")),
    });
    expect(response.headers.get("x-early")).toBe("yes");
    gate.resolve();
    expect((await readReply(response)).messages).toEqual(["late"]);
  });
});

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
