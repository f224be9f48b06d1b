import { once } from "node:events";
import { connect } from "node:http2";

/** A gRPC call with an empty message over plain HTTP/2: what its first headers say. */
export async function rawCall(
  url: string,
  path: string,
): Promise<{ readonly status: number | undefined; readonly grpcStatus: string | undefined }> {
  const session = connect(url);
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.end(new Uint8Array(5));
    const [headers] = await once(stream, "response");
    stream.resume();
    const grpcStatus: unknown = headers["grpc-status"];
    return {
      status: headers[":status"],
      grpcStatus: typeof grpcStatus === "string" ? grpcStatus : undefined,
    };
  } finally {
    session.destroy();
  }
}
