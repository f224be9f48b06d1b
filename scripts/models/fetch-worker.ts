import { createHash } from "node:crypto";

import type { Client, Interceptor } from "@connectrpc/connect";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { unzipSync } from "fflate";

import type { GetModelInfoResponse } from "../../src/engine/gen/sglang_scheduler_pb.ts";
import { SglangScheduler } from "../../src/engine/gen/sglang_scheduler_pb.ts";
import { isObject } from "./json.ts";
import { messageOf, ModelError } from "./model-error.ts";
import type { ModelFiles, WorkerFacts } from "./model-files.ts";
import { isForeignFile, isWantedFile } from "./model-files.ts";
import { joinBytes } from "./retrying-fetch.ts";

export interface WorkerOptions {
  /** Sent as `authorization: Bearer …`. */
  readonly token?: string;
  readonly onProgress?: (fileName: string, done: number, total: number | null) => void;
  /** How long each call may take. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 120_000;
/** The archive, and what it unpacks to. */
const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;
const MAX_UNPACKED_BYTES = 512 * 1024 * 1024;

type Scheduler = Client<typeof SglangScheduler>;

/**
 * The tokenizer's files as a running worker sends them through its gRPC-Web gateway, and what it says about its model.
 * Throws a ModelError.
 */
export async function fetchFromWorker(url: string, options: WorkerOptions): Promise<ModelFiles> {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const scheduler = createClient(
    SglangScheduler,
    createGrpcWebTransport({
      baseUrl: url,
      defaultTimeoutMs: timeoutMs,
      interceptors: options.token === undefined ? [] : [bearer(options.token)],
    }),
  );
  try {
    const info = await scheduler.getModelInfo({});
    const archive = await fetchArchive(scheduler, options);
    return { origin: url, suggestedId: nameOf(info), worker: factsOf(info), ...unpack(archive) };
  } catch (error) {
    throw error instanceof ModelError ? error : toModelError(url, ConnectError.from(error));
  }
}

function bearer(token: string): Interceptor {
  return (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
}

async function fetchArchive(scheduler: Scheduler, options: WorkerOptions): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const hash = createHash("sha256");
  let byteLength = 0;
  let expected = "";
  for await (const piece of scheduler.getTokenizer({})) {
    if (expected !== "") throw new ModelError("the worker sent more after the archive's end");
    pieces.push(piece.data);
    hash.update(piece.data);
    byteLength += piece.data.byteLength;
    expected = piece.sha256;
    if (byteLength > MAX_ARCHIVE_BYTES) {
      throw new ModelError(`the worker's archive exceeds ${MAX_ARCHIVE_BYTES / 1024 ** 2} MiB`);
    }
    options.onProgress?.("tokenizer archive", byteLength, null);
  }
  if (expected === "") throw new ModelError("the worker's archive ended without its checksum");
  if (hash.digest("hex") !== expected.toLowerCase()) {
    throw new ModelError("the worker's archive was damaged on the way: its checksum is wrong", {
      hint: "Try again; if it stays so, look at the gateway.",
    });
  }
  return joinBytes(pieces, byteLength);
}

/** Files of the archive, also those of one that wraps them in a folder. */
function unpack(archive: Uint8Array): Pick<ModelFiles, "files" | "foreignFiles"> {
  const foreignFiles: string[] = [];
  let unpackedBytes = 0;
  let entries: Record<string, Uint8Array>;
  try {
    entries = unzipSync(archive, {
      filter: ({ name, originalSize }) => {
        if (isForeignFile(baseName(name))) foreignFiles.push(baseName(name));
        if (!isWantedFile(baseName(name))) return false;
        unpackedBytes += originalSize;
        if (unpackedBytes > MAX_UNPACKED_BYTES) {
          throw new Error(`it unpacks to more than ${MAX_UNPACKED_BYTES / 1024 ** 2} MiB`);
        }
        return true;
      },
    });
  } catch (error) {
    throw new ModelError(`the worker's archive cannot be unpacked: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const files = new Map(
    Object.entries(entries).map(([name, bytes]) => [baseName(name), bytes] as const),
  );
  return { files, foreignFiles };
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The name that the worker serves the model under; of a path on its disk only the last part. */
function nameOf(info: GetModelInfoResponse): string {
  const name = info.servedModelName || info.modelPath;
  return name.startsWith("/") ? baseName(name.replace(/\/+$/u, "")) : name;
}

function factsOf(info: GetModelInfoResponse): WorkerFacts {
  return {
    eosTokenIds: info.eosTokenIds,
    maxPromptTokens: info.maxReqInputLen,
    samplingDefaults: parseDefaults(info.defaultSamplingParamsJson),
    modelType: info.modelType === "" ? null : info.modelType,
    architectures: info.architectures,
  };
}

function parseDefaults(json: string): WorkerFacts["samplingDefaults"] {
  if (json === "") return {};
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : {};
  } catch {
    // A worker that writes no JSON here has no defaults to tell.
    return {};
  }
}

function toModelError(url: string, error: ConnectError): ModelError {
  const { code, rawMessage } = error;
  if (code === Code.FailedPrecondition) {
    return new ModelError(`the worker at ${url} has no tokenizer files: ${rawMessage}`, {
      hint: "Add the model by its folder or its Hugging Face id instead.",
      cause: error,
    });
  }
  if (code === Code.Unauthenticated || code === Code.PermissionDenied) {
    return new ModelError(`the gateway at ${url} refused us: ${rawMessage}`, {
      hint: "Give its token with --gateway-token or GATEWAY_TOKEN.",
      cause: error,
    });
  }
  if (code === Code.Unimplemented) {
    return new ModelError(`${url} does not offer GetTokenizer and GetModelInfo`, {
      hint: "Is it the gRPC-Web gateway of an SGLang worker?",
      cause: error,
    });
  }
  return new ModelError(`cannot reach the worker at ${url}: ${rawMessage}`, {
    hint: "Is the gateway running, and is this its gRPC-Web address?",
    cause: error,
  });
}
