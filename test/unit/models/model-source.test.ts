import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { afterAll, beforeAll, describe, it } from "vitest";

import type { ModelSource } from "../../../scripts/models/model-source.ts";
import { resolveSource } from "../../../scripts/models/model-source.ts";
import { findPackage, readFolder, readPackage } from "../../../scripts/models/read-folder.ts";

let home = "";

async function write(path: string, text = "{}"): Promise<void> {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), text);
}

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "model-source-"));
  await write("folder/tokenizer.json");
  await write("folder/tokenizer.model", "binary");
  await write("folder/README.md", "text");
  await write("folder/additional_chat_templates/rag.jinja", "R");
  await write("org/name/tokenizer.json");
  await write("pkg/tokenizer.json");
  await write("node_modules/pkg/package.json");
  await write("node_modules/installed/package.json", '{"version":"1.2.3"}');
  await write("node_modules/installed/models/tokenizer.json", '{"a":1}');
  await write("node_modules/installed/config.json");
  await write("node_modules/@scope/installed/package.json");
  await write("deep/er/x");
  await write("cache/models--org--some--name/snapshots/0123abcd/tokenizer.json");
});

afterAll(async () => {
  await rm(home, { recursive: true, force: true });
});

describe("a source on the command line", () => {
  const rows: { text: string; expected: (home: string) => ModelSource }[] = [
    {
      text: "http://10.0.0.1:8080",
      expected: () => ({ kind: "worker", url: "http://10.0.0.1:8080" }),
    },
    {
      text: "HTTPS://Gate.example/worker-1//?x#y",
      expected: () => ({ kind: "worker", url: "https://gate.example/worker-1" }),
    },
    { text: "folder", expected: (root) => ({ kind: "folder", folder: join(root, "folder") }) },
    { text: "./folder", expected: (root) => ({ kind: "folder", folder: join(root, "folder") }) },
    // An existing folder wins over what its name could mean otherwise.
    { text: "org/name", expected: (root) => ({ kind: "folder", folder: join(root, "org/name") }) },
    { text: "pkg", expected: (root) => ({ kind: "folder", folder: join(root, "pkg") }) },
    { text: "hf:org/name", expected: () => ({ kind: "hub", id: "org/name" }) },
    { text: "hf:gpt2", expected: () => ({ kind: "hub", id: "gpt2" }) },
    {
      text: "npm:pkg",
      expected: (root) => ({ kind: "npm", name: "pkg", folder: join(root, "node_modules/pkg") }),
    },
    {
      text: "installed",
      expected: (root) => ({
        kind: "npm",
        name: "installed",
        folder: join(root, "node_modules/installed"),
      }),
    },
    {
      text: "@scope/installed",
      expected: (root) => ({
        kind: "npm",
        name: "@scope/installed",
        folder: join(root, "node_modules/@scope/installed"),
      }),
    },
    { text: "Qwen/Qwen3-8B", expected: () => ({ kind: "hub", id: "Qwen/Qwen3-8B" }) },
    { text: "org/name.v1_2", expected: () => ({ kind: "hub", id: "org/name.v1_2" }) },
  ];
  it.for(rows)("$text", ({ text, expected }, { expect }) => {
    expect(resolveSource(text, home)).toEqual(expected(home));
  });

  const errors: { text: string; message: string }[] = [
    { text: "./missing", message: "there is no folder" },
    { text: "/missing/folder", message: "there is no folder /missing/folder" },
    { text: "~/models/x", message: "there is no folder" },
    { text: "folder/README.md", message: "is a file" },
    { text: "http://", message: "is not a URL" },
    { text: "https://user:secret@gate.example", message: "must not hold a user name" },
    { text: "npm:absent", message: "npm package absent is not installed" },
    { text: "npm:../folder", message: "is not the name of an npm package" },
    { text: "hf:a/b/c", message: "is not a Hugging Face id" },
    { text: "@scope/absent", message: "is no folder, no installed npm package" },
    { text: "gpt2", message: "is no folder, no installed npm package" },
    { text: "a/b/c", message: "is no folder, no installed npm package" },
    { text: "", message: "is no folder, no installed npm package" },
  ];
  it.for(errors)("refuses $text", ({ text, message }, { expect }) => {
    expect(() => resolveSource(text, home)).toThrow(message);
  });

  it("finds a package from a folder below", ({ expect }) => {
    expect(findPackage("installed", join(home, "deep/er"))).toBe(
      join(home, "node_modules/installed"),
    );
    expect(findPackage("absent", home)).toBeNull();
  });
});

describe("files of a folder", () => {
  it("takes what the compiler reads and names tokenizers in other formats", ({ expect }) => {
    const model = readFolder(join(home, "folder"));
    expect([...model.files.keys()]).toEqual([
      "additional_chat_templates/rag.jinja",
      "tokenizer.json",
    ]);
    expect(model.foreignFiles).toEqual(["tokenizer.model"]);
    expect(model.suggestedId).toBe("folder");
  });

  it("reads a package's models folder", ({ expect }) => {
    const model = readPackage("installed", join(home, "node_modules/installed"));
    expect([...model.files.keys()]).toEqual(["tokenizer.json"]);
    expect(model.origin).toBe("installed@1.2.3");
    expect(model.suggestedId).toBe("installed");
  });

  it("names a snapshot of the download cache by its repository", ({ expect }) => {
    const folder = join(home, "cache/models--org--some--name/snapshots/0123abcd");
    expect(readFolder(folder).suggestedId).toBe("org/some--name");
  });
});
