import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";

import { bytesOf } from "./model-files.ts";

export const COMMIT = "0123456789abcdef0123456789abcdef01234567";

export interface HubRepository {
  readonly files: Readonly<Record<string, unknown>>;
  /** The token that may read it; absent: open to all. */
  readonly token?: string;
  /** Files kept in large-file storage: a redirect to another origin. */
  readonly large?: readonly string[];
  /** The repository's present name: its old one redirects there. */
  readonly movedTo?: string;
}

/** What goes wrong with a file before it works, one per request. */
export type Fault =
  | { readonly kind: "status"; readonly status: number; readonly retryAfter?: string }
  | { readonly kind: "cut" };

export interface SeenRequest {
  readonly server: "hub" | "storage";
  readonly method: string;
  readonly path: string;
  readonly authorization: string | undefined;
}

export interface HubServer {
  readonly endpoint: string;
  readonly requests: SeenRequest[];
  /** Faults to come, by path. */
  readonly faults: Map<string, Fault[]>;
  close(): Promise<void>;
}

/** A hub on 127.0.0.1 with its large-file storage on another port, which answer as Hugging Face's do. */
export async function startHub(
  repositories: Readonly<Record<string, HubRepository>>,
): Promise<HubServer> {
  const requests: SeenRequest[] = [];
  const faults = new Map<string, Fault[]>();
  const stored = new Map<string, Uint8Array>();

  const serve = (server: SeenRequest["server"], answer: typeof answerHub) =>
    createServer((request, response) => {
      const path = new URL(request.url ?? "/", "http://hub").pathname;
      const { authorization } = request.headers;
      requests.push({ server, method: request.method ?? "", path, authorization });
      const fault = faults.get(path)?.shift();
      if (fault === undefined) answer(path, request, response);
      else fail(fault, response);
    });

  function answerHub(path: string, request: IncomingMessage, response: ServerResponse): void {
    const match = /^(?:\/api\/models)?\/([^/]+\/[^/]+)\/(resolve|tree)\/([^/]+)\/(.+)$/u.exec(path);
    const [, id = "", verb, revision = "", name = ""] = match ?? [];
    const repository = repositories[id];
    const { authorization } = request.headers;
    if (repository === undefined) {
      if (authorization === undefined) refuse(response, 401, "RepoNotFound");
      else refuse(response, 404, "RepoNotFound");
    } else if (repository.movedTo !== undefined) {
      send(response, 307, { location: path.replace(id, repository.movedTo) }, new Uint8Array());
    } else if (repository.token !== undefined && authorization === undefined) {
      refuse(response, 401, "GatedRepo");
    } else if (repository.token !== undefined && authorization !== `Bearer ${repository.token}`) {
      refuse(response, 403, "GatedRepo");
    } else if (revision !== "main" && revision !== COMMIT) {
      refuse(response, 404, "RevisionNotFound");
    } else if (verb === "tree") {
      listFolder(repository, name, response);
    } else {
      sendFile(repository, name, response);
    }
  }

  function listFolder(repository: HubRepository, folder: string, response: ServerResponse): void {
    const paths = Object.keys(repository.files).filter((path) => path.startsWith(`${folder}/`));
    if (paths.length === 0) return refuse(response, 404, "EntryNotFound");
    const listing = paths.map((path) => ({ type: "file", path }));
    const body = new TextEncoder().encode(JSON.stringify(listing));
    return send(response, 200, { "content-type": "application/json; charset=utf-8" }, body);
  }

  function sendFile(repository: HubRepository, name: string, response: ServerResponse): void {
    const value = repository.files[name];
    if (value === undefined) return refuse(response, 404, "EntryNotFound");
    const bytes = bytesOf(name, value);
    const headers = { "x-repo-commit": COMMIT };
    if (repository.large?.includes(name) !== true) return send(response, 200, headers, bytes);
    stored.set(`/blob/${name}`, bytes);
    const location = `${storageOrigin}/blob/${name}?signature=abc`;
    return send(response, 302, { ...headers, location }, new Uint8Array());
  }

  function answerStorage(path: string, _: IncomingMessage, response: ServerResponse): void {
    const bytes = stored.get(path);
    if (bytes === undefined) refuse(response, 404, "NoSuchKey");
    else send(response, 200, {}, bytes);
  }

  const hub = serve("hub", answerHub);
  const storage = serve("storage", answerStorage);
  const storageOrigin = await listen(storage);
  const endpoint = await listen(hub);
  return {
    endpoint,
    requests,
    faults,
    close: async () => {
      await Promise.all([stop(hub), stop(storage)]);
    },
  };
}

function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
): void {
  response.writeHead(status, { ...headers, "content-length": String(body.byteLength) });
  response.end(body);
}

function refuse(response: ServerResponse, status: number, code: string): void {
  send(response, status, { "x-error-code": code }, new TextEncoder().encode(code));
}

function fail(fault: Fault, response: ServerResponse): void {
  if (fault.kind === "status") {
    const headers = fault.retryAfter === undefined ? {} : { "retry-after": fault.retryAfter };
    response.writeHead(fault.status, headers).end();
  } else {
    response.writeHead(200, { "content-length": "1000000" });
    response.write("half of it", () => response.destroy());
  }
}

export async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return `http://127.0.0.1:${address.port}`;
}

export async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise<void>((resolve) => server.close(() => resolve()));
}
