import { EdgeError } from "../core/api-error.ts";
import { createSharedSlot, type SharedSlot } from "../core/shared-slot.ts";
import type { ModelIndex, ModelIndexEntry, ModelManifest } from "./model-asset.ts";
import { parseModelIndex, parseModelManifest } from "./schema.ts";
import type { ChatTemplate } from "./template/chat-template.ts";
import { compileChatTemplate } from "./template/compile-chat-template.ts";
import { createHuggingFaceTokenizer } from "./tokenizer/huggingface-tokenizer.ts";
import { loadTokenizer } from "./tokenizer/load-tokenizer.ts";
import type { Tokenizer } from "./tokenizer/tokenizer.ts";

/** A model ready to take prompts. Stateless: shared by all requests of an isolate. */
export interface LoadedModel {
  readonly manifest: ModelManifest;
  readonly tokenizer: Tokenizer;
  /** null: the model has no chat template. */
  readonly template: ChatTemplate | null;
}

export interface ModelStore {
  /** The models that can be loaded; empty when none was ever compiled. Throws EdgeError `internal`. */
  list(): Promise<ModelIndex>;
  /**
   * The model of that name, or null when the index does not have it. Throws EdgeError `internal` when its assets are
   * missing, damaged or cannot be read; the next call tries again.
   */
  load(id: string): Promise<LoadedModel | null>;
}

export interface ModelStoreOptions {
  /** The bytes of an asset (`models/index.json` …), or null when there is none. */
  readonly fetchAsset: (path: string) => Promise<ArrayBuffer | null>;
  /** What the tokenizers held at once may cost, in bytes; one larger than that is held alone. */
  readonly maxTokenizerBytes?: number;
  /** How long the index is used before it is read again. */
  readonly indexTtlMs?: number;
  /** How long a request waits for a load that another request started before it starts its own. */
  readonly takeOverAfterMs?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Leaves 80 of an isolate's 128 MB to requests. */
const DEFAULT_MAX_TOKENIZER_BYTES = 48 * 1024 * 1024;
const DEFAULT_INDEX_TTL_MS = 60_000;
const DEFAULT_TAKE_OVER_AFTER_MS = 5_000;
/** Manifests and parsed templates are small next to tokenizers: counted, not weighed. */
const MAX_MODELS = 64;
/** A tokenizer.json parsed into objects takes about this many times its text (measured: 29 MB for 11 MB). */
const JSON_MEMORY_FACTOR = 3;

const INDEX_FILE = "models/index.json";

/**
 * Models read from the assets, one store per isolate. Tokenizers are shared by models with the same tokenizer, loads are
 * shared by requests, and above `maxTokenizerBytes` the least recently used tokenizer is forgotten (a request that still
 * works with it keeps it alive until it ends).
 */
export function createModelStore(options: ModelStoreOptions): ModelStore {
  const now = options.now ?? Date.now;
  const takeOverAfterMs = options.takeOverAfterMs ?? DEFAULT_TAKE_OVER_AFTER_MS;
  const index = createIndexCache(options, now, takeOverAfterMs);
  const tokenizers = createTokenizerCache(options, takeOverAfterMs);
  /** By model id, least recently used first. */
  const models = new Map<string, CachedModel>();

  /** A model's manifest and template; the tokenizer is looked up by the caller, since it may have been dropped. */
  const prepare = (entry: ModelIndexEntry): Promise<PreparedModel> => {
    const version = `${entry.file} ${entry.sha16 ?? entry.createdAt}`;
    const known = models.get(entry.id);
    const cached =
      known?.version === version
        ? known
        : { version, slot: createSharedSlot(() => prepareModel(options, entry), takeOverAfterMs) };
    models.delete(entry.id);
    models.set(entry.id, cached);
    for (const oldest of models.keys()) {
      if (models.size <= MAX_MODELS) break;
      models.delete(oldest);
    }
    return cached.slot.get();
  };

  return {
    list: () => guard("the model index", () => index.get()),
    load: (id) =>
      guard(`model ${id}`, async () => {
        const entry = (await index.get()).models.find((model) => model.id === id);
        if (entry === undefined) {
          models.delete(id);
          return null;
        }
        const { manifest, template } = await prepare(entry);
        return { manifest, template, tokenizer: await tokenizers.get(manifest.tokenizer) };
      }),
  };
}

/**
 * Path of a model's manifest in the assets. Different ids have different paths, also on file systems that do not tell
 * upper from lower case, and a path holds only `a-z 0-9 . _ ~ -`: capitals become `_` and the small letter, `/` becomes
 * `~`, anything else `_` and five digits.
 */
export function modelFile(id: string): string {
  let slug = "";
  for (let position = 0; position < id.length; position++) {
    slug += slugUnit(id, position);
  }
  return `models/${slug === "index" ? escapeUnit("i") + slug.slice(1) : slug}.json`;
}

function slugUnit(id: string, position: number): string {
  const unit = id.charAt(position);
  if (/[a-z0-9-]/u.test(unit)) return unit;
  if (/[A-Z]/u.test(unit)) return `_${unit.toLowerCase()}`;
  if (unit === "/") return "~";
  // A dot between letters or digits is harmless; a leading one hides the file, and two of them climb.
  const around = [id.charAt(position - 1), id.charAt(position + 1)];
  const harmless = unit === "." && around.every((other) => /^[A-Za-z0-9]$/u.test(other));
  return harmless ? unit : escapeUnit(unit);
}

function escapeUnit(unit: string): string {
  return `_${String(unit.charCodeAt(0)).padStart(5, "0")}`;
}

interface PreparedModel {
  readonly manifest: ModelManifest;
  readonly template: ChatTemplate | null;
}

interface CachedModel {
  readonly version: string;
  readonly slot: SharedSlot<PreparedModel>;
}

async function prepareModel(
  options: ModelStoreOptions,
  entry: ModelIndexEntry,
): Promise<PreparedModel> {
  const manifest = parseModelManifest(decodeText(await fetchExisting(options, entry.file)));
  if (manifest.id !== entry.id) throw new Error(`asset ${entry.file} is of model ${manifest.id}`);
  const { chatTemplate } = manifest;
  return { manifest, template: chatTemplate === null ? null : compileChatTemplate(chatTemplate) };
}

type TokenizerAsset = ModelManifest["tokenizer"];

interface CachedTokenizer {
  readonly cost: number;
  readonly slot: SharedSlot<Tokenizer>;
}

function createTokenizerCache(options: ModelStoreOptions, takeOverAfterMs: number) {
  const maxBytes = options.maxTokenizerBytes ?? DEFAULT_MAX_TOKENIZER_BYTES;
  /** By asset path, least recently used first. */
  const cached = new Map<string, CachedTokenizer>();

  /** Makes room before the bytes are fetched, so that the peak stays under the limit as well. */
  const makeRoom = (cost: number): void => {
    let held = cost;
    for (const other of cached.values()) held += other.cost;
    for (const [file, other] of cached) {
      if (held <= maxBytes) break;
      cached.delete(file);
      held -= other.cost;
    }
  };

  return {
    async get(asset: TokenizerAsset): Promise<Tokenizer> {
      const cost = asset.byteLength * (asset.kind === "huggingface" ? JSON_MEMORY_FACTOR : 1);
      const known = cached.get(asset.file);
      cached.delete(asset.file);
      if (known === undefined) makeRoom(cost);
      const entry = known ?? {
        cost,
        slot: createSharedSlot(() => readTokenizer(options, asset), takeOverAfterMs),
      };
      cached.set(asset.file, entry);
      try {
        return await entry.slot.get();
      } catch (error) {
        // A failed load holds no memory; it must not crowd out what does.
        if (cached.get(asset.file) === entry && entry.slot.isEmpty()) cached.delete(asset.file);
        throw error;
      }
    },
  };
}

async function readTokenizer(
  options: ModelStoreOptions,
  asset: TokenizerAsset,
): Promise<Tokenizer> {
  const bytes = await fetchExisting(options, asset.file);
  if (bytes.byteLength !== asset.byteLength) {
    throw new Error(
      `asset ${asset.file} has ${bytes.byteLength} bytes, the manifest says ${asset.byteLength}`,
    );
  }
  return asset.kind === "bpe" ? loadTokenizer(bytes) : createHuggingFaceTokenizer(bytes);
}

interface IndexCache {
  get(): Promise<ModelIndex>;
}

function createIndexCache(
  options: ModelStoreOptions,
  now: () => number,
  takeOverAfterMs: number,
): IndexCache {
  const ttlMs = options.indexTtlMs ?? DEFAULT_INDEX_TTL_MS;
  let current: { readonly index: ModelIndex; readonly readAt: number } | undefined;
  let slot: SharedSlot<ModelIndex> | undefined;

  const read = async (): Promise<ModelIndex> => {
    const startedAt = now();
    const index = await readIndex(options);
    current = { index, readAt: startedAt };
    return index;
  };

  return {
    async get() {
      if (current !== undefined && now() - current.readAt < ttlMs) return current.index;
      slot ??= createSharedSlot(read, takeOverAfterMs);
      const reading = slot;
      try {
        return await reading.get();
      } catch (error) {
        // An index that was good a minute ago beats no service at all; the next call tries again.
        if (current !== undefined) return current.index;
        throw error;
      } finally {
        if (slot === reading) slot = undefined;
      }
    },
  };
}

async function readIndex(options: ModelStoreOptions): Promise<ModelIndex> {
  const bytes = await options.fetchAsset(INDEX_FILE);
  return bytes === null ? { v: 1, models: [] } : parseModelIndex(decodeText(bytes));
}

async function fetchExisting(options: ModelStoreOptions, path: string): Promise<ArrayBuffer> {
  const bytes = await options.fetchAsset(path);
  if (bytes === null) throw new Error(`asset ${path} is missing`);
  return bytes;
}

function decodeText(bytes: ArrayBuffer): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
}

/** Whatever goes wrong with assets is our own fault, never the client's. */
async function guard<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new EdgeError({ kind: "internal" }, new Error(`cannot load ${what}`, { cause: error }));
  }
}
