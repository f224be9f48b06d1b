import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, it } from "vitest";

import { LOCAL_MODELS, prepareLocalModels } from "../../../scripts/models/local-models.ts";
import { openModelAssets } from "../../../scripts/models/model-assets.ts";

let folder = "";
const [qwen] = LOCAL_MODELS;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "local-models-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function prepare() {
  const logged: string[] = [];
  const assetsDir = join(folder, "assets");
  const models = qwen === undefined ? [] : [qwen];
  await prepareLocalModels({ assetsDir, log: (text) => logged.push(text), models });
  return logged;
}

describe("the local stack's models", () => {
  it("are compiled once, by whoever comes first, and again when they are gone", async ({
    expect,
  }) => {
    const [first, second] = await Promise.all([prepare(), prepare()]);
    expect([...first, ...second]).toEqual(["Compiling Qwen/Qwen3-8B"]);
    expect(await prepare()).toEqual([]);

    const assets = openModelAssets(join(folder, "assets"));
    const [entry] = (await assets.index()).models;
    if (entry === undefined) throw new Error("no model");
    expect(await assets.manifest(entry)).toMatchObject({
      id: "Qwen/Qwen3-8B",
      contextLength: 40960,
      eosTokenIds: [151645, 151643],
      generationDefaults: { temperature: 0.6, top_k: 20, top_p: 0.95 },
      modelType: "qwen3",
      architectures: ["Qwen3ForCausalLM"],
      chatTemplate: { specialTokens: { eos_token: "<|im_end|>", pad_token: "<|endoftext|>" } },
    });

    await rm(join(folder, "assets", entry.file));
    expect(await prepare()).toEqual(["Compiling Qwen/Qwen3-8B"]);
    // Nothing but the assets is in the folder that is deployed.
    expect((await readdir(join(folder, "assets"))).sort()).toEqual(["models", "tokenizers"]);
    expect(
      JSON.parse(await readFile(join(folder, "assets.local-models.json"), "utf8")),
    ).toHaveProperty(["Qwen/Qwen3-8B"]);
    await expect(stat(join(folder, "assets.lock"))).rejects.toThrow("ENOENT");
  });

  it("have every fact that the edge needs", ({ expect }) => {
    expect(
      LOCAL_MODELS.map(({ id, config, generationConfig }) => ({
        id,
        context: config["max_position_embeddings"],
        eos: generationConfig["eos_token_id"],
      })),
    ).toEqual([
      { id: "Qwen/Qwen3-8B", context: 40960, eos: [151645, 151643] },
      {
        id: "meta-llama/Llama-3.1-8B-Instruct",
        context: 131072,
        eos: [128001, 128008, 128009],
      },
    ]);
  });
});
