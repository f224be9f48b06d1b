import { readdirSync, readFileSync } from "node:fs";

import { startWorkerd, type WorkerdProcess } from "../stack/workerd-process.ts";

/** Ours, and @huggingface/tokenizers. */
export const KINDS = ["bpe", "huggingface"] as const;
export type Kind = (typeof KINDS)[number];

const MB = 1024 * 1024;

export interface Setting {
  readonly script: string;
  readonly folder: string;
}

/** What loading took. */
export interface LoadCost {
  readonly firstMs: number;
  readonly againMs: number;
  /** Of one more tokenizer with its file. */
  readonly megabytes: number;
}

export const NO_COST: LoadCost = {
  firstMs: Number.NaN,
  againMs: Number.NaN,
  megabytes: Number.NaN,
};

/** A workerd process with one kind of tokenizer. */
export class Subject {
  readonly kind: Kind;
  readonly #process: WorkerdProcess;

  private constructor(kind: Kind, workerd: WorkerdProcess) {
    this.kind = kind;
    this.#process = workerd;
  }

  static async start(kind: Kind, { script, folder }: Setting): Promise<Subject> {
    return new Subject(kind, await startWorkerd({ script, assetsDir: folder }));
  }

  async load(model: string): Promise<LoadCost> {
    const name = `${model}.${this.kind}`;
    await this.call("/file", { name });
    const firstMs = await this.#cpuMs("/load", { kind: this.kind });
    const isOurs = this.kind === "bpe";
    const againMs = isOurs
      ? (await this.#cpuMs("/load", { kind: this.kind, times: "20" })) / 20
      : Number.NaN;
    return { firstMs, againMs, megabytes: await this.#weigh(name, isOurs ? 6 : 1) };
  }

  /** What the first load takes, in a process of its own. */
  static async measureFirstLoad(kind: Kind, setting: Setting, model: string): Promise<number> {
    const subject = await Subject.start(kind, setting);
    try {
      await subject.call("/file", { name: `${model}.${kind}` });
      return await subject.#cpuMs("/load", { kind });
    } finally {
      await subject.close();
    }
  }

  /** Growth of the resident memory with each further tokenizer and its file. */
  async #weigh(name: string, count: number): Promise<number> {
    await this.call("/keep", { name, kind: this.kind });
    const before = this.#process.residentBytes();
    await this.call("/keep", { name, kind: this.kind, times: String(count) });
    return (this.#process.residentBytes() - before) / count / MB;
  }

  /** CPU milliseconds of one repetition, with enough of them to measure; and what the Worker answered. */
  async measure(
    path: string,
    name: string,
    times: number,
  ): Promise<{ ms: number; answer: number }> {
    const before = this.#cpuNow();
    const answer = await this.call(path, { name, times: String(times) });
    return { ms: (this.#cpuNow() - before) / times, answer: Number(answer) };
  }

  async call(path: string, query: Record<string, string> = {}, body?: string): Promise<string> {
    const url = `${this.#process.url}${path}?${new URLSearchParams(query).toString()}`;
    const response = await fetch(url, body === undefined ? {} : { method: "POST", body });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} of ${this.kind}: ${response.status} ${text}`);
    return text;
  }

  close(): Promise<void> {
    return this.#process.close();
  }

  async #cpuMs(path: string, query: Record<string, string>): Promise<number> {
    const before = this.#cpuNow();
    await this.call(path, query);
    return this.#cpuNow() - before;
  }

  /** Milliseconds that the process's threads have run, to the nanosecond (ticks would be too coarse). */
  #cpuNow(): number {
    const tasks = `/proc/${this.#process.pid}/task`;
    let nanoseconds = 0;
    for (const task of readdirSync(tasks)) {
      nanoseconds += Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]);
    }
    return nanoseconds / 1e6;
  }
}
