import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";

import { createEngineFetch } from "../../../src/engine/engine-fetch.ts";
import {
  GenerateRequestSchema,
  SglangScheduler,
} from "../../../src/engine/gen/sglang_scheduler_pb.ts";
import { openGenerateStream } from "../../../src/engine/generate-stream.ts";

/** Reads a Generate stream to its end and answers the number of its tokens: with our own reader, or with connect's. */
export default {
  async fetch(request: Request, env: { readonly GATEWAY: string }): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/own") return new Response(String(await readOwn(env.GATEWAY)));
    if (pathname === "/connect") return new Response(String(await readConnect(env.GATEWAY)));
    return new Response("ok");
  },
};

async function readOwn(url: string): Promise<number> {
  let tokens = 0;
  const request = create(GenerateRequestSchema, { requestId: "bench" });
  const stream = openGenerateStream(
    createEngineFetch({ url }),
    request,
    new AbortController().signal,
  );
  for (;;) {
    const messages = await stream.next();
    if (messages === null) break;
    for (const message of messages) {
      if (message.type === "chunk") tokens += message.tokenIds.length;
    }
  }
  return tokens;
}

async function readConnect(url: string): Promise<number> {
  let tokens = 0;
  const engineFetch = createEngineFetch({ url });
  const transport = createGrpcWebTransport({
    baseUrl: url,
    useBinaryFormat: true,
    fetch: (input, init) =>
      engineFetch(input instanceof Request ? input.url : String(input), init ?? {}),
  });
  const client = createClient(SglangScheduler, transport);
  for await (const { response } of client.generate({ requestId: "bench" })) {
    if (response.case === "chunk") tokens += response.value.tokenIds.length;
  }
  return tokens;
}
