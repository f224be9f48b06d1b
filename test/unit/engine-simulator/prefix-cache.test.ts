import * as fc from "fast-check";
import { describe, it } from "vitest";

import { PrefixCache } from "../../../scripts/engine/prefix-cache.ts";
import type { CacheListener, CacheNode } from "../../../scripts/engine/prefix-cache.ts";
import { range } from "./support.ts";

/** What a subscriber knows: the blocks by hash, each with its parent and its tokens. */
class Follower implements CacheListener {
  readonly blocks = new Map<
    bigint,
    { readonly parent: bigint | undefined; readonly ids: string }
  >();

  stored(hash: bigint, parent: bigint | undefined, tokenIds: Uint32Array): void {
    if (parent !== undefined && !this.blocks.has(parent))
      throw new Error("stored without its parent");
    this.blocks.set(hash, { parent, ids: tokenIds.join(",") });
  }

  removed(hash: bigint): void {
    if (!this.blocks.delete(hash)) throw new Error("removed what was not there");
  }

  cleared(): void {
    this.blocks.clear();
  }

  /** Length of the longest prefix, found by tokens alone. */
  prefix(ids: readonly number[], pageSize: number): number {
    let parent: bigint | undefined;
    let at = 0;
    for (; at + pageSize <= ids.length; at += pageSize) {
      const wanted = ids.slice(at, at + pageSize).join(",");
      const found = [...this.blocks].find(
        ([, block]) => block.parent === parent && block.ids === wanted,
      );
      if (found === undefined) break;
      [parent] = found;
    }
    return at;
  }
}

const prompts = fc.array(fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 24 }), {
  maxLength: 24,
});

function commonPages(left: readonly number[], right: readonly number[], pageSize: number): number {
  let same = 0;
  while (same < left.length && same < right.length && left[same] === right[same]) same += 1;
  return same - (same % pageSize);
}

describe("PrefixCache", () => {
  it("finds the longest common prefix in whole pages", ({ expect }) => {
    fc.assert(
      fc.property(prompts, fc.integer({ min: 1, max: 5 }), (all, pageSize) => {
        const cache = new PrefixCache({ pageSize });
        const held: number[][] = [];
        for (const ids of all) {
          const whole = ids.slice(0, ids.length - (ids.length % pageSize));
          const expected = Math.max(0, ...held.map((other) => commonPages(ids, other, pageSize)));
          expect(cache.peek(Uint32Array.from(ids), ids.length)).toBe(expected);
          expect(cache.match(Uint32Array.from(ids), ids.length).tokens).toBe(expected);
          const sizeBefore = cache.size;
          expect(cache.insert(Uint32Array.from(ids)).tokens).toBe(whole.length);
          expect(cache.size - sizeBefore).toBe(whole.length - expected);
          held.push(whole);
        }
      }),
    );
  });

  it("never evicts what is locked, and tells every block that it stores or drops", ({ expect }) => {
    fc.assert(
      fc.property(prompts, fc.integer({ min: 1, max: 4 }), (all, pageSize) => {
        const follower = new Follower();
        const cache = new PrefixCache({ pageSize, listener: follower });
        const running: { readonly ids: readonly number[]; readonly node: CacheNode }[] = [];
        for (const [turn, ids] of all.entries()) {
          const { node } = cache.insert(Uint32Array.from(ids));
          if (turn % 3 === 0) {
            cache.lock(node);
            running.push({ ids, node });
          }
          if (turn % 4 === 3) cache.evict(10);
          if (turn % 7 === 6) {
            const done = running.shift();
            if (done !== undefined) cache.unlock(done.node);
          }
          for (const { ids: kept } of running) {
            expect(cache.peek(Uint32Array.from(kept), kept.length)).toBe(
              kept.length - (kept.length % pageSize),
            );
          }
          expect(follower.prefix(ids, pageSize)).toBe(
            cache.peek(Uint32Array.from(ids), ids.length),
          );
          expect(follower.blocks.size * pageSize).toBe(cache.size);
        }
        for (const { node } of running) cache.unlock(node);
        expect(cache.locked).toBe(0);
        cache.evict(Number.POSITIVE_INFINITY);
        expect(cache.size).toBe(0);
        expect(follower.blocks.size).toBe(0);
      }),
    );
  });

  it("evicts the least recently used first", ({ expect }) => {
    const cache = new PrefixCache({ pageSize: 1 });
    const [old, used, fresh] = [range(0, 10), range(10, 20), range(20, 30)].map((ids) =>
      Uint32Array.from(ids),
    );
    for (const ids of [used, old, fresh]) cache.insert(ids ?? new Uint32Array());
    cache.match(used ?? new Uint32Array(), 10);
    cache.evict(1);
    expect([old, used, fresh].map((ids) => cache.peek(ids ?? new Uint32Array(), 10))).toEqual([
      0, 10, 10,
    ]);
  });

  it("keeps adapters apart", ({ expect }) => {
    const cache = new PrefixCache({ pageSize: 1 });
    cache.insert(Uint32Array.of(1, 2, 3), "a");
    expect(cache.peek(Uint32Array.of(1, 2, 3), 3, "b")).toBe(0);
    expect(cache.peek(Uint32Array.of(1, 2, 3), 3, "a")).toBe(3);
  });
});
