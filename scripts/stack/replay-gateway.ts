import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

import { create, toBinary } from "@bufbuild/protobuf";
import type { MessageShape, DescMessage } from "@bufbuild/protobuf";

import {
  AbortResponseSchema,
  GenerateResponseSchema,
  GetModelInfoResponseSchema,
  GetServerInfoResponseSchema,
} from "../../src/engine/gen/sglang_scheduler_pb.ts";

/**
 * A gateway that replays one prepared Generate stream: the same bytes for every caller, one message a write, so that what
 * is compared is the callers. Everything an engine costs is left out.
 */
export interface ReplayGateway {
  readonly url: string;
  /** Messages of one stream, the last one included. */
  readonly messages: number;
  /** Answers a request that another server received. */
  answer(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

export interface ReplayOptions {
  readonly modelName: string;
  readonly tokenIds: readonly number[];
  /** Time between two writes of one stream; long enough for each to arrive alone. */
  readonly intervalMs: number;
}

const TRAILERS = Buffer.from("grpc-status: 0\r\n");

export async function startReplayGateway(options: ReplayOptions): Promise<ReplayGateway> {
  const frames = toFrames(options.tokenIds);
  const unary = new Map<string, Buffer>([
    [
      "GetModelInfo",
      unaryReply(GetModelInfoResponseSchema, {
        servedModelName: options.modelName,
        isGeneration: true,
      }),
    ],
    ["GetServerInfo", unaryReply(GetServerInfoResponseSchema, {})],
    ["Abort", unaryReply(AbortResponseSchema, { success: true })],
  ]);
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    request.resume();
    response.setHeader("content-type", "application/grpc-web+proto");
    const method = request.url?.split("/").at(-1) ?? "";
    const reply = unary.get(method);
    if (reply !== undefined) {
      response.end(reply);
      return;
    }
    response.socket?.setNoDelay(true);
    let next = 0;
    const timer = setInterval(() => {
      const frame = frames[next++];
      if (frame === undefined) {
        clearInterval(timer);
        response.end(toFrame(0x80, TRAILERS));
      } else response.write(frame);
    }, options.intervalMs);
    response.on("close", () => clearInterval(timer));
  };
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    messages: frames.length,
    answer,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

function toFrames(tokenIds: readonly number[]): Buffer[] {
  const counts = { promptTokens: 20, cachedTokens: 0, reasoningTokens: 0 };
  const frames = tokenIds.map((tokenId, index) =>
    message(GenerateResponseSchema, {
      requestId: "replay",
      response: {
        case: "chunk",
        value: { tokenIds: [tokenId], completionTokens: index + 1, index: 0, ...counts },
      },
    }),
  );
  frames.push(
    message(GenerateResponseSchema, {
      requestId: "replay",
      response: {
        case: "complete",
        value: {
          outputIds: tokenIds.slice(-1),
          finishReason: "length",
          completionTokens: tokenIds.length,
          index: 0,
          ...counts,
        },
      },
    }),
  );
  return frames;
}

function message<Desc extends DescMessage>(
  schema: Desc,
  init: Parameters<typeof create<Desc>>[1],
): Buffer {
  const value: MessageShape<Desc> = create(schema, init);
  return toFrame(0, Buffer.from(toBinary(schema, value)));
}

function unaryReply<Desc extends DescMessage>(
  schema: Desc,
  init: Parameters<typeof create<Desc>>[1],
): Buffer {
  return Buffer.concat([message(schema, init), toFrame(0x80, TRAILERS)]);
}

function toFrame(flags: number, data: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.writeUInt8(flags, 0);
  header.writeUInt32BE(data.length, 1);
  return Buffer.concat([header, data]);
}
