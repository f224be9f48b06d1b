import { setImmediate as nextTurn } from "node:timers/promises";

import { Code } from "@connectrpc/connect";

import { PrefixCache } from "./prefix-cache.ts";
import type { CacheListener } from "./prefix-cache.ts";
import { newSequence } from "./sequence.ts";
import type { Finish, Sequence, SequenceRequest } from "./sequence.ts";
import { createChunker, finishOf, speak } from "./speaking.ts";
import { aborted, RateMeter, waitUntil } from "./timing.ts";

export interface SchedulerOptions {
  readonly prefillRate: number;
  readonly maxRunningRequests: number;
  readonly maxQueuedRequests: number | undefined;
  readonly maxTotalTokens: number;
  readonly pageSize: number;
  readonly prefixCache: boolean;
  readonly afterAbort: "silent" | "complete";
  readonly kvListener: CacheListener | undefined;
}

export interface SchedulerCounts {
  tokensGenerated: number;
  promptTokens: number;
  cachedTokens: number;
  abortedRequests: number;
}

export interface SchedulerLoadNow {
  readonly running: number;
  readonly waiting: number;
  readonly usedTokens: number;
  readonly waitingUncachedTokens: number;
  readonly tokensPerSecond: number;
}

/** How much of a reply without a limit is set aside in the KV pool before it starts. */
const RESERVED_NEW_TOKENS = 4096;
const TOKENS_PER_TURN = 128;

/**
 * The engine's scheduler: a first-come first-served queue into a prefill that takes one prompt after another, then
 * decoding beside each other up to the batch limit, all in one KV pool that the prefix cache shares.
 */
export class Scheduler {
  readonly counts = noCounts();
  readonly #options: SchedulerOptions;
  readonly #cache: PrefixCache;
  readonly #rate = new RateMeter();
  readonly #running = new Set<Sequence>();
  #waiting: Sequence[] = [];
  #privateTokens = 0;
  #prefilling = false;
  #prefillFreeAtMs = 0;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    this.#cache = new PrefixCache({
      pageSize: options.pageSize,
      ...(options.kvListener === undefined ? {} : { listener: options.kvListener }),
    });
  }

  /** Takes a request; a full queue is told through its `emit`. */
  submit(request: SequenceRequest): void {
    if (this.#waiting.length + 1 > (this.#options.maxQueuedRequests ?? Number.POSITIVE_INFINITY)) {
      request.emit({
        type: "error",
        code: Code.Unavailable,
        message: "The request queue is full.",
      });
      return;
    }
    this.#waiting.push(newSequence(request));
    this.#admit();
  }

  /**
   * Aborts every request whose id starts with `id`, as SGLang does. One with exactly this id falls silent (its server
   * has stopped listening for it); the samples of an n > 1 call end with finish_reason "abort".
   */
  abort(id: string): void {
    const hit = (sequence: Sequence) => sequence.request.id.startsWith(id);
    const waiting = this.#waiting.filter(hit);
    this.#waiting = this.#waiting.filter((sequence) => !hit(sequence));
    for (const { request } of waiting) {
      this.counts.abortedRequests += 1;
      request.emit({ type: "error", code: Code.Internal, message: "Request aborted" });
    }
    for (const sequence of this.#running) {
      if (!hit(sequence) || sequence.abort.signal.aborted) continue;
      this.counts.abortedRequests += 1;
      sequence.abortMode = sequence.request.id === id ? this.#options.afterAbort : "complete";
      sequence.abort.abort();
    }
  }

  /** Ends everything with UNAVAILABLE. */
  shutDown(): void {
    const all = [...this.#waiting, ...this.#running];
    this.#waiting = [];
    for (const { request, abort } of all) {
      request.emit({ type: "error", code: Code.Unavailable, message: "Server shutting down" });
      abort.abort();
    }
  }

  /** Counts from zero again. */
  resetCounts(): void {
    Object.assign(this.counts, noCounts());
  }

  get idle(): boolean {
    return this.#running.size === 0 && this.#waiting.length === 0;
  }

  /** Empties the prefix cache; refused while anything runs. */
  flushCache(): boolean {
    if (!this.idle) return false;
    this.#cache.clear();
    return true;
  }

  load(): SchedulerLoadNow {
    return {
      running: this.#running.size,
      waiting: this.#waiting.length,
      usedTokens: Math.min(this.#options.maxTotalTokens, this.#cache.locked + this.#privateTokens),
      waitingUncachedTokens: this.#waiting.reduce(
        (sum, { request }) => sum + request.prompt.length - this.#peek(request),
        0,
      ),
      tokensPerSecond: this.#rate.perSecond(),
    };
  }

  #peek({ prompt, cacheLimit, cacheSpace }: SequenceRequest): number {
    return this.#options.prefixCache ? this.#cache.peek(prompt, cacheLimit, cacheSpace) : 0;
  }

  #admit(): void {
    if (this.#prefilling) return;
    const next = this.#waiting[0];
    if (next === undefined || !this.#fits(next.request)) return;
    this.#waiting.shift();
    this.#running.add(next);
    this.#prefilling = true;
    void this.#run(next);
  }

  #fits(request: SequenceRequest): boolean {
    if (this.#running.size === 0) return true;
    if (this.#running.size >= this.#options.maxRunningRequests) return false;
    let promised = this.#cache.locked + this.#privateTokens;
    for (const { request: other, output } of this.#running) {
      promised += reservedTokens(other) - Math.min(output.length, reservedTokens(other));
    }
    const needed = request.prompt.length - this.#peek(request) + reservedTokens(request);
    return promised + needed <= this.#options.maxTotalTokens;
  }

  async #run(sequence: Sequence): Promise<void> {
    await this.#prefill(sequence);
    this.#prefilling = false;
    this.#admit();
    await this.#decode(sequence);
    this.#release(sequence);
    this.#admit();
  }

  async #prefill(sequence: Sequence): Promise<void> {
    const { prompt, cacheLimit, cacheSpace, speech } = sequence.request;
    if (this.#options.prefixCache) {
      const match = this.#cache.match(prompt, cacheLimit, cacheSpace);
      sequence.cachedTokens = match.tokens;
      this.#hold(sequence, match.node);
    }
    this.counts.promptTokens += prompt.length;
    this.counts.cachedTokens += sequence.cachedTokens;
    const uncached = prompt.length - sequence.cachedTokens;
    this.#allocate(sequence, uncached);
    const startMs = Math.max(performance.now(), this.#prefillFreeAtMs);
    const costMs = speech.prefillMs ?? (uncached / this.#options.prefillRate) * 1000;
    this.#prefillFreeAtMs = startMs + costMs;
    await waitUntil(this.#prefillFreeAtMs, sequence.abort.signal);
    if (sequence.abort.signal.aborted) this.#prefillFreeAtMs = performance.now();
    else this.#remember(sequence, prompt);
  }

  /** Generates until something ends it; the sequence is released by the caller. */
  async #decode(sequence: Sequence): Promise<void> {
    const { speech, stop } = sequence.request;
    const { signal } = sequence.abort;
    await waitUntil(performance.now() + speech.startDelayMs, signal);
    const finish =
      stop.maxNewTokens === 0 ? ({ reason: "length" } as const) : await this.#speak(sequence);
    if (signal.aborted) {
      if (sequence.abortMode === "complete") this.#emitTokens(sequence, { reason: "abort" });
      return;
    }
    if (!sequence.broken && !(await this.#fault(sequence))) this.#emitTokens(sequence, finish);
  }

  /** Says the reply and returns why it ended; its last tokens are not emitted yet. */
  async #speak(sequence: Sequence): Promise<Finish> {
    const { speech, stop } = sequence.request;
    const { signal } = sequence.abort;
    const endsChunk = createChunker(speech.chunks, stop.streamInterval);
    let dueMs = performance.now();
    for (const { id, isLast } of speak(speech, stop)) {
      await this.#pause(sequence, dueMs);
      if (signal.aborted || (await this.#fault(sequence))) break;
      this.#generate(sequence, id);
      const finish = finishOf(sequence.output, stop);
      if (finish !== undefined) return finish;
      if (isLast) break;
      if (endsChunk()) this.#emitTokens(sequence);
      dueMs += speech.perTokenMs;
    }
    return speech.forcedFinish ?? { reason: "stop" };
  }

  /** Waits for a token's time, and lets the calls have the process now and then when there is nothing to wait for. */
  async #pause(sequence: Sequence, dueMs: number): Promise<void> {
    await waitUntil(dueMs, sequence.abort.signal);
    if (sequence.output.length % TOKENS_PER_TURN === TOKENS_PER_TURN - 1) await nextTurn();
  }

  #generate(sequence: Sequence, id: number): void {
    sequence.output.push(id);
    this.#allocate(sequence, 1);
    this.counts.tokensGenerated += 1;
    this.#rate.add(1);
  }

  /** Whether the scripted fault struck at this token. */
  async #fault(sequence: Sequence): Promise<boolean> {
    const { fault } = sequence.request.speech;
    if (fault === undefined || fault.kind === "missing-complete") return false;
    if (fault.afterTokens !== sequence.output.length) return false;
    sequence.broken = true;
    this.#emitTokens(sequence);
    switch (fault.kind) {
      case "status":
        sequence.request.emit({ type: "error", code: fault.code, message: fault.message });
        break;
      case "cut":
        sequence.request.emit({ type: "cut", what: fault.what });
        break;
      case "silence":
        await aborted(sequence.abort.signal);
        break;
    }
    return true;
  }

  #emitTokens(sequence: Sequence, finish?: Finish): void {
    const { request, output, emitted } = sequence;
    if (finish === undefined && emitted === output.length) return;
    sequence.emitted = output.length;
    request.emit({
      type: "tokens",
      index: request.index,
      ids: output.slice(emitted),
      position: emitted,
      cachedTokens: sequence.cachedTokens,
      reasoningTokens: Math.min(request.speech.reasoningTokens, output.length),
      withoutComplete: request.speech.fault?.kind === "missing-complete",
      ...(finish === undefined ? {} : { finish }),
    });
  }

  #release(sequence: Sequence): void {
    const { request, output } = sequence;
    if (!sequence.abort.signal.aborted || output.length > 0) {
      // The last token was sampled, but nothing was computed from it.
      this.#remember(sequence, Uint32Array.from([...request.prompt, ...output.slice(0, -1)]));
    }
    if (sequence.cacheNode !== undefined) this.#cache.unlock(sequence.cacheNode);
    sequence.cacheNode = undefined;
    this.#privateTokens -= sequence.privateTokens;
    sequence.privateTokens = 0;
    this.#running.delete(sequence);
  }

  #allocate(sequence: Sequence, tokens: number): void {
    sequence.privateTokens += tokens;
    this.#privateTokens += tokens;
    const over = this.#cache.size + this.#privateTokens - this.#options.maxTotalTokens;
    if (over > 0) this.#cache.evict(over);
  }

  /** Gives what a sequence has computed to the cache. */
  #remember(sequence: Sequence, ids: Uint32Array): void {
    if (!this.#options.prefixCache) return;
    const sizeBefore = this.#cache.size;
    const { node, tokens } = this.#cache.insert(ids, sequence.request.cacheSpace);
    this.#hold(sequence, node);
    const computed = sequence.request.prompt.length + sequence.output.length;
    this.#privateTokens -= sequence.privateTokens;
    sequence.privateTokens = computed - tokens;
    this.#privateTokens += sequence.privateTokens;
    if (this.#cache.size > sizeBefore) this.#allocate(sequence, 0);
  }

  #hold(sequence: Sequence, node: Sequence["cacheNode"]): void {
    if (node !== undefined) this.#cache.lock(node);
    if (sequence.cacheNode !== undefined) this.#cache.unlock(sequence.cacheNode);
    sequence.cacheNode = node;
  }
}

function reservedTokens({ stop }: SequenceRequest): number {
  return Math.min(stop.maxNewTokens, RESERVED_NEW_TOKENS);
}

function noCounts(): SchedulerCounts {
  return { tokensGenerated: 0, promptTokens: 0, cachedTokens: 0, abortedRequests: 0 };
}
