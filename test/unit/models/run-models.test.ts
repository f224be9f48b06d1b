import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterEach, beforeEach, describe, it } from "vitest";

import { runModels } from "../../../scripts/models/run-models.ts";
import { createTerminal } from "../../../scripts/models/terminal.ts";
import { listen, startHub, stop } from "./hub-server.ts";
import { bytesOf } from "./model-files.ts";
import { tinyModelFiles, tinyTokenizerJson } from "./tiny-model.ts";

let home = "";

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "run-models-"));
});

afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

async function writeModel(folder: string, contents: Record<string, unknown>): Promise<void> {
  for (const [name, value] of Object.entries(contents)) {
    const path = join(home, folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytesOf(name, value));
  }
}

/** Runs the command in `home`, with its assets in `home`/assets. */
async function run(argv: readonly string[], env: Record<string, string> = {}) {
  let out = "";
  let log = "";
  const stdout = { write: (text: string) => (out += text) };
  const stderr = { write: (text: string) => (log += text) };
  const code = await runModels([...argv, "--assets", "assets"], {
    terminal: createTerminal(stdout, stderr),
    env,
    cwd: home,
  });
  return { code, out, log };
}

async function assetFiles(): Promise<string[]> {
  try {
    const entries = await readdir(join(home, "assets"), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  } catch {
    return [];
  }
}

function parseJson(text: string): unknown {
  return JSON.parse(text);
}

describe("npm run models", () => {
  it("adds, lists, shows, checks and removes a model", async ({ expect }) => {
    await writeModel("tiny", tinyModelFiles({ words: ["hello"] }));
    const added = await run(["add", "tiny", "--id", "org/Tiny"]);
    expect(added.log).toBe(`Compiling ${join(home, "tiny")}\n`);
    expect(added.out).toMatch(/^id +tokenizer +vocabulary +templates +context +eos +source\n/u);
    expect(added.out).toMatch(/org\/Tiny +bpe .* 261 +default \(string\) +1024 +260 /u);
    expect(added.code).toBe(0);

    const listed = await run(["list", "--json"]);
    expect(parseJson(listed.out)).toMatchObject([
      {
        id: "org/Tiny",
        tokenizer: { kind: "bpe" },
        templates: ["default"],
        contextLength: 1024,
        eosTokenIds: [260],
        generationDefaults: { temperature: 0.6, top_k: 20 },
        modelType: "tiny",
        architectures: ["TinyForCausalLM"],
      },
    ]);
    const table = (await run(["list"])).out;
    expect(table).toContain("org/Tiny");

    const shown = await run(["show", "org/Tiny"]);
    expect(shown.out).toMatch(/vocabulary +261/u);
    expect(shown.out).toContain("260 <|end|>");
    expect(shown.out).toContain("{% for message in messages %}");
    expect(parseJson((await run(["show", "org/Tiny", "--json"])).out)).toMatchObject({
      vocabSize: 261,
      eosTokens: ["<|end|>"],
      contentFormat: "string",
    });

    expect(await run(["check"])).toMatchObject({ code: 0, out: "ok      org/Tiny\n" });
    expect(await run(["remove", "org/Tiny"])).toMatchObject({
      code: 0,
      out: "Removed org/Tiny.\n",
    });
    expect(await assetFiles()).toEqual(["index.json"]);
    expect((await run(["list"])).log).toContain("No models");
  });

  it("shares a tokenizer and deletes it with its last model", async ({ expect }) => {
    await writeModel("tiny", tinyModelFiles());
    await run(["add", "tiny", "--id", "a"]);
    await run(["add", "tiny", "--id", "b"]);
    expect(await readdir(join(home, "assets/tokenizers"))).toHaveLength(1);
    await run(["remove", "a"]);
    expect(await readdir(join(home, "assets/tokenizers"))).toHaveLength(1);
    await run(["remove", "b"]);
    expect(await readdir(join(home, "assets/tokenizers"))).toEqual([]);
  });

  it("replaces a model of the same name", async ({ expect }) => {
    await writeModel("old", tinyModelFiles({ words: ["old"] }));
    await writeModel("new", tinyModelFiles({ words: ["new", "newer"] }));
    await run(["add", "old", "--id", "m"]);
    await run(["add", "new", "--id", "m"]);
    expect(await readdir(join(home, "assets/tokenizers"))).toHaveLength(1);
    expect(await run(["check"])).toMatchObject({ code: 0, out: "ok      m\n" });
  });

  it("adds several at once without losing one", async ({ expect }) => {
    const ids = ["a", "b", "c", "d"];
    for (const id of ids) await writeModel(id, tinyModelFiles({ words: [`word${id}`] }));
    await Promise.all(ids.map((id) => run(["add", id])));
    const { out } = await run(["check"]);
    expect(out).toBe(ids.map((id) => `ok      ${id}\n`).join(""));
  });

  it("adds from a hub", async ({ expect }) => {
    const hub = await startHub({
      "org/name": { files: tinyModelFiles(), token: "hf_x", large: ["tokenizer.json"] },
    });
    try {
      const env = { HF_ENDPOINT: hub.endpoint, HF_TOKEN: "hf_x" };
      const { code, out, log } = await run(["add", "org/name", "--json"], env);
      expect(code).toBe(0);
      expect(parseJson(out)).toMatchObject({ id: "org/name", contextLength: 1024, warnings: [] });
      expect(log).toMatch(/^tokenizer\.json \d+\.\d kB$/mu);
    } finally {
      await hub.close();
    }
  });

  it("takes the operator's word over the files", async ({ expect }) => {
    await writeModel("tiny", tinyModelFiles());
    await writeModel(".", { "mine.jinja": "{{ messages[0].content[0].text }}" });
    const argv = [
      "add",
      "tiny",
      "--context-length",
      "512",
      "--chat-template",
      "mine.jinja",
      "--json",
    ];
    expect(parseJson((await run(argv)).out)).toMatchObject({
      id: "tiny",
      contextLength: 512,
      contentFormat: "openai",
    });
    const builtin = await run(["add", "tiny", "--chat-template", "chatml"]);
    expect(builtin.code).toBe(0);
    expect((await run(["show", "tiny"])).out).toContain("<|im_start|>");
  });

  it("serves a model with @huggingface/tokenizers when told to", async ({ expect }) => {
    await writeModel("tiny", tinyModelFiles({ words: ["hello"] }));
    const { code, out } = await run(["add", "tiny", "--tokenizer", "huggingface", "--json"]);
    expect(code).toBe(0);
    expect(parseJson(out)).toMatchObject({ tokenizer: { kind: "huggingface" }, vocabSize: 261 });
    expect(await run(["check"])).toMatchObject({ code: 0 });
  });

  const warned: { name: string; contents: Record<string, unknown>; warning: string }[] = [
    {
      name: "no chat template",
      contents: { "chat_template.jinja": undefined },
      warning: "It has no chat template",
    },
    {
      name: "no context length",
      contents: { "config.json": {}, "tokenizer_config.json": {} },
      warning: "Its context length is unknown",
    },
    {
      name: "an end token from the tokenizer alone",
      contents: { "generation_config.json": undefined },
      warning: "comes from the tokenizer alone",
    },
    {
      name: "no end token",
      contents: { "generation_config.json": {}, "tokenizer_config.json": {} },
      warning: "No file names an end-of-sequence token",
    },
    {
      name: "an end token beyond the vocabulary",
      contents: { "generation_config.json": { eos_token_id: [9999] } },
      warning: "ids 9999 are not in its vocabulary",
    },
  ];
  it.for(warned)("warns of $name", async ({ contents, warning }, { expect }) => {
    const files = Object.entries({ ...tinyModelFiles(), ...contents });
    await writeModel("tiny", Object.fromEntries(files.filter(([, value]) => value !== undefined)));
    const { code, log } = await run(["add", "tiny"]);
    expect(log).toContain(`warning: `);
    expect(log).toContain(warning);
    expect(code).toBe(0);
  });

  const json = tinyTokenizerJson();
  const refused: {
    name: string;
    contents: Record<string, unknown>;
    argv?: string[];
    error: string;
    hint?: string;
  }[] = [
    {
      name: "a folder without a tokenizer",
      contents: { "config.json": {} },
      error: "no tokenizer.json in ",
    },
    {
      name: "a SentencePiece model",
      contents: { "tokenizer.model": new Uint8Array([1]) },
      error: "only tokenizer.model, which cannot be compiled",
      hint: "save_pretrained",
    },
    {
      name: "an unknown kind of tokenizer",
      contents: { "tokenizer.json": { ...json, model: { type: "Unigram", vocab: [] } } },
      error: "this tokenizer is not supported",
      hint: "--tokenizer huggingface",
    },
    {
      name: "a tokenizer that is no JSON",
      contents: { "tokenizer.json": new TextEncoder().encode('{"model":') },
      error: "tokenizer.json is not valid JSON",
    },
    {
      name: "a tokenizer that is a list",
      contents: { "tokenizer.json": [] },
      error: "tokenizer.json holds no JSON object",
    },
    {
      name: "a broken config",
      contents: { ...tinyModelFiles(), "config.json": new TextEncoder().encode("{]") },
      error: "config.json is not valid JSON",
    },
    {
      name: "a template that does not parse",
      contents: { ...tinyModelFiles(), "chat_template.jinja": "{% for %}" },
      error: "chat_template.jinja: The model's chat template 'default' is not valid",
      hint: "--chat-template",
    },
    {
      name: "a named template that does not parse",
      contents: { ...tinyModelFiles(), "rag.jinja": "{{ " },
      error: "chat template 'rag' is not valid",
    },
    {
      name: "a template file that is not there",
      contents: tinyModelFiles(),
      argv: ["--chat-template", "./absent.jinja"],
      error: "absent.jinja",
    },
    {
      name: "a revision of a folder",
      contents: tinyModelFiles(),
      argv: ["--revision", "v1"],
      error: "--revision belongs to a Hugging Face id",
    },
    {
      name: "an empty name",
      contents: tinyModelFiles(),
      argv: ["--id", ""],
      error: "is empty",
      hint: "--id",
    },
    {
      name: "a name with a line break",
      contents: tinyModelFiles(),
      argv: ["--id", "a\nb"],
      error: "control characters",
    },
    {
      name: "a name that no file system takes",
      contents: tinyModelFiles(),
      argv: ["--id", "x".repeat(200)],
      error: "is longer than",
    },
  ];
  it.for(refused)("refuses $name and writes nothing", async (row, { expect }) => {
    await writeModel("tiny", row.contents);
    const { code, out, log } = await run(["add", "tiny", ...(row.argv ?? [])]);
    expect(log).toContain(`error: `);
    expect(log).toContain(row.error);
    expect(log).toContain(row.hint ?? "");
    expect(out).toBe("");
    expect(code).toBe(1);
    expect(await assetFiles()).toEqual([]);
  });

  it("leaves the old model alone when the new one fails", async ({ expect }) => {
    await writeModel("tiny", tinyModelFiles());
    await run(["add", "tiny"]);
    await writeModel("tiny", { "chat_template.jinja": "{% if %}" });
    expect((await run(["add", "tiny"])).code).toBe(1);
    expect(await run(["check"])).toMatchObject({ code: 0, out: "ok      tiny\n" });
  });

  const damaged: { name: string; path: RegExp; bytes: Uint8Array | null; problem: string }[] = [
    {
      name: "a changed tokenizer",
      path: /\.bin$/u,
      bytes: new Uint8Array([1, 2, 3]),
      problem: "has 3 bytes instead of",
    },
    { name: "a missing tokenizer", path: /\.bin$/u, bytes: null, problem: "is missing" },
    {
      name: "a changed manifest",
      path: /tiny\.json$/u,
      bytes: new TextEncoder().encode("{}"),
      problem: "is not what the index says (sha256)",
    },
    { name: "a missing manifest", path: /tiny\.json$/u, bytes: null, problem: "is missing" },
  ];
  it.for(damaged)("check finds $name, and add mends it", async (row, { expect }) => {
    await writeModel("tiny", tinyModelFiles());
    await run(["add", "tiny"]);
    const folder = join(home, "assets");
    const paths = await readdir(folder, { recursive: true });
    const path = join(folder, paths.find((name) => row.path.test(name)) ?? "");
    if (row.bytes === null) await rm(path);
    else await writeFile(path, row.bytes);
    const checked = await run(["check"]);
    expect(checked.code).toBe(1);
    expect(checked.out).toContain("broken  tiny: ");
    expect(checked.out).toContain(row.problem);
    expect((await run(["add", "tiny"])).code).toBe(0);
    expect(await run(["check"])).toMatchObject({ code: 0, out: "ok      tiny\n" });
  });

  it("finds a tokenizer whose bytes changed but not their number", async ({ expect }) => {
    await writeModel("tiny", tinyModelFiles());
    await run(["add", "tiny"]);
    const [name = ""] = await readdir(join(home, "assets/tokenizers"));
    const path = join(home, "assets/tokenizers", name);
    const bytes = await readFile(path);
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
    await writeFile(path, bytes);
    expect((await run(["check"])).out).toContain("does not hold what its name says");
  });

  it("names files that no model uses", async ({ expect }) => {
    await writeModel("tiny", tinyModelFiles());
    await run(["add", "tiny"]);
    await writeModel("assets/models", { "stray.json": {} });
    expect(await run(["check"])).toMatchObject({
      code: 0,
      out: "ok      tiny\nunused  models/stray.json\n",
    });
  });

  const misused: { argv: string[]; error: string }[] = [
    { argv: ["compile"], error: "there is no command compile" },
    { argv: ["add"], error: "add takes one SOURCE" },
    { argv: ["add", "a", "b"], error: "add takes one SOURCE" },
    { argv: ["show"], error: "show takes one ID" },
    { argv: ["show", "absent"], error: "there is no model absent" },
    { argv: ["remove", "absent"], error: "there is no model absent" },
    { argv: ["list", "all"], error: "list takes no all" },
    { argv: ["list", "--id", "x"], error: "--id belongs to add" },
    { argv: ["add", "x", "--tokenizer", "fast"], error: "--tokenizer is auto, bpe or huggingface" },
    { argv: ["add", "x", "--context-length", "8k"], error: "--context-length takes a number" },
    { argv: ["add", "x", "--context-length", "0"], error: "--context-length takes a number" },
    { argv: ["add", "x", "--colour"], error: "--colour" },
    { argv: ["add", "./absent"], error: "there is no folder" },
  ];
  it.for(misused)("refuses: $argv", async ({ argv, error }, { expect }) => {
    const { code, log, out } = await run(argv);
    expect(log).toContain(`error: `);
    expect(log).toContain(error);
    expect({ code, out }).toEqual({ code: 1, out: "" });
  });

  it.for([[], ["help"], ["--help"], ["add", "--help"]])(
    "explains itself: %s",
    async (argv, { expect }) => {
      const { code, out } = await run(argv);
      expect(out).toContain("npm run models -- add SOURCE");
      expect(code).toBe(0);
    },
  );

  it("does not show a token that the gateway refuses", async ({ expect }) => {
    const server = createServer((_, response) => response.writeHead(401).end());
    const url = await listen(server);
    const { code, log } = await run(["add", url], { GATEWAY_TOKEN: "very-secret" });
    await stop(server);
    expect(code).toBe(1);
    expect(log).toContain("refused us");
    expect(log).not.toContain("very-secret");
  });
});

function writtenTo(isTTY: boolean): string {
  let text = "";
  const stream = { isTTY, columns: 80, write: (piece: string) => (text += piece) };
  const terminal = createTerminal(stream, stream);
  terminal.progress("tokenizer.json", 5_000_000, 10_000_000);
  terminal.progress("tokenizer.json", 10_000_000, 10_000_000);
  terminal.progress("config.json", 700, null);
  terminal.log("done");
  return text;
}

describe("a terminal", () => {
  it("draws a bar for a person and a line per file for a log", ({ expect }) => {
    expect(writtenTo(false)).toBe("tokenizer.json 10.0 MB\nconfig.json 700 B\ndone\n");
    expect(writtenTo(true)).toContain("[############------------] 50 % of 10.0 MB");
    expect(writtenTo(true)).toContain("\r\u001B[Ktokenizer.json 10.0 MB\n");
  });
});
