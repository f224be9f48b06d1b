import { constants } from "node:http2";

/** The gRPC status codes by name, in the numbering of the wire. */
export const GRPC = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type GrpcCode = (typeof GRPC)[keyof typeof GRPC];

/** An outcome that the gateway states itself. The message is plain text: it holds no address, header or payload. */
export interface GrpcStatus {
  readonly code: GrpcCode;
  readonly message: string;
}

const NAMES = new Map<number, string>(Object.entries(GRPC).map(([name, code]) => [code, name]));

/** The name of a status for the log; the number itself for one that gRPC does not define. */
export function statusName(code: number): string {
  return NAMES.get(code) ?? String(code);
}

/**
 * The status of a reply that is not gRPC, by its HTTP status, as gRPC's own table has it. A 200 without a gRPC status
 * is UNKNOWN.
 */
export function statusFromHttp(httpStatus: number): GrpcCode {
  switch (httpStatus) {
    case 400:
      return GRPC.INTERNAL;
    case 401:
      return GRPC.UNAUTHENTICATED;
    case 403:
      return GRPC.PERMISSION_DENIED;
    case 404:
      return GRPC.UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
      return GRPC.UNAVAILABLE;
    default:
      return GRPC.UNKNOWN;
  }
}

/**
 * The status of a stream that the upstream reset, by the HTTP/2 error code, as gRPC's own table has it. NO_ERROR here
 * means an end without trailers: that is a cut connection in all but name, so UNAVAILABLE.
 */
export function statusFromReset(errorCode: number): GrpcStatus {
  switch (errorCode) {
    case constants.NGHTTP2_NO_ERROR:
      return { code: GRPC.UNAVAILABLE, message: "upstream ended the stream without a status" };
    case constants.NGHTTP2_REFUSED_STREAM:
      return { code: GRPC.UNAVAILABLE, message: "upstream refused the stream" };
    case constants.NGHTTP2_CANCEL:
      return { code: GRPC.CANCELLED, message: "upstream cancelled the stream" };
    case constants.NGHTTP2_ENHANCE_YOUR_CALM:
      return { code: GRPC.RESOURCE_EXHAUSTED, message: "upstream or header limit exceeded" };
    case constants.NGHTTP2_INADEQUATE_SECURITY:
      return {
        code: GRPC.PERMISSION_DENIED,
        message: "upstream asks for better transport security",
      };
    default:
      return {
        code: GRPC.INTERNAL,
        message: `upstream reset the stream (HTTP/2 error ${errorCode})`,
      };
  }
}

/** Percent-encodes a text for grpc-message: printable ASCII but `%` stays, every other UTF-8 byte becomes %XX. */
export function encodeGrpcMessage(text: string): string {
  let encoded = "";
  for (const byte of Buffer.from(text, "utf8")) {
    const plain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    encoded += plain
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return encoded;
}
