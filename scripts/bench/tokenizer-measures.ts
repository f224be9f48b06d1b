import { HOSTILE, readBenchTexts } from "../../test/bench/tokenizer/texts.ts";
import { median } from "./table.ts";
import type { Kind, Subject } from "./tokenizer-subject.ts";

/** Repetitions of a work take about this long together. */
const TURN_MS = 150;

/** One line of the report. */
export interface Result {
  readonly model: string;
  readonly measure: string;
  readonly unit: string;
  readonly bpe: number;
  /** NaN: not measured. */
  readonly huggingface: number;
  /** Larger is better, so that the ratio is bpe / huggingface. */
  readonly isRate: boolean;
}

/** All measures of one model but loading. */
export class ModelBench {
  readonly #model: string;
  readonly #rounds: number;
  readonly #subjects: ReadonlyMap<Kind, Subject>;

  constructor(model: string, subjects: ReadonlyMap<Kind, Subject>, rounds: number) {
    this.#rounds = rounds;
    this.#model = model;
    this.#subjects = subjects;
  }

  async measureAll(): Promise<Result[]> {
    const texts = readBenchTexts();
    const results: Result[] = [];
    results.push(await this.#encode("1 KB chat prompt", texts.chat, "µs"));
    results.push(await this.#firstCall("800 KB prompt, first call", texts.prompt));
    results.push(await this.#encode("English", texts.english, "MB/s"));
    results.push(await this.#encode("code", texts.code, "MB/s"));
    results.push(await this.#encode("Chinese", texts.chinese, "MB/s"));
    results.push(await this.#encode("800 KB prompt", texts.prompt, "ms"));
    for (const [name, make] of Object.entries(HOSTILE)) {
      results.push(await this.#firstCall(`${name}, 100 KB, first call`, make(100_000)));
      const small = await this.#encode(`${name}, 50 KB`, make(50_000), "ms");
      const large = await this.#encode(`${name}, 400 KB`, make(400_000), "ms");
      results.push(small, large, growth(name, small, large));
    }
    results.push(await this.#stream("streamed token, English", texts.english));
    results.push(await this.#stream("streamed token, Chinese", texts.chinese));
    return results;
  }

  async #encode(measure: string, text: string, unit: "MB/s" | "ms" | "µs"): Promise<Result> {
    const ms = await this.#takeTurns("/encode", measure, text);
    const bytes = Buffer.byteLength(text);
    const convert = (value: number): number => {
      if (unit === "ms") return value;
      return unit === "µs" ? value * 1000 : bytes / 1e6 / (value / 1000);
    };
    return this.#result(measure, unit, (kind) => convert(ms(kind)));
  }

  async #firstCall(measure: string, text: string): Promise<Result> {
    const found = new Map<Kind, number>();
    for (const [kind, subject] of this.#subjects) {
      await subject.call("/text", { name: measure }, text);
      found.set(kind, (await subject.measure("/encode", measure, 1)).ms);
    }
    return this.#result(measure, "ms", (kind) => found.get(kind) ?? Number.NaN);
  }

  async #stream(measure: string, text: string): Promise<Result> {
    const tokens = new Map<Kind, number>();
    const ms = await this.#takeTurns("/stream", measure, text, tokens);
    return this.#result(measure, "µs", (kind) => (ms(kind) * 1000) / (tokens.get(kind) ?? 1));
  }

  /** The median of each process's turns. */
  async #takeTurns(
    path: string,
    name: string,
    text: string,
    answers = new Map<Kind, number>(),
  ): Promise<(kind: Kind) => number> {
    const turns = new Map<Kind, number[]>();
    const times = new Map<Kind, number>();
    for (const [kind, subject] of this.#subjects) {
      await subject.call("/text", { name }, text);
      const { answer } = await subject.measure(path, name, 2);
      const { ms } = await subject.measure(path, name, 2);
      answers.set(kind, answer);
      times.set(kind, Math.max(1, Math.round(TURN_MS / ms)));
      turns.set(kind, []);
    }
    for (let round = 0; round < this.#rounds; round++) {
      for (const [kind, subject] of this.#subjects) {
        const { ms } = await subject.measure(path, name, times.get(kind) ?? 1);
        turns.get(kind)?.push(ms);
      }
    }
    return (kind) => median(turns.get(kind) ?? []);
  }

  #result(measure: string, unit: string, value: (kind: Kind) => number): Result {
    const isRate = unit === "MB/s";
    return {
      model: this.#model,
      measure,
      unit,
      bpe: value("bpe"),
      huggingface: value("huggingface"),
      isRate,
    };
  }
}

/** How much more than eight times the time eight times the text takes. */
function growth(name: string, small: Result, large: Result): Result {
  return {
    model: small.model,
    measure: `${name}, 50 to 400 KB over linear`,
    unit: "×",
    bpe: large.bpe / small.bpe / 8,
    huggingface: large.huggingface / small.huggingface / 8,
    isRate: false,
  };
}
