import { create } from "@bufbuild/protobuf";

import {
  KvBlockSchema,
  KvBlocksRemovedSchema,
  KvBlocksStoredSchema,
  KvCacheClearedSchema,
  KvCacheEventSchema,
  KvEventBatchSchema,
} from "../../src/engine/gen/common_pb.ts";
import type { KvCacheEvent, KvEventBatch } from "../../src/engine/gen/common_pb.ts";
import { OutputQueue } from "./output-queue.ts";
import type { CacheListener } from "./prefix-cache.ts";

/**
 * Collects what the cache does within one turn of the event loop into a batch and sends it to whoever listens. Batches
 * are numbered from 0 whether somebody listens or not, and are never sent again.
 */
export class KvEventPublisher implements CacheListener {
  readonly #subscribers = new Set<OutputQueue<KvEventBatch>>();
  readonly #pageSize: number;
  #pending: KvCacheEvent["data"][] = [];
  #nextSequence = 0n;
  #nextEvent = 1n;

  constructor(pageSize: number) {
    this.#pageSize = pageSize;
  }

  stored(hash: bigint, parent: bigint | undefined, tokenIds: Uint32Array): void {
    const block = create(KvBlockSchema, {
      blockHash: hash,
      tokenIds: [...tokenIds],
      blockSize: this.#pageSize,
    });
    this.#add({
      case: "stored",
      value: create(KvBlocksStoredSchema, {
        blocks: [block],
        ...(parent === undefined ? {} : { parentBlockHash: parent }),
      }),
    });
  }

  removed(hash: bigint): void {
    this.#add({ case: "removed", value: create(KvBlocksRemovedSchema, { blockHashes: [hash] }) });
  }

  cleared(): void {
    this.#add({ case: "cleared", value: create(KvCacheClearedSchema) });
  }

  /** Batches from now on, until the signal fires. */
  async *subscribe(signal: AbortSignal): AsyncGenerator<KvEventBatch, void, undefined> {
    const queue = new OutputQueue<KvEventBatch>();
    const stop = () => queue.close();
    signal.addEventListener("abort", stop);
    this.#subscribers.add(queue);
    try {
      yield* queue.drain();
    } finally {
      this.#subscribers.delete(queue);
      signal.removeEventListener("abort", stop);
    }
  }

  #add(data: KvCacheEvent["data"]): void {
    if (this.#pending.length === 0) queueMicrotask(() => this.#publish());
    this.#pending.push(data);
  }

  #publish(): void {
    const events = this.#pending.map((data) =>
      create(KvCacheEventSchema, { eventId: this.#nextEvent++, data }),
    );
    this.#pending = [];
    const batch = create(KvEventBatchSchema, {
      sequenceNumber: this.#nextSequence++,
      timestamp: Date.now() / 1000,
      events,
      dpRank: 0,
    });
    for (const subscriber of this.#subscribers) subscriber.push(batch);
  }
}
