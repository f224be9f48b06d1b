import { ProtocolError, TransportError } from "./errors.ts";

/** How to reach one worker's gateway. */
export interface GatewayEndpoint {
  /** Base URL, e.g. `https://gpu-1.example.com`; with a `fetcher` its host is only a label. */
  readonly url: string;
  /** Sent as `Authorization: Bearer`; absent: none. */
  readonly token?: string;
  /** A service binding (Workers VPC, mTLS certificate); absent: the public network. */
  readonly fetcher?: { fetch(input: string, init?: RequestInit): Promise<Response> };
}

/**
 * `fetch` of a path on one gateway, with its credentials. Rejects with TransportError when there is no reply, with
 * ProtocolError for a redirect or a page that says nothing in gRPC's words.
 */
export type EngineFetch = (pathOrUrl: string, init: RequestInit) => Promise<Response>;

/** Binds fetch to a gateway. Redirects are errors: a gRPC call has no use for them, and they would carry credentials. */
export function createEngineFetch(endpoint: GatewayEndpoint): EngineFetch {
  const base = endpoint.url.replace(/\/+$/, "");
  return async (pathOrUrl, init) => {
    const headers = new Headers(init.headers);
    if (endpoint.token !== undefined) headers.set("authorization", `Bearer ${endpoint.token}`);
    const url = pathOrUrl.startsWith("/") ? base + pathOrUrl : pathOrUrl;
    // workerd refuses redirect "error", so redirects come back as replies and are turned away here.
    const request = { ...init, headers, redirect: "manual" } satisfies RequestInit;
    let response: Response;
    try {
      response = await (endpoint.fetcher === undefined
        ? fetch(url, request)
        : endpoint.fetcher.fetch(url, request));
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      throw new TransportError("no reply from the gateway", { cause: error });
    }
    const problem = findProblem(response);
    if (problem === null) return response;
    await response.body?.cancel();
    throw new ProtocolError(problem);
  };
}

/** What makes a reply useless to a gRPC-Web client; null for a good one and for HTTP errors, which map to statuses. */
function findProblem(response: Response): string | null {
  if (response.status >= 300 && response.status < 400) return `a redirect (${response.status})`;
  const contentType = response.headers.get("content-type") ?? "none";
  const isGrpcWeb =
    contentType.startsWith("application/grpc-web") || response.headers.has("grpc-status");
  return response.ok && !isGrpcWeb ? `content type ${contentType}` : null;
}
