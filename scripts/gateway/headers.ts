import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { validateHeaderName, validateHeaderValue } from "node:http";
import { sensitiveHeaders } from "node:http2";
import type {
  IncomingHttpHeaders as Http2Headers,
  OutgoingHttpHeaders as Http2Outgoing,
} from "node:http2";

import type { Trailer } from "./frames.ts";

/** A gRPC-Web content type: base64 or not, and the message format behind the `+`, if the client named one. */
export interface GrpcWebType {
  readonly text: boolean;
  readonly format: string | undefined;
}

/** Reads a gRPC-Web content type; undefined for every other one. Parameters behind a semicolon are ignored. */
export function parseGrpcWebType(contentType: string | undefined): GrpcWebType | undefined {
  const match = /^application\/grpc-web(-text)?(?:\+([a-z0-9.-]+))?\s*(?:;.*)?$/i.exec(
    contentType ?? "",
  );
  return match === null
    ? undefined
    : { text: match[1] !== undefined, format: match[2]?.toLowerCase() };
}

/** Whether the client wants the reply in base64: as `Accept` says where it names a gRPC-Web type, else as it sent. */
export function wantsText(requestType: GrpcWebType, accept: string | undefined): boolean {
  for (const entry of (accept ?? "").split(",")) {
    const accepted = parseGrpcWebType(entry.trim());
    if (accepted !== undefined) {
      return accepted.text;
    }
  }
  return requestType.text;
}

/** The content type of a reply. `application/grpc-web` alone means protobuf, and the reply says so. */
export function replyType(text: boolean, format: string | undefined): string {
  return `application/grpc-web${text ? "-text" : ""}+${format ?? "proto"}`;
}

/** The message format in an upstream's `application/grpc+…`; null when the reply is not gRPC at all. */
export function grpcFormat(contentType: string | undefined): string | undefined | null {
  const match = /^application\/grpc(?:\+([a-z0-9.-]+))?\s*(?:;.*)?$/i.exec(contentType ?? "");
  return match === null ? null : match[1]?.toLowerCase();
}

/** Names the worker a call goes to, on gateways with an allow list. */
export const WORKER_HEADER = "x-worker";

/** Carries the gateway's token when `authorization` belongs to the upstream. */
export const TOKEN_HEADER = "x-gateway-token";

/** Belong to one connection, or to HTTP and not to the call. */
const CONNECTION_HEADERS = [
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** Describe the HTTP request, its sender or its way; no engine reads them, some are private. */
const DROPPED_REQUEST_HEADERS = new Set([
  ...CONNECTION_HEADERS,
  WORKER_HEADER,
  TOKEN_HEADER,
  "accept",
  "accept-charset",
  "accept-encoding",
  "accept-language",
  "cdn-loop",
  "content-type",
  "cookie",
  "forwarded",
  "origin",
  "referer",
  "true-client-ip",
  "user-agent",
  "via",
  "x-grpc-web",
  "x-real-ip",
  "x-user-agent",
]);

const DROPPED_REQUEST_PREFIXES = ["cf-", "sec-", "x-forwarded-"];

const DROPPED_REPLY_HEADERS = new Set([
  ...CONNECTION_HEADERS,
  "content-type",
  "date",
  "grpc-status",
  "grpc-message",
  "grpc-status-details-bin",
  "server",
]);

/** The names in a `Connection` header are hop-by-hop too. */
function connectionNames(headers: IncomingHttpHeaders): ReadonlySet<string> {
  const names = (headers.connection ?? "").split(",").map((name) => name.trim().toLowerCase());
  return new Set(names);
}

export interface UpstreamHeaderOptions {
  readonly path: string;
  readonly authority: string;
  readonly scheme: "http" | "https";
  readonly format: string | undefined;
  /** True when `authorization` carried the gateway's own token. */
  readonly dropAuthorization: boolean;
}

/** The HTTP/2 headers of the upstream call: the client's metadata without what belongs to this hop. */
export function toUpstreamHeaders(
  headers: IncomingHttpHeaders,
  options: UpstreamHeaderOptions,
): Http2Outgoing {
  const perConnection = connectionNames(headers);
  const result: Http2Outgoing & { [sensitiveHeaders]?: string[] } = {
    ":method": "POST",
    ":scheme": options.scheme,
    ":path": options.path,
    ":authority": options.authority,
    "content-type":
      options.format === undefined ? "application/grpc" : `application/grpc+${options.format}`,
    te: "trailers",
    "user-agent": String(headers["x-user-agent"] ?? headers["user-agent"] ?? "sgl-edge-gateway"),
  };
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && isMetadata(name) && !perConnection.has(name)) {
      result[name] = value;
    }
  }
  if (options.dropAuthorization) {
    delete result["authorization"];
  }
  // Never indexed by header compression, so neither side keeps it in a table.
  result[sensitiveHeaders] = ["authorization"];
  return result;
}

function isMetadata(name: string): boolean {
  return (
    !name.startsWith(":") &&
    !DROPPED_REQUEST_HEADERS.has(name) &&
    !DROPPED_REQUEST_PREFIXES.some((prefix) => name.startsWith(prefix))
  );
}

/** The headers of a reply: the upstream's initial metadata, and what keeps proxies from buffering or changing it. */
export function toReplyHeaders(headers: Http2Headers, contentType: string): OutgoingHttpHeaders {
  const result: OutgoingHttpHeaders = {
    "cache-control": "no-store, no-transform",
    "x-accel-buffering": "no",
  };
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(":") && !DROPPED_REPLY_HEADERS.has(name) && isValid(name, value)) {
      result[name] = value;
    }
  }
  result["content-type"] = contentType;
  return result;
}

/** HTTP/2 lets some octets through that HTTP/1.1 must not carry. */
function isValid(name: string, value: string | string[] | undefined): boolean {
  try {
    validateHeaderName(name);
    for (const one of Array.isArray(value) ? value : [value ?? ""]) {
      validateHeaderValue(name, one);
    }
    return true;
  } catch {
    return false;
  }
}

/** The upstream's trailers in their own order, grpc-status among them; pseudo headers are left out. */
export function toTrailers(headers: Http2Headers): readonly Trailer[] {
  return Object.entries(headers).flatMap(([name, value]): Trailer[] => {
    if (name.startsWith(":") || value === undefined || !isValid(name, value)) {
      return [];
    }
    return Array.isArray(value) ? value.map((one): Trailer => [name, one]) : [[name, value]];
  });
}

/** The three fields that carry a status, for a reply that has it in its headers. */
export function statusFields(headers: Http2Headers): readonly Trailer[] {
  return toTrailers(headers).filter(([name]) =>
    ["grpc-status", "grpc-message", "grpc-status-details-bin"].includes(name),
  );
}

const TIMEOUT_UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** A grpc-timeout in milliseconds (rounded up); undefined when there is none or it is malformed. */
export function parseGrpcTimeout(value: string | string[] | undefined): number | undefined {
  const match = typeof value === "string" ? /^(\d{1,8})([HMSmun])$/.exec(value) : null;
  const unitMs = TIMEOUT_UNIT_MS[match?.[2] ?? ""];
  return unitMs === undefined ? undefined : Math.ceil(Number(match?.[1]) * unitMs);
}

/** The size of a header block as HTTP/2 counts it: names, values and 32 bytes for each pair. */
export function headerBlockBytes(headers: Http2Headers): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    for (const one of Array.isArray(value) ? value : [String(value)]) {
      bytes += name.length + one.length + 32;
    }
  }
  return bytes;
}
