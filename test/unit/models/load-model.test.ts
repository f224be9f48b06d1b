import * as fc from "fast-check";
import { describe, it, vi } from "vitest";

import { compileModel } from "../../../scripts/models/compile-model.ts";
import { EdgeError } from "../../../src/core/api-error.ts";
import type { ModelStoreOptions } from "../../../src/prompt/load-model.ts";
import { createModelStore, modelFile } from "../../../src/prompt/load-model.ts";
import type { ModelIndex } from "../../../src/prompt/model-asset.ts";
import { parseModelManifest } from "../../../src/prompt/schema.ts";
import type { TemplateInput } from "../../../src/prompt/template/chat-template.ts";
import { filesOf } from "./model-files.ts";
import { tinyModelFiles } from "./tiny-model.ts";

/** Compiled models in memory, with a record of what was fetched and a way to hold replies back. */
class Assets {
  readonly files = new Map<string, Uint8Array>();
  readonly fetched: string[] = [];
  /** Assets whose replies wait. */
  readonly held = new Map<string, Promise<void>>();
  #models: ModelIndex["models"] = [];

  /** Adds or replaces a model whose vocabulary has these words; equal words are an equal tokenizer. */
  add(id: string, words: readonly string[], createdAt = 1): void {
    const files = filesOf(tinyModelFiles({ words }));
    const { manifest, tokenizerBytes } = compileModel(files, { id, now: createdAt * 1000 });
    this.set(manifest.tokenizer.file, tokenizerBytes);
    this.set(modelFile(id), manifest);
    const others = this.#models.filter((model) => model.id !== id);
    this.setIndex([...others, { id, file: modelFile(id), createdAt }]);
  }

  setIndex(models: ModelIndex["models"]): void {
    this.#models = models;
    this.set("models/index.json", { v: 1, models });
  }

  remove(id: string): void {
    this.setIndex(this.#models.filter((model) => model.id !== id));
  }

  set(path: string, content: unknown): void {
    const bytes = new TextEncoder().encode(JSON.stringify(content));
    this.files.set(path, content instanceof Uint8Array ? content : bytes);
  }

  tokenizerOf(id: string): string {
    const text = new TextDecoder().decode(this.files.get(modelFile(id)));
    return parseModelManifest(text).tokenizer.file;
  }

  sizeOf(id: string): number {
    return this.files.get(this.tokenizerOf(id))?.byteLength ?? 0;
  }

  /** How often an asset was fetched. */
  count(path: string): number {
    return this.fetched.filter((fetched) => fetched === path).length;
  }

  store(options: Partial<ModelStoreOptions> = {}) {
    return createModelStore({
      fetchAsset: async (path) => {
        this.fetched.push(path);
        await this.held.get(path);
        const bytes = this.files.get(path);
        return bytes === undefined ? null : new Uint8Array(bytes).buffer;
      },
      ...options,
    });
  }
}

function clock() {
  let ms = 1_000_000;
  return {
    now: () => ms,
    advance: (by: number) => {
      ms += by;
    },
  };
}

const CONVERSATION: TemplateInput = {
  messages: [{ role: "user", content: "hi" }],
  addGenerationPrompt: true,
  continueFinalMessage: false,
  kwargs: {},
  now: new Date(0),
};

describe("a model store", () => {
  it("lists nothing where nothing was compiled", async ({ expect }) => {
    const store = new Assets().store();
    expect(await store.list()).toEqual({ v: 1, models: [] });
    expect(await store.load("Qwen/Qwen3-8B")).toBeNull();
  });

  it("loads a model that encodes, decodes and renders", async ({ expect }) => {
    const assets = new Assets();
    assets.add("org/a", ["hello"]);
    const model = await assets.store().load("org/a");
    expect(model?.manifest.contextLength).toBe(1024);
    const ids = model?.tokenizer.encode("hello", { addSpecialTokens: false }) ?? [];
    expect(ids).toHaveLength(1);
    expect(model?.tokenizer.decode(ids, { skipSpecialTokens: true })).toBe("hello");
    expect(model?.template?.render(CONVERSATION)).toBe("user: hi<|end|>");
  });

  it("has no template for a model without one", async ({ expect }) => {
    const assets = new Assets();
    assets.add("a", []);
    const text = new TextDecoder().decode(assets.files.get(modelFile("a")));
    assets.set(modelFile("a"), { ...parseModelManifest(text), chatTemplate: null });
    expect((await assets.store().load("a"))?.template).toBeNull();
  });

  it("shares one load between requests at the same time and after", async ({ expect }) => {
    const assets = new Assets();
    assets.add("a", ["one"]);
    const store = assets.store();
    const [first, second] = await Promise.all([store.load("a"), store.load("a")]);
    const third = await store.load("a");
    expect(second?.tokenizer).toBe(first?.tokenizer);
    expect(third?.tokenizer).toBe(first?.tokenizer);
    expect(third?.template).toBe(first?.template);
    expect(assets.fetched).toEqual(["models/index.json", modelFile("a"), assets.tokenizerOf("a")]);
  });

  it("shares a tokenizer between models", async ({ expect }) => {
    const assets = new Assets();
    assets.add("a", ["same"]);
    assets.add("b", ["same"]);
    const store = assets.store();
    const [a, b] = await Promise.all([store.load("a"), store.load("b")]);
    expect(b?.tokenizer).toBe(a?.tokenizer);
    expect(b?.manifest.id).toBe("b");
    expect(assets.count(assets.tokenizerOf("a"))).toBe(1);
  });

  it("forgets the least recently used tokenizer above its limit", async ({ expect }) => {
    const assets = new Assets();
    for (const id of ["a", "b", "c"]) assets.add(id, [`word${id}`]);
    const store = assets.store({ maxTokenizerBytes: assets.sizeOf("a") + assets.sizeOf("b") });
    const loads = (id: string) => assets.count(assets.tokenizerOf(id));
    await store.load("a");
    await store.load("b");
    await store.load("a");
    await store.load("c");
    await store.load("a");
    expect([loads("a"), loads("b"), loads("c")]).toEqual([1, 1, 1]);
    await store.load("b");
    expect([loads("a"), loads("b"), loads("c")]).toEqual([1, 2, 1]);
    await store.load("c");
    expect([loads("a"), loads("b"), loads("c")]).toEqual([1, 2, 2]);
  });

  it("keeps the one in use, however large", async ({ expect }) => {
    const assets = new Assets();
    assets.add("a", ["one"]);
    assets.add("b", ["two"]);
    const store = assets.store({ maxTokenizerBytes: 1 });
    await store.load("a");
    await store.load("a");
    expect(assets.count(assets.tokenizerOf("a"))).toBe(1);
    await store.load("b");
    await store.load("a");
    expect(assets.count(assets.tokenizerOf("a"))).toBe(2);
  });

  it("reads the index again after its time and sees models come, change and go", async ({
    expect,
  }) => {
    const assets = new Assets();
    const { now, advance } = clock();
    const store = assets.store({ now, indexTtlMs: 1000 });
    assets.add("a", ["old"], 1);
    const old = await store.load("a");
    assets.add("a", ["new"], 2);
    assets.add("b", [], 2);
    advance(999);
    expect((await store.load("a"))?.tokenizer).toBe(old?.tokenizer);
    expect(await store.load("b")).toBeNull();
    advance(1);
    expect((await store.load("a"))?.manifest.createdAt).toBe(2);
    expect((await store.load("b"))?.manifest.id).toBe("b");
    assets.remove("a");
    advance(1000);
    expect(await store.load("a")).toBeNull();
    expect((await store.list()).models.map(({ id }) => id)).toEqual(["b"]);
  });

  it("keeps serving by an old index when the new one cannot be read", async ({ expect }) => {
    const assets = new Assets();
    const { now, advance } = clock();
    const store = assets.store({ now, indexTtlMs: 1000 });
    assets.add("a", []);
    await store.load("a");
    assets.set("models/index.json", { v: 2 });
    advance(5000);
    expect((await store.load("a"))?.manifest.id).toBe("a");
    assets.remove("a");
    expect(await store.load("a")).toBeNull();
  });

  it("starts a load anew when the one it waited for never ends", async ({ expect }) => {
    const assets = new Assets();
    assets.add("a", []);
    for (const path of ["models/index.json", modelFile("a"), assets.tokenizerOf("a")]) {
      assets.fetched.length = 0;
      const store = assets.store({ takeOverAfterMs: 5 });
      // The request that reads this asset is dropped: its promise never settles.
      assets.held.set(path, Promise.withResolvers<void>().promise);
      void store.load("a");
      await vi.waitUntil(() => assets.count(path) === 1);
      assets.held.clear();
      expect((await store.load("a"))?.manifest.id, path).toBe("a");
      expect(assets.count(path), path).toBe(2);
    }
  });

  const broken: {
    name: string;
    breakIt: (assets: Assets) => void;
    cause: string;
  }[] = [
    {
      name: "an index that is no JSON",
      breakIt: (assets) => assets.set("models/index.json", new TextEncoder().encode("{")),
      cause: "JSON",
    },
    {
      name: "an index with a path that climbs",
      breakIt: (assets) =>
        assets.setIndex([{ id: "a", file: "models/../secret.json", createdAt: 1 }]),
      cause: "not a valid model index (models.0.file",
    },
    {
      name: "a missing manifest",
      breakIt: (assets) => assets.files.delete(modelFile("a")),
      cause: `asset ${modelFile("a")} is missing`,
    },
    {
      name: "a manifest of another version",
      breakIt: (assets) => assets.set(modelFile("a"), { v: 2 }),
      cause: "not a valid model manifest (v: ",
    },
    {
      name: "the manifest of another model",
      breakIt: (assets) => assets.setIndex([{ id: "b", file: modelFile("a"), createdAt: 1 }]),
      cause: "is of model a",
    },
    {
      name: "a missing tokenizer",
      breakIt: (assets) => assets.files.delete(assets.tokenizerOf("a")),
      cause: "is missing",
    },
    {
      name: "a tokenizer that was cut",
      breakIt: (assets) => {
        const file = assets.tokenizerOf("a");
        assets.files.set(file, (assets.files.get(file) ?? new Uint8Array()).slice(0, -1));
      },
      cause: "the manifest says",
    },
    {
      name: "a tokenizer of something else",
      breakIt: (assets) => {
        assets.files.set(assets.tokenizerOf("a"), new Uint8Array(assets.sizeOf("a")));
      },
      cause: "",
    },
  ];
  it.for(broken)("fails as our own fault, and mends: $name", async (row, { expect }) => {
    const assets = new Assets();
    assets.add("a", []);
    const sound = new Map(assets.files);
    row.breakIt(assets);
    const store = assets.store({ indexTtlMs: 0 });
    for (const id of ["a", "b"]) {
      const [result] = await Promise.allSettled([store.load(id)]);
      if (result.status === "fulfilled") {
        expect(result.value).toBeNull();
        continue;
      }
      const error: unknown = result.reason;
      if (!(error instanceof EdgeError)) throw error;
      expect(error.error).toEqual({ kind: "internal" });
      expect(causesOf(error)).toContain(row.cause);
      expect(causesOf(error)).toContain("cannot load model");
    }
    for (const [path, bytes] of sound) assets.files.set(path, bytes);
    expect((await store.load("a"))?.manifest.id).toBe("a");
  });

  it("fails as our own fault when the assets cannot be reached", async ({ expect }) => {
    const store = createModelStore({
      fetchAsset: () => Promise.reject(new Error("binding is down")),
    });
    await expect(store.list()).rejects.toMatchObject({ error: { kind: "internal" } });
    await expect(store.load("a")).rejects.toMatchObject({ error: { kind: "internal" } });
  });
});

function causesOf(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return `${error.message} <- ${causesOf(error.cause)}`;
}

describe("the file of a model", () => {
  const rows: { id: string; expected: string }[] = [
    { id: "Qwen/Qwen3-8B", expected: "models/_qwen~_qwen3-8_b.json" },
    { id: "gpt2", expected: "models/gpt2.json" },
    { id: "index", expected: "models/_00105ndex.json" },
    { id: "..", expected: "models/_00046_00046.json" },
    { id: "../../etc/passwd", expected: "models/_00046_00046~_00046_00046~etc~passwd.json" },
    { id: "a..b", expected: "models/a_00046_00046b.json" },
    { id: "a.", expected: "models/a_00046.json" },
    { id: "v1.5", expected: "models/v1.5.json" },
    { id: "通义/千问 3", expected: "models/_36890_20041~_21315_38382_000323.json" },
    { id: "a_b~c\\d", expected: "models/a_00095b_00126c_00092d.json" },
    { id: "", expected: "models/.json" },
  ];
  it.for(rows)("$id", ({ id, expected }, { expect }) => {
    expect(modelFile(id)).toBe(expected);
  });

  const ids = fc.oneof(
    fc.string({
      unit: fc.constantFrom(...Array.from("aAbB./_~-0 9İıſK\u{212A}ß\uD800")),
      maxLength: 8,
    }),
    fc.string({ unit: "binary", maxLength: 8 }),
    fc.constantFrom("index", "Index", "_00105ndex", "..", ".", "a/..", "con"),
  );

  it("is safe", ({ expect }) => {
    fc.assert(
      fc.property(ids, (id) => {
        const file = modelFile(id);
        expect(file).toMatch(/^models\/[a-z0-9._~-]*[.]json$/u);
        expect(file).not.toContain("..");
        expect(file).not.toBe("models/index.json");
        if (id !== "") expect(file).not.toMatch(/\/[.]/u);
      }),
    );
  });

  it("is another one for another model", ({ expect }) => {
    fc.assert(
      fc.property(ids, ids, (one, other) => {
        expect(modelFile(one) === modelFile(other)).toBe(one === other);
      }),
      { numRuns: 2000 },
    );
  });
});
