import { parseArgs } from "node:util";

import { createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";

import { SglangScheduler } from "../../src/engine/gen/sglang_scheduler_pb.ts";
import { LOCAL_MODELS, prepareLocalModels } from "../models/local-models.ts";
import { startBackend } from "../stack/backends.ts";
import { bundleEdge } from "../stack/bundle.ts";
import { startWorkerd } from "../stack/workerd-process.ts";
import { formatTable, median } from "./table.ts";

/**
 * Time that the edge adds to the first token: a streamed chat through the edge, against the same token ids sent straight
 * to the gateway. Template, tokenizer, planning and the first SSE frame are what is between the two.
 */
const HELP = `npm run bench:ttft [-- options]

  --rounds N     Requests of each kind and length (default 40)
`;

const MODEL = "Qwen/Qwen3-8B";
const API_KEY = "sk-bench-0123456789";
const GATEWAY_TOKEN = "bench-gateway-token";
const LENGTHS = [100, 4_000, 32_000];
const headers = { "content-type": "application/json", authorization: `Bearer ${API_KEY}` };

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "40" }, help: { type: "boolean", default: false } },
});
if (values.help) console.log(HELP);
else await main(Number(values.rounds));

async function main(rounds: number): Promise<void> {
  await prepareLocalModels({ assetsDir: ".sgl-edge/assets", log: () => undefined });
  // An engine that prefills at once: what is measured is the way to it and back.
  const model = LOCAL_MODELS.find(({ id }) => id === MODEL);
  if (model === undefined) throw new Error(`${MODEL} is no local model`);
  const backend = await startBackend({
    model,
    gatewayToken: GATEWAY_TOKEN,
    engine: { prefillRate: 1e12, tokenMs: 1, prefixCache: false },
  });
  const edge = await startWorkerd({
    script: bundleEdge(),
    assetsDir: ".sgl-edge/assets",
    vars: {
      GATEWAYS: JSON.stringify([{ url: backend.gateway.url, model: MODEL }]),
      GATEWAY_TOKEN,
      API_KEY,
    },
  });
  const rows: string[][] = [];
  for (const length of LENGTHS) {
    const prompt = makePrompt(length);
    const inputIds = await tokenize(edge.url, prompt);
    const viaEdge: number[] = [];
    const direct: number[] = [];
    for (let round = 0; round < rounds + 5; round++) {
      const edgeMs = await timeEdge(edge.url, prompt);
      const directMs = await timeGateway(backend.gateway.url, inputIds);
      // The first rounds load the model and open connections.
      if (round < 5) continue;
      viaEdge.push(edgeMs);
      direct.push(directMs);
    }
    const added = viaEdge.map((value, index) => value - (direct[index] ?? Number.NaN));
    rows.push([
      String(inputIds.length),
      median(direct).toFixed(2),
      median(viaEdge).toFixed(2),
      median(added).toFixed(2),
      quantile(added, 0.9).toFixed(2),
    ]);
  }
  console.log(
    formatTable(
      ["prompt tokens", "gateway ms", "edge ms", "added ms (median)", "added ms (p90)"],
      rows,
    ),
  );
  await Promise.all([edge.close(), backend.close()]);
}

function makePrompt(tokens: number): string {
  const sentence =
    "The river rises in the hills and runs past the mill, number 7, before it meets the sea. ";
  // About 20 tokens a sentence; the template adds a dozen.
  return sentence.repeat(Math.max(1, Math.round((tokens - 12) / 20)));
}

function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function tokenize(url: string, prompt: string): Promise<number[]> {
  const response = await fetch(`${url}/tokenize`, {
    method: "POST",
    headers,
    body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: prompt }] }),
  });
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  const reply: { readonly tokens: number[] } = JSON.parse(await response.text());
  return reply.tokens;
}

/** Milliseconds to the first content of a streamed chat. */
async function timeEdge(url: string, prompt: string): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers,
    body: JSON.stringify({
      model: MODEL,
      stream: true,
      max_tokens: 2,
      messages: [{ role: "user", content: prompt }],
    }),
  });
  if (!response.ok || response.body === null) {
    throw new Error(`HTTP ${response.status}: ${await response.text()}`);
  }
  let firstMs: number | null = null;
  for await (const chunk of response.body) {
    void chunk;
    firstMs ??= performance.now() - startedAt;
  }
  return firstMs ?? Number.NaN;
}

/** Milliseconds to the first message of the same request, sent straight to the gateway. */
async function timeGateway(url: string, inputIds: number[]): Promise<number> {
  const client = createClient(
    SglangScheduler,
    createGrpcWebTransport({
      baseUrl: url,
      fetch: (input, init) => fetch(input, { ...init, redirect: "manual" }),
    }),
  );
  const startedAt = performance.now();
  const stream = client.generate(
    {
      requestId: crypto.randomUUID(),
      tokenized: { inputIds },
      samplingParams: {
        temperature: 1,
        topP: 1,
        topK: -1,
        repetitionPenalty: 1,
        n: 1,
        maxNewTokens: 2,
        skipSpecialTokens: true,
        spacesBetweenSpecialTokens: true,
      },
      logprobStartLen: -1,
      stream: true,
    },
    { headers: { authorization: `Bearer ${GATEWAY_TOKEN}` } },
  );
  let firstMs: number | null = null;
  for await (const message of stream) {
    void message;
    firstMs ??= performance.now() - startedAt;
  }
  return firstMs ?? Number.NaN;
}
