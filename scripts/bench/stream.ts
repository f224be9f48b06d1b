import { parseArgs } from "node:util";

import { prepareLocalModels } from "../models/local-models.ts";
import { bundleEdge } from "../stack/bundle.ts";
import { startReplayGateway } from "../stack/replay-gateway.ts";
import { startWorkerd, type WorkerdProcess } from "../stack/workerd-process.ts";
import { formatTable, median } from "./table.ts";

/**
 * CPU time that workerd spends on a streamed token: the whole edge, against a bare Worker whose JavaScript reads each
 * chunk of the same stream and writes it on; and the edge with a reasoning and a tool parser on, against plain text. Each
 * is a process of its own; they take turns. Their CPU time is read from outside, because clocks inside a Worker stand
 * still during CPU work.
 */
const HELP = `npm run bench:stream [-- options]

  --rounds N     Turns of each Worker (default 8)
  --streams N    Streams at once (default 16)
  --tokens N     Tokens of a stream (default 3000); short streams show the request's own cost
  --interval N   Milliseconds between two tokens of a stream (default 2)
`;

const MODEL = "Qwen/Qwen3-8B";
const API_KEY = "sk-bench-0123456789";

/** Reads a chunk, writes a rewritten one: the least that any edge in JavaScript does. */
const BARE_WORKER = `
const encoder = new TextEncoder();
const decoder = new TextDecoder();
export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname === "/health") return new Response("ok");
    await request.text();
    const upstream = await fetch(env.GATEWAY + "/sglang.grpc.scheduler.SglangScheduler/Generate", {
      method: "POST",
      headers: { "content-type": "application/grpc-web+proto" },
      body: new Uint8Array(5),
    });
    const reader = upstream.body.getReader();
    return new Response(new ReadableStream({
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(encoder.encode("data: " + decoder.decode(value) + "\\n\\n"));
      },
    }, { highWaterMark: 0 }), { headers: { "content-type": "text/event-stream" } });
  },
};`;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "8" },
    streams: { type: "string", default: "16" },
    tokens: { type: "string", default: "3000" },
    interval: { type: "string", default: "2" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const [rounds, streams, tokens, intervalMs] = [
    Number(values.rounds),
    Number(values.streams),
    Number(values.tokens),
    Number(values.interval),
  ];
  await prepareLocalModels({ assetsDir: ".sgl-edge/assets", log: () => undefined });
  const gateway = await startReplayGateway({
    modelName: MODEL,
    tokenIds: makeReply(tokens),
    intervalMs,
  });
  const script = bundleEdge();
  const startEdge = (parsers: object): Promise<WorkerdProcess> =>
    startWorkerd({
      script,
      assetsDir: ".sgl-edge/assets",
      vars: {
        GATEWAYS: JSON.stringify([{ url: gateway.url, model: MODEL }]),
        API_KEY,
        MODEL_SETTINGS: JSON.stringify({ [MODEL]: parsers }),
      },
    });
  const edge = await startEdge({ tool_call_parser: "none", reasoning_parser: "none" });
  const parsing = await startEdge({ tool_call_parser: "qwen25", reasoning_parser: "qwen3" });
  const bare = await startWorkerd({ script: BARE_WORKER, vars: { GATEWAY: gateway.url } });

  const count = { streams, messages: gateway.messages };
  const subjects = [
    { name: "edge, plain text", worker: edge, samples: new Array<number>() },
    { name: "edge, parsers on", worker: parsing, samples: new Array<number>() },
    { name: "bare", worker: bare, samples: new Array<number>() },
  ];
  // The first turn loads the model and warms the compiler up; it is not counted.
  for (const { worker } of subjects) await measure(worker, count);
  for (let round = 0; round < rounds; round++) {
    for (const { worker, samples } of subjects) samples.push(await measure(worker, count));
    const told = subjects.map(({ name, samples }) => `${name} ${samples.at(-1)?.toFixed(1)} µs`);
    console.error(`round ${round + 1}/${rounds}: ${told.join(", ")}`);
  }
  const [plain = [], withParsers = [], bareRounds = []] = subjects.map(({ samples }) => samples);
  console.log(
    formatTable(
      ["Worker", "CPU µs a token (median)", "lowest", "highest"],
      [
        ...subjects.map(({ name, samples }) => [name].concat(describe(samples))),
        ["plain text over bare", ...describe(ratios(plain, bareRounds), 2)],
        ["parsers on over plain text", ...describe(ratios(withParsers, plain), 2)],
      ],
    ),
  );
  console.log(`edge, resident memory: ${(edge.residentBytes() / 1024 / 1024).toFixed(0)} MB`);
  await Promise.all([edge.close(), parsing.close(), bare.close(), gateway.close()]);
}

/** A thought, then text, as ids of Qwen's vocabulary. */
function makeReply(tokens: number): number[] {
  const [open, close] = [151_667, 151_668];
  const ids = Array.from({ length: tokens }, (_, index) => 1_000 + ((index * 37) % 40_000));
  ids[0] = open;
  ids[Math.floor(tokens / 2)] = close;
  return ids;
}

function ratios(one: readonly number[], other: readonly number[]): number[] {
  return one.map((value, index) => value / (other[index] ?? Number.NaN));
}

function describe(samples: readonly number[], digits = 1): string[] {
  return [median(samples), Math.min(...samples), Math.max(...samples)].map((value) =>
    value.toFixed(digits),
  );
}

/** CPU microseconds for each message of a turn. */
async function measure(
  worker: WorkerdProcess,
  { streams, messages }: { readonly streams: number; readonly messages: number },
): Promise<number> {
  const before = worker.cpuSeconds();
  await Promise.all(Array.from({ length: streams }, () => readStream(worker.url)));
  return ((worker.cpuSeconds() - before) * 1e6) / (streams * messages);
}

async function readStream(url: string): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${API_KEY}` },
    body: JSON.stringify({
      model: MODEL,
      stream: true,
      messages: [{ role: "user", content: "Say something long." }],
      tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
    }),
  });
  if (!response.ok || response.body === null) {
    throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  }
  for await (const chunk of response.body) void chunk;
}
