/** What the cache tells about its blocks, one call per page; hashes chain on the page before. */
export interface CacheListener {
  stored(hash: bigint, parent: bigint | undefined, tokenIds: Uint32Array): void;
  removed(hash: bigint): void;
  cleared(): void;
}

/** A run of pages with one parent; the key's length is a multiple of the page size. */
export interface CacheNode {
  key: Uint32Array;
  parent: CacheNode | undefined;
  readonly children: Map<number | string, CacheNode>;
  /** One per page; empty when nobody listens. */
  hashes: bigint[];
  lastUse: number;
  /** Running requests whose prompt goes through here. */
  locks: number;
}

export interface PrefixMatch {
  readonly tokens: number;
  readonly node: CacheNode;
}

/**
 * SGLang's prefix cache: a radix tree over token ids, cut at page borders, evicted leaf by leaf, the least recently
 * used first. Each `space` (a LoRA adapter) has a tree of its own.
 */
export class PrefixCache {
  readonly #pageSize: number;
  readonly #listener: CacheListener | undefined;
  readonly #roots = new Map<string, CacheNode>();
  #size = 0;
  #locked = 0;
  #uses = 0;

  constructor(options: { readonly pageSize: number; readonly listener?: CacheListener }) {
    this.#pageSize = options.pageSize;
    this.#listener = options.listener;
  }

  /** Tokens held. */
  get size(): number {
    return this.#size;
  }

  /** Tokens held that a running request needs, so that they cannot be evicted. */
  get locked(): number {
    return this.#locked;
  }

  /** The longest cached prefix of at most `limit` tokens, in whole pages; counts as a use. */
  match(ids: Uint32Array, limit: number, space = ""): PrefixMatch {
    return this.#walk(ids, limit, { space, touch: true });
  }

  /** The same as `match(…).tokens`, without counting as a use. */
  peek(ids: Uint32Array, limit: number, space = ""): number {
    return this.#walk(ids, limit, { space, touch: false }).tokens;
  }

  /** Puts the whole pages of `ids` in; returns the node that ends them. */
  insert(ids: Uint32Array, space = ""): PrefixMatch {
    const whole = ids.length - (ids.length % this.#pageSize);
    const found = this.match(ids, whole, space);
    if (found.tokens === whole) return found;
    const node = newNode(ids.slice(found.tokens, whole), found.node);
    found.node.children.set(this.#childKey(node.key, 0), node);
    this.#size += node.key.length;
    node.lastUse = ++this.#uses;
    this.#announce(node);
    return { tokens: whole, node };
  }

  lock(node: CacheNode): void {
    for (let at: CacheNode | undefined = node; at?.parent !== undefined; at = at.parent) {
      if (at.locks === 0) this.#locked += at.key.length;
      at.locks += 1;
    }
  }

  unlock(node: CacheNode): void {
    for (let at: CacheNode | undefined = node; at?.parent !== undefined; at = at.parent) {
      at.locks -= 1;
      if (at.locks === 0) this.#locked -= at.key.length;
    }
  }

  /** Drops unlocked leaves until at least `tokens` are gone or nothing more can go. */
  evict(tokens: number): void {
    let gone = 0;
    while (gone < tokens) {
      const leaves = this.#unlockedLeaves();
      if (leaves.length === 0) return;
      for (const leaf of leaves) {
        if (gone >= tokens) return;
        gone += leaf.key.length;
        this.#drop(leaf);
      }
    }
  }

  clear(): void {
    this.#roots.clear();
    this.#size = 0;
    this.#locked = 0;
    this.#listener?.cleared();
  }

  #walk(ids: Uint32Array, limit: number, how: { readonly space: string; readonly touch: boolean }) {
    const end = limit - (limit % this.#pageSize);
    let node = this.#root(how.space);
    let tokens = 0;
    while (tokens < end) {
      const child = node.children.get(this.#childKey(ids, tokens));
      if (child === undefined) break;
      const shared = this.#sharedPages(child.key, ids.subarray(tokens, end));
      if (shared === 0) break;
      tokens += shared;
      node = shared < child.key.length && how.touch ? this.#split(child, shared) : child;
      if (how.touch) node.lastUse = ++this.#uses;
      if (shared < child.key.length) break;
    }
    return { tokens, node };
  }

  #root(space: string): CacheNode {
    const known = this.#roots.get(space);
    if (known !== undefined) return known;
    const root = newNode(new Uint32Array(0), undefined);
    this.#roots.set(space, root);
    return root;
  }

  #childKey(ids: Uint32Array, at: number): number | string {
    if (this.#pageSize === 1) return ids[at] ?? "";
    return ids.subarray(at, at + this.#pageSize).join(",");
  }

  #sharedPages(key: Uint32Array, ids: Uint32Array): number {
    const most = Math.min(key.length, ids.length);
    let same = 0;
    while (same < most && key[same] === ids[same]) same += 1;
    return same - (same % this.#pageSize);
  }

  /**
   * Cuts a node in two and returns the new upper half. The node itself becomes the lower half, since running requests
   * hold on to it to unlock their whole path later.
   */
  #split(node: CacheNode, at: number): CacheNode {
    const upper = newNode(node.key.subarray(0, at), node.parent);
    const pages = at / this.#pageSize;
    upper.hashes = node.hashes.slice(0, pages);
    upper.locks = node.locks;
    upper.lastUse = node.lastUse;
    node.parent?.children.set(this.#childKey(upper.key, 0), upper);
    node.key = node.key.subarray(at);
    node.hashes = node.hashes.slice(pages);
    node.parent = upper;
    upper.children.set(this.#childKey(node.key, 0), node);
    return upper;
  }

  #unlockedLeaves(): CacheNode[] {
    const leaves: CacheNode[] = [];
    const open = [...this.#roots.values()];
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      if (node.children.size > 0) open.push(...node.children.values());
      else if (node.locks === 0 && node.parent !== undefined) leaves.push(node);
    }
    return leaves.sort((left, right) => left.lastUse - right.lastUse);
  }

  #drop(leaf: CacheNode): void {
    leaf.parent?.children.delete(this.#childKey(leaf.key, 0));
    this.#size -= leaf.key.length;
    for (const hash of leaf.hashes.toReversed()) this.#listener?.removed(hash);
  }

  #announce(node: CacheNode): void {
    if (this.#listener === undefined) return;
    let parent = node.parent?.hashes.at(-1);
    for (let at = 0; at < node.key.length; at += this.#pageSize) {
      const page = node.key.subarray(at, at + this.#pageSize);
      const hash = hashPage(page, parent);
      node.hashes.push(hash);
      this.#listener.stored(hash, parent, page);
      parent = hash;
    }
  }
}

function newNode(key: Uint32Array, parent: CacheNode | undefined): CacheNode {
  return { key, parent, children: new Map(), hashes: [], lastUse: 0, locks: 0 };
}

/** A signed 64-bit hash of a page and all that comes before it (two 32-bit halves, mixed as in MurmurHash3). */
function hashPage(page: Uint32Array, parent: bigint | undefined): bigint {
  const before = parent ?? 0n;
  let high = Number(BigInt.asUintN(32, before >> 32n)) ^ 0x9e3779b9;
  let low = Number(BigInt.asUintN(32, before)) ^ 0x85ebca6b;
  for (const id of page) {
    high = Math.imul(high ^ id, 0xcc9e2d51);
    high = (high << 13) | (high >>> 19);
    low = Math.imul(low ^ (id + high), 0x1b873593);
    low = (low << 15) | (low >>> 17);
  }
  const mixed = [high, low].map((half) => Math.imul(half ^ (half >>> 16), 0x85ebca6b) >>> 0);
  return BigInt.asIntN(64, (BigInt(mixed[0] ?? 0) << 32n) | BigInt(mixed[1] ?? 0));
}
