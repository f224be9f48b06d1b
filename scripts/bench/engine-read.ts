import { parseArgs } from "node:util";

import { bundleWorker } from "../stack/bundle.ts";
import { startReplayGateway } from "../stack/replay-gateway.ts";
import { startWorkerd, type WorkerdProcess } from "../stack/workerd-process.ts";
import { formatTable, median } from "./table.ts";

/**
 * CPU time of reading a Generate stream inside workerd: our own reader against connect-web's client, on the same bytes, one
 * message a network read, and nothing done with the messages. Each has a process of its own; they take turns.
 */
const HELP = `npm run bench:engine-read [-- options]

  --rounds N     Turns of each reader (default 8)
  --streams N    Streams at once (default 16)
  --tokens N     Tokens of a stream (default 1000)
  --interval N   Milliseconds between two tokens of a stream (default 4)
`;

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "8" },
    streams: { type: "string", default: "16" },
    tokens: { type: "string", default: "1000" },
    interval: { type: "string", default: "4" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const tokens = Number(values.tokens);
  const streams = Number(values.streams);
  const gateway = await startReplayGateway({
    modelName: "bench",
    tokenIds: Array.from({ length: tokens }, (_, index) => 1_000 + index),
    intervalMs: Number(values.interval),
  });
  const script = bundleWorker("test/bench/engine-read/worker.ts");
  const readers = await Promise.all(
    ["own", "connect"].map(async (name) => ({
      name,
      worker: await startWorkerd({ script, vars: { GATEWAY: gateway.url } }),
      samples: new Array<number>(),
    })),
  );
  // The first turn warms the compiler up and is not counted.
  for (const { name, worker } of readers) await measure(worker, name, { streams, tokens });
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const { name, worker, samples } of readers) {
      samples.push(await measure(worker, name, { streams, tokens }));
    }
  }
  const [own, connect] = readers.map(({ samples }) => samples);
  const ratios = (own ?? []).map((value, index) => (connect?.[index] ?? Number.NaN) / value);
  console.log(
    formatTable(
      ["reader", "CPU µs a message (median)", "lowest", "highest"],
      [
        ...readers.map(({ name, samples }) => [name, ...describe(samples, 1)]),
        ["connect over own", ...describe(ratios, 2)],
      ],
    ),
  );
  await Promise.all([gateway.close(), ...readers.map(({ worker }) => worker.close())]);
}

function describe(samples: readonly number[], digits: number): string[] {
  return [median(samples), Math.min(...samples), Math.max(...samples)].map((value) =>
    value.toFixed(digits),
  );
}

async function measure(
  worker: WorkerdProcess,
  name: string,
  { streams, tokens }: { readonly streams: number; readonly tokens: number },
): Promise<number> {
  const before = worker.cpuSeconds();
  const read = async (): Promise<void> => {
    const response = await fetch(`${worker.url}/${name}`);
    const answer = await response.text();
    if (answer !== String(tokens)) throw new Error(`${name}: ${response.status} ${answer}`);
  };
  await Promise.all(Array.from({ length: streams }, read));
  return ((worker.cpuSeconds() - before) * 1e6) / (streams * tokens);
}
