import { createHash } from "node:crypto";
import { createServer } from "node:http";

import { Code, ConnectError } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { strToU8, zipSync } from "fflate";
import { describe, it } from "vitest";

import { fetchFromWorker } from "../../../scripts/models/fetch-worker.ts";
import { ModelError } from "../../../scripts/models/model-error.ts";
import { SglangScheduler } from "../../../src/engine/gen/sglang_scheduler_pb.ts";
import { listen, stop } from "./hub-server.ts";

const PIECE_BYTES = 64 * 1024;

interface Worker {
  readonly archive: Uint8Array;
  readonly info?: Record<string, unknown>;
  /** In place of the archive's true checksum. */
  readonly sha256?: string;
  readonly token?: string;
  readonly error?: ConnectError;
}

/** Asks a worker on 127.0.0.1, which speaks gRPC-Web itself, for its tokenizer. */
async function askWorker(worker: Worker, token?: string) {
  const server = createServer(
    connectNodeAdapter({
      routes: (router) => {
        router.service(SglangScheduler, {
          getModelInfo: (_, context) => {
            const authorization = context.requestHeader.get("authorization");
            if (worker.token !== undefined && authorization !== `Bearer ${worker.token}`) {
              throw new ConnectError("wrong token", Code.Unauthenticated);
            }
            return worker.info ?? { servedModelName: "served" };
          },
          async *getTokenizer() {
            if (worker.error !== undefined) throw worker.error;
            const { archive } = worker;
            const sha256 = worker.sha256 ?? createHash("sha256").update(archive).digest("hex");
            for (let at = 0; at < archive.byteLength; at += PIECE_BYTES) {
              const last = at + PIECE_BYTES >= archive.byteLength;
              yield { data: archive.subarray(at, at + PIECE_BYTES), sha256: last ? sha256 : "" };
            }
          },
        });
      },
    }),
  );
  const url = await listen(server);
  try {
    const asked = fetchFromWorker(url, token === undefined ? {} : { token });
    const [result] = await Promise.allSettled([asked]);
    if (result.status === "fulfilled") return { model: result.value, error: null };
    if (result.reason instanceof ModelError) return { model: null, error: result.reason };
    throw result.reason;
  } finally {
    await stop(server);
  }
}

const FILES = {
  "tokenizer.json": strToU8('{"model":{}}'),
  "tokenizer_config.json": strToU8("{}"),
  "tool_use.jinja": strToU8("T"),
  "merges.txt": strToU8("a b"),
  "preprocessor_config.json": strToU8("{}"),
};

describe("a running worker", () => {
  it("gives its tokenizer's files and the facts of its model", async ({ expect }) => {
    const { model } = await askWorker({
      archive: zipSync(FILES),
      info: {
        servedModelName: "Qwen/Qwen3-8B",
        modelPath: "/models/qwen",
        eosTokenIds: [151645, 151643],
        maxContextLength: 1_000_000,
        maxReqInputLen: 40954,
        modelType: "qwen3",
        architectures: ["Qwen3ForCausalLM"],
        defaultSamplingParamsJson: '{"temperature":0.6}',
      },
    });
    expect([...(model?.files.keys() ?? [])].sort()).toEqual([
      "tokenizer.json",
      "tokenizer_config.json",
      "tool_use.jinja",
    ]);
    expect(model?.files.get("tokenizer.json")).toEqual(FILES["tokenizer.json"]);
    expect(model?.foreignFiles).toEqual(["merges.txt"]);
    expect(model?.suggestedId).toBe("Qwen/Qwen3-8B");
    expect(model?.worker).toEqual({
      eosTokenIds: [151645, 151643],
      maxPromptTokens: 40954,
      samplingDefaults: { temperature: 0.6 },
      modelType: "qwen3",
      architectures: ["Qwen3ForCausalLM"],
    });
  });

  it("puts an archive of many pieces together", async ({ expect }) => {
    const long = Uint8Array.from({ length: 5 * PIECE_BYTES + 1 }, (_, index) => index * 31);
    const archive = zipSync({ "model/tokenizer.json": [long, { level: 0 }] });
    const { model } = await askWorker({ archive });
    expect(model?.files.get("tokenizer.json")).toEqual(long);
  });

  const names: { name: string; info: Record<string, unknown>; expected: string }[] = [
    {
      name: "its served name",
      info: { servedModelName: "a/b", modelPath: "c/d" },
      expected: "a/b",
    },
    { name: "its path on the hub", info: { modelPath: "org/name" }, expected: "org/name" },
    {
      name: "the last part of a path on its disk",
      info: { modelPath: "/m/x-1/" },
      expected: "x-1",
    },
  ];
  it.for(names)("is called by $name", async ({ info, expected }, { expect }) => {
    const { model } = await askWorker({ archive: zipSync(FILES), info });
    expect(model?.suggestedId).toBe(expected);
  });

  it("sends the gateway's token", async ({ expect }) => {
    const worker = { archive: zipSync(FILES), token: "secret" };
    expect((await askWorker(worker, "secret")).model?.suggestedId).toBe("served");
    const { error } = await askWorker(worker, "guess");
    expect(error?.message).toContain("refused us: wrong token");
    expect(error?.hint).toContain("GATEWAY_TOKEN");
  });

  it("has no defaults when it writes no JSON for them", async ({ expect }) => {
    const info = { servedModelName: "x", defaultSamplingParamsJson: "{'temperature': 1}" };
    const { model } = await askWorker({ archive: zipSync(FILES), info });
    expect(model?.worker?.samplingDefaults).toEqual({});
  });

  const refused: { name: string; worker: Worker; message: string; hint?: string }[] = [
    {
      name: "a wrong checksum",
      worker: { archive: zipSync(FILES), sha256: "0".repeat(64) },
      message: "damaged on the way",
    },
    {
      name: "an archive without its checksum",
      worker: { archive: zipSync(FILES), sha256: "" },
      message: "ended without its checksum",
    },
    {
      name: "no pieces at all",
      worker: { archive: new Uint8Array() },
      message: "without its checksum",
    },
    {
      name: "something that is no archive",
      worker: { archive: strToU8("not a zip") },
      message: "cannot be unpacked",
    },
    {
      name: "a worker without tokenizer files",
      worker: {
        archive: new Uint8Array(),
        error: new ConnectError("no tokenizer directory", Code.FailedPrecondition),
      },
      message: "has no tokenizer files: no tokenizer directory",
      hint: "Hugging Face id",
    },
    {
      name: "a server of another kind",
      worker: { archive: new Uint8Array(), error: new ConnectError("what?", Code.Unimplemented) },
      message: "does not offer GetTokenizer",
    },
  ];
  it.for(refused)("says what is wrong: $name", async ({ worker, message, hint }, { expect }) => {
    const { error } = await askWorker(worker);
    expect(error?.message).toContain(message);
    expect(error?.hint ?? "").toContain(hint ?? "");
  });

  it("says so when nobody answers", async ({ expect }) => {
    await expect(fetchFromWorker("http://127.0.0.1:1", {})).rejects.toThrow(
      "cannot reach the worker",
    );
  });
});
