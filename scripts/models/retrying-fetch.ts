import { setTimeout as delay } from "node:timers/promises";

import { messageOf, ModelError } from "./model-error.ts";

export interface Downloaded {
  readonly response: Response;
  readonly bytes: Uint8Array;
}

export interface DownloadOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly method?: "GET" | "HEAD";
  /** Bytes so far, and in all when the server says so. */
  readonly onProgress?: (done: number, total: number | null) => void;
  /** Waits before the next attempt. */
  readonly sleep?: (ms: number) => Promise<unknown>;
}

/** No file that the compiler reads is near this. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
const ATTEMPTS = 4;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
/** No byte for so long means that the connection is dead. */
const SILENCE_MS = 30_000;

/**
 * GETs a file over HTTP with redirects (credentials do not follow to another origin). A lost connection, a reply that
 * ends early, 408, 429 and 5xx are tried again, four times in all, after a growing pause or what Retry-After says. Other
 * statuses are returned. Throws a ModelError.
 */
export async function download(url: string, options: DownloadOptions): Promise<Downloaded> {
  const sleep = options.sleep ?? delay;
  for (let attempt = 1; ; attempt++) {
    const outcome = await tryOnce(url, options);
    if (outcome.kind === "done") return outcome.downloaded;
    if (attempt === ATTEMPTS) {
      throw new ModelError(`cannot read ${url}: ${outcome.reason} (tried ${ATTEMPTS} times)`, {
        cause: outcome.cause,
      });
    }
    const pauseMs = outcome.retryAfterMs ?? FIRST_PAUSE_MS * 4 ** (attempt - 1);
    await sleep(Math.min(pauseMs, LONGEST_PAUSE_MS));
  }
}

type Outcome =
  | { readonly kind: "done"; readonly downloaded: Downloaded }
  | {
      readonly kind: "again";
      readonly reason: string;
      readonly cause?: unknown;
      readonly retryAfterMs?: number;
    };

async function tryOnce(url: string, options: DownloadOptions): Promise<Outcome> {
  const abort = new AbortController();
  const watchdog = setTimeout(() => abort.abort(new Error("the server fell silent")), SILENCE_MS);
  try {
    const response = await fetch(url, {
      method: options.method ?? "GET",
      headers: options.headers,
      signal: abort.signal,
    });
    watchdog.refresh();
    if (isTransient(response.status)) {
      await response.body?.cancel();
      return { kind: "again", reason: `HTTP ${response.status}`, ...retryAfterOf(response) };
    }
    const bytes = await readBody(response, (done, total) => {
      watchdog.refresh();
      if (response.ok) options.onProgress?.(done, total);
    });
    return { kind: "done", downloaded: { response, bytes } };
  } catch (error) {
    if (error instanceof ModelError) throw error;
    return { kind: "again", reason: reasonOf(error), cause: error };
  } finally {
    clearTimeout(watchdog);
  }
}

function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

function retryAfterOf(response: Response): { retryAfterMs?: number } {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: seconds * 1000 } : {};
}

async function readBody(
  response: Response,
  onProgress: (done: number, total: number | null) => void,
): Promise<Uint8Array> {
  const total = plainLengthOf(response);
  const pieces: Uint8Array[] = [];
  let done = 0;
  for await (const piece of response.body ?? []) {
    pieces.push(piece);
    done += piece.byteLength;
    if (done > MAX_FILE_BYTES) {
      throw new ModelError(`${response.url} is larger than ${MAX_FILE_BYTES / 1024 ** 2} MiB`);
    }
    onProgress(done, total);
  }
  return joinBytes(pieces, done);
}

/** The body's length; null when it is unknown or that of a compressed body. */
function plainLengthOf(response: Response): number | null {
  if (response.headers.has("content-encoding")) return null;
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  return Number.isSafeInteger(length) ? length : null;
}

export function joinBytes(pieces: readonly Uint8Array[], byteLength: number): Uint8Array {
  const joined = new Uint8Array(byteLength);
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.byteLength;
  }
  return joined;
}

/** `fetch failed` says nothing: the reason is in the cause. */
function reasonOf(error: unknown): string {
  const inner = error instanceof Error ? error.cause : undefined;
  return inner === undefined ? messageOf(error) : messageOf(inner);
}
