import { describe, it } from "vitest";

import {
  grpcFormat,
  parseGrpcTimeout,
  parseGrpcWebType,
  toReplyHeaders,
  toUpstreamHeaders,
  wantsText,
} from "../../../scripts/gateway/headers.ts";
import {
  encodeGrpcMessage,
  GRPC,
  statusFromHttp,
  statusFromReset,
} from "../../../scripts/gateway/status.ts";

describe("content types", () => {
  const types = [
    { type: "application/grpc-web", text: false, format: undefined },
    { type: "application/grpc-web+proto", text: false, format: "proto" },
    { type: "Application/gRPC-Web+JSON; charset=utf-8", text: false, format: "json" },
    { type: "application/grpc-web-text", text: true, format: undefined },
    { type: "application/grpc-web-text+proto", text: true, format: "proto" },
  ];
  it.for(types)("reads $type", ({ type, text, format }, { expect }) => {
    expect(parseGrpcWebType(type)).toEqual({ text, format });
  });

  const others = ["application/grpc", "application/grpc-webx", "application/json", "", undefined];
  it.for(others)("does not take %s for gRPC-Web", (type, { expect }) => {
    expect(parseGrpcWebType(type)).toBeUndefined();
  });

  const replies = [
    { type: "application/grpc", format: undefined },
    { type: "application/grpc+proto", format: "proto" },
    { type: "application/grpc-web", format: null },
    { type: "text/html", format: null },
    { type: undefined, format: null },
  ];
  it.for(replies)("reads the upstream's $type", ({ type, format }, { expect }) => {
    expect(grpcFormat(type)).toBe(format);
  });

  const accepts = [
    { accept: undefined, sent: true, text: true },
    { accept: "*/*", sent: true, text: true },
    { accept: "application/grpc-web-text", sent: false, text: true },
    { accept: "application/grpc-web+proto, application/grpc-web-text", sent: true, text: false },
  ];
  it.for(accepts)("accept $accept after text $sent", ({ accept, sent, text }, { expect }) => {
    expect(wantsText({ text: sent, format: undefined }, accept)).toBe(text);
  });
});

describe("request headers", () => {
  const options = {
    path: "/a.B/C",
    authority: "worker:1",
    scheme: "http",
    format: "proto",
    dropAuthorization: false,
  } as const;

  it("passes metadata on and drops what belongs to HTTP or the way", ({ expect }) => {
    const result = toUpstreamHeaders(
      {
        authorization: "Bearer for-the-engine",
        "grpc-timeout": "5S",
        "x-trace-bin": "AAEC",
        "x-request-id": "r1",
        host: "edge",
        connection: "keep-alive, x-hop",
        "x-hop": "1",
        "content-length": "9",
        "transfer-encoding": "chunked",
        "accept-encoding": "br",
        cookie: "c",
        "cf-ray": "1",
        "sec-fetch-mode": "cors",
        "x-forwarded-for": "10.0.0.1",
        "x-gateway-token": "secret",
        "x-worker": "worker:1",
        "x-grpc-web": "1",
        "x-user-agent": "connect-es/2",
        "user-agent": "node",
      },
      options,
    );
    expect(Object.fromEntries(Object.entries(result))).toEqual({
      ":method": "POST",
      ":scheme": "http",
      ":path": "/a.B/C",
      ":authority": "worker:1",
      "content-type": "application/grpc+proto",
      te: "trailers",
      "user-agent": "connect-es/2",
      authorization: "Bearer for-the-engine",
      "grpc-timeout": "5S",
      "x-trace-bin": "AAEC",
      "x-request-id": "r1",
    });
  });

  it("drops the authorization that was for the gateway", ({ expect }) => {
    const headers = { authorization: "Bearer secret" };
    const result = toUpstreamHeaders(headers, { ...options, dropAuthorization: true });
    expect(result).not.toHaveProperty("authorization");
  });
});

describe("reply headers", () => {
  it("keeps initial metadata, and drops pseudo headers, statuses and what is not valid", ({
    expect,
  }) => {
    const result = toReplyHeaders(
      {
        ":path": "/a.B/C",
        "x-meta": "1",
        "x-meta-bin": "AAE=",
        "grpc-status": "0",
        "content-length": "5",
        "grpc-encoding": "gzip",
        "x-bad": "a\u0001b",
      },
      "application/grpc-web+proto",
    );
    expect(result).toEqual({
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "x-meta": "1",
      "x-meta-bin": "AAE=",
      "grpc-encoding": "gzip",
      "content-type": "application/grpc-web+proto",
    });
  });
});

describe("grpc-timeout", () => {
  const timeouts = [
    { value: "2H", ms: 7_200_000 },
    { value: "3M", ms: 180_000 },
    { value: "4S", ms: 4000 },
    { value: "5m", ms: 5 },
    { value: "1500u", ms: 2 },
    { value: "1n", ms: 1 },
    { value: "0m", ms: 0 },
    { value: "123456789m", ms: undefined },
    { value: "5", ms: undefined },
    { value: "-5m", ms: undefined },
    { value: undefined, ms: undefined },
  ];
  it.for(timeouts)("reads $value", ({ value, ms }, { expect }) => {
    expect(parseGrpcTimeout(value)).toBe(ms);
  });
});

describe("statuses", () => {
  const http = [
    [200, GRPC.UNKNOWN],
    [400, GRPC.INTERNAL],
    [401, GRPC.UNAUTHENTICATED],
    [403, GRPC.PERMISSION_DENIED],
    [404, GRPC.UNIMPLEMENTED],
    [429, GRPC.UNAVAILABLE],
    [500, GRPC.UNKNOWN],
    [502, GRPC.UNAVAILABLE],
    [503, GRPC.UNAVAILABLE],
    [504, GRPC.UNAVAILABLE],
  ] as const;
  it.for(http)("HTTP %i is %i", ([httpStatus, code], { expect }) => {
    expect(statusFromHttp(httpStatus)).toBe(code);
  });

  const resets = [
    [0, GRPC.UNAVAILABLE],
    [1, GRPC.INTERNAL],
    [2, GRPC.INTERNAL],
    [7, GRPC.UNAVAILABLE],
    [8, GRPC.CANCELLED],
    [11, GRPC.RESOURCE_EXHAUSTED],
    [12, GRPC.PERMISSION_DENIED],
  ] as const;
  it.for(resets)("HTTP/2 error %i is %i", ([errorCode, code], { expect }) => {
    expect(statusFromReset(errorCode).code).toBe(code);
  });

  it("percent-encodes messages", ({ expect }) => {
    expect(encodeGrpcMessage("100% \u00fc\n~")).toBe("100%25 %C3%BC%0A~");
  });
});
