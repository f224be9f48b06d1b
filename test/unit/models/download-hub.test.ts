import { describe, it } from "vitest";

import type { HubOptions } from "../../../scripts/models/download-hub.ts";
import { downloadFromHub } from "../../../scripts/models/download-hub.ts";
import { ModelError } from "../../../scripts/models/model-error.ts";
import type { Fault, HubRepository, HubServer } from "./hub-server.ts";
import { COMMIT, startHub } from "./hub-server.ts";

const ID = "org/name";
const TOKENIZER = { model: { type: "BPE" } };
const resolvePath = (file: string, revision = "main") => `/${ID}/resolve/${revision}/${file}`;

/** Runs a download against a hub of its own; what it would have slept is recorded instead. */
async function fromHub(
  repository: HubRepository,
  options: HubOptions & { readonly id?: string; readonly faults?: Record<string, Fault[]> } = {},
) {
  const hub = await startHub({ [ID]: repository, "old/name": { files: {}, movedTo: ID } });
  for (const [path, faults] of Object.entries(options.faults ?? {})) hub.faults.set(path, faults);
  const pauses: number[] = [];
  try {
    const sleep = async (ms: number) => pauses.push(ms);
    const { id = ID, faults: _, ...rest } = options;
    const found = downloadFromHub(id, { endpoint: `${hub.endpoint}/`, sleep, ...rest });
    const [result] = await Promise.allSettled([found]);
    const { requests, endpoint } = hub;
    return result.status === "fulfilled"
      ? { requests, endpoint, pauses, model: result.value, error: null }
      : { requests, endpoint, pauses, model: null, error: toModelError(result.reason) };
  } finally {
    await hub.close();
  }
}

function toModelError(thrown: unknown): ModelError {
  if (thrown instanceof ModelError) return thrown;
  throw thrown;
}

const paths = (requests: HubServer["requests"]) => requests.map(({ path }) => path);

describe("a download from the hub", () => {
  it("takes the files that are there, all of one commit", async ({ expect }) => {
    const { model, requests } = await fromHub({
      files: {
        "tokenizer.json": TOKENIZER,
        "config.json": { model_type: "x" },
        "chat_template.jinja": "J",
        "additional_chat_templates/rag.jinja": "R",
        "additional_chat_templates/notes.txt": "no template",
        "model.safetensors": "huge",
      },
    });
    expect([...(model?.files.keys() ?? [])].sort()).toEqual([
      "additional_chat_templates/rag.jinja",
      "chat_template.jinja",
      "config.json",
      "tokenizer.json",
    ]);
    expect(model?.origin).toBe(`${ID}@${COMMIT}`);
    expect(model?.suggestedId).toBe(ID);
    expect(paths(requests)[0]).toBe(resolvePath("tokenizer.json"));
    const later = paths(requests).slice(1);
    expect(later.filter((path) => !path.includes(COMMIT))).toEqual([]);
    expect(later).not.toContain(resolvePath("model.safetensors", COMMIT));
  });

  it("follows redirects to the storage without the token", async ({ expect }) => {
    const { model, requests } = await fromHub(
      { files: { "tokenizer.json": TOKENIZER }, large: ["tokenizer.json"], token: "hf_secret" },
      { token: "hf_secret" },
    );
    expect(model?.files.get("tokenizer.json")).toEqual(
      new TextEncoder().encode(JSON.stringify(TOKENIZER)),
    );
    const seen = (server: string) => requests.filter((request) => request.server === server);
    expect(seen("hub").every(({ authorization }) => authorization === "Bearer hf_secret")).toBe(
      true,
    );
    expect(seen("storage")).toHaveLength(1);
    expect(seen("storage")[0]?.authorization).toBeUndefined();
  });

  it("follows a renamed repository", async ({ expect }) => {
    const { model } = await fromHub({ files: { "tokenizer.json": TOKENIZER } }, { id: "old/name" });
    expect(model?.files.has("tokenizer.json")).toBe(true);
    expect(model?.suggestedId).toBe("old/name");
  });

  it("reports progress with the size", async ({ expect }) => {
    const seen: [string, number, number | null][] = [];
    const size = JSON.stringify(TOKENIZER).length;
    await fromHub(
      { files: { "tokenizer.json": TOKENIZER } },
      { onProgress: (...progress) => seen.push(progress) },
    );
    expect(seen.at(-1)).toEqual(["tokenizer.json", size, size]);
  });

  const mended: { name: string; faults: Fault[]; pauses: number[] }[] = [
    {
      name: "a busy server, as long as it says",
      faults: [{ kind: "status", status: 429, retryAfter: "7" }],
      pauses: [7000],
    },
    {
      name: "but never longer than half a minute",
      faults: [{ kind: "status", status: 503, retryAfter: "3600" }],
      pauses: [30_000],
    },
    {
      name: "server errors, with growing pauses",
      faults: [500, 502, 504].map((status) => ({ kind: "status", status })),
      pauses: [500, 2000, 8000],
    },
    { name: "a reply that ends early", faults: [{ kind: "cut" }], pauses: [500] },
  ];
  it.for(mended)("tries again after $name", async ({ faults, pauses }, { expect }) => {
    const result = await fromHub(
      { files: { "tokenizer.json": TOKENIZER } },
      { faults: { [resolvePath("tokenizer.json")]: faults } },
    );
    expect(result.error).toBeNull();
    expect(result.model?.files.get("tokenizer.json")).toEqual(
      new TextEncoder().encode(JSON.stringify(TOKENIZER)),
    );
    expect(result.pauses).toEqual(pauses);
  });

  const refused: {
    name: string;
    repository?: Partial<HubRepository>;
    options?: Parameters<typeof fromHub>[1];
    message: string;
    hint?: string;
  }[] = [
    {
      name: "a gated model without a token",
      repository: { token: "hf_right" },
      message: `${ID} is gated (HTTP 401)`,
      hint: "HF_TOKEN",
    },
    {
      name: "a gated model with a token that may not",
      repository: { token: "hf_right" },
      options: { token: "hf_wrong" },
      message: `${ID} is gated (HTTP 403)`,
      hint: "Accept the terms on",
    },
    {
      name: "an unknown model, which the hub does not tell from a private one",
      options: { id: "no/body" },
      message: "no/body is gated, private or does not exist (HTTP 401)",
      hint: "HF_TOKEN",
    },
    {
      name: "an unknown model with a token",
      options: { id: "no/body", token: "hf_right" },
      message: "there is no model no/body on http://127.0.0.1",
    },
    {
      name: "an unknown revision",
      options: { revision: "v/2" },
      message: `${ID} has no revision v/2`,
    },
    {
      name: "a server that stays broken",
      options: {
        faults: {
          [resolvePath("tokenizer.json")]: Array.from({ length: 4 }, () => ({
            kind: "status" as const,
            status: 500,
          })),
        },
      },
      message: "HTTP 500 (tried 4 times)",
    },
    {
      name: "a status that means nothing here",
      options: { faults: { [resolvePath("tokenizer.json")]: [{ kind: "status", status: 418 }] } },
      message: "HTTP 418",
    },
    {
      name: "a hub that is not there",
      options: { endpoint: "http://127.0.0.1:1" },
      message: "cannot read http://127.0.0.1:1/",
    },
  ];
  it.for(refused)("says what is wrong: $name", async (row, { expect }) => {
    const repository = { files: { "tokenizer.json": TOKENIZER }, ...row.repository };
    const { error } = await fromHub(repository, row.options);
    expect(error?.message).toContain(row.message);
    expect(error?.hint ?? "").toContain(row.hint ?? "");
    expect(`${error?.message} ${error?.hint}`).not.toContain("hf_wrong");
  });

  it("looks for other tokenizers where there is no tokenizer.json", async ({ expect }) => {
    const { model, requests } = await fromHub({
      files: { "tokenizer.model": "binary", "config.json": {} },
    });
    expect(model?.foreignFiles).toEqual(["tokenizer.model"]);
    expect(requests.filter(({ method }) => method === "GET")).toHaveLength(1);
  });
});
