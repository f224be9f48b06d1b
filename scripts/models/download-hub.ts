import { isObject, parseJson } from "./json.ts";
import { ModelError } from "./model-error.ts";
import type { ModelFiles } from "./model-files.ts";
import { isWantedFile, MODEL_FILE_NAMES, TEMPLATE_FOLDER, TOKENIZER_FILE } from "./model-files.ts";
import type { Downloaded, DownloadOptions } from "./retrying-fetch.ts";
import { download } from "./retrying-fetch.ts";

export interface HubOptions {
  /** Default: the public hub. */
  readonly endpoint?: string;
  /** A branch, tag or commit. Default: main. */
  readonly revision?: string;
  readonly token?: string;
  readonly onProgress?: (fileName: string, done: number, total: number | null) => void;
  readonly sleep?: DownloadOptions["sleep"];
}

const DEFAULT_ENDPOINT = "https://huggingface.co";
/** Looked for when a repository has no tokenizer.json, so that the error can say what it has instead. */
const FOREIGN_NAMES = [
  "tokenizer.model",
  "tekken.json",
  "tiktoken.model",
  "vocab.json",
  "vocab.txt",
];

/**
 * A model's files from the Hugging Face hub or a server that speaks like it. All are of one commit when the server names
 * commits. Files that the repository does not have are left out. Throws a ModelError.
 */
export async function downloadFromHub(id: string, options: HubOptions): Promise<ModelFiles> {
  const endpoint = (options.endpoint ?? DEFAULT_ENDPOINT).replace(/\/+$/u, "");
  const hub: Hub = {
    id,
    endpoint,
    options,
    revision: options.revision ?? "main",
    headers: options.token === undefined ? {} : { authorization: `Bearer ${options.token}` },
  };
  const files = new Map<string, Uint8Array>();
  const tokenizer = await fetchFile(hub, TOKENIZER_FILE);
  if (tokenizer !== null) files.set(TOKENIZER_FILE, tokenizer.bytes);
  const pinned = { ...hub, revision: commitOf(tokenizer) ?? hub.revision };
  const named = tokenizer === null ? [] : await listNamedTemplates(pinned);
  for (const name of [...MODEL_FILE_NAMES, ...named]) {
    if (tokenizer === null || name === TOKENIZER_FILE) continue;
    const found = await fetchFile(pinned, name);
    if (found !== null) files.set(name, found.bytes);
  }
  return {
    origin: `${id}@${pinned.revision}`,
    suggestedId: id,
    files,
    foreignFiles: tokenizer === null ? await findForeignFiles(pinned) : [],
  };
}

interface Hub {
  readonly id: string;
  readonly endpoint: string;
  readonly options: HubOptions;
  readonly revision: string;
  readonly headers: Readonly<Record<string, string>>;
}

function fileUrl(hub: Hub, name: string): string {
  return `${hub.endpoint}/${hub.id}/resolve/${encodeURIComponent(hub.revision)}/${name}`;
}

/** null: the repository has no such file. */
async function fetchFile(hub: Hub, name: string): Promise<Downloaded | null> {
  const { onProgress } = hub.options;
  const report = onProgress === undefined ? {} : { onProgress: onProgress.bind(null, name) };
  const downloaded = await get(hub, fileUrl(hub, name), report);
  return accept(hub, downloaded, name) ? downloaded : null;
}

function get(hub: Hub, url: string, extra: Partial<DownloadOptions>): Promise<Downloaded> {
  const { sleep } = hub.options;
  return download(url, {
    headers: hub.headers,
    ...(sleep === undefined ? {} : { sleep }),
    ...extra,
  });
}

/** Whether the file is there. Throws a ModelError for what is not a plain "no such file". */
function accept(hub: Hub, { response }: Downloaded, name: string): boolean {
  const code = response.headers.get("x-error-code");
  const { status } = response;
  if (response.ok) return true;
  if (status === 401 || status === 403) throw refused(hub, status, code);
  if (status !== 404) throw new ModelError(`${response.url || name}: HTTP ${status}`);
  if (code === "RepoNotFound")
    throw new ModelError(`there is no model ${hub.id} on ${hub.endpoint}`);
  if (code === "RevisionNotFound") {
    throw new ModelError(`${hub.id} has no revision ${hub.revision}`);
  }
  return false;
}

function refused(hub: Hub, status: number, code: string | null): ModelError {
  const page = `${hub.endpoint}/${hub.id}`;
  const why =
    code === "GatedRepo"
      ? "is gated"
      : hub.options.token === undefined
        ? "is gated, private or does not exist"
        : "is not open to this token";
  return new ModelError(`${hub.id} ${why} (HTTP ${status})`, {
    hint: `Accept the terms on ${page}, then set HF_TOKEN to a token that may read the model.`,
  });
}

function commitOf(downloaded: Downloaded | null): string | null {
  const commit = downloaded?.response.headers.get("x-repo-commit") ?? "";
  return /^[0-9a-f]{40}$/u.test(commit) ? commit : null;
}

/** Paths of the named templates; a mirror without the listing API has none. */
async function listNamedTemplates(hub: Hub): Promise<readonly string[]> {
  const revision = encodeURIComponent(hub.revision);
  const url = `${hub.endpoint}/api/models/${hub.id}/tree/${revision}/${TEMPLATE_FOLDER}`;
  const { response, bytes } = await get(hub, url, {});
  const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
  if (!response.ok || !isJson) return [];
  const listing = parseJson(bytes, url);
  if (!Array.isArray(listing)) return [];
  return listing.flatMap((entry: unknown) => {
    const path = isObject(entry) ? entry["path"] : null;
    return typeof path === "string" && isWantedFile(path) ? [path] : [];
  });
}

async function findForeignFiles(hub: Hub): Promise<readonly string[]> {
  const found: string[] = [];
  for (const name of FOREIGN_NAMES) {
    const { response } = await get(hub, fileUrl(hub, name), { method: "HEAD" });
    if (response.ok) found.push(name);
  }
  return found;
}
