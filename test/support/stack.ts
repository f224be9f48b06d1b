import { createTestHarness } from "wrangler";
import type { EngineOptionsInput } from "../../scripts/engine/options.ts";
import { LOCAL_MODELS } from "../../scripts/models/local-models.ts";
import { startBackend, type Backend } from "../../scripts/stack/backends.ts";

export const API_KEY = "sk-test-0123456789abcdef";
export const QWEN = "Qwen/Qwen3-8B";
export const LLAMA = "meta-llama/Llama-3.1-8B-Instruct";

const GATEWAY_TOKEN = "gateway-token-of-the-tests";

/** The real stack: the Worker in wrangler's runtime, gateways, engine simulators over gRPC. */
export interface Stack {
  /** Base URL of the edge. */
  readonly url: string;
  /** By model. */
  readonly backends: ReadonlyMap<string, Backend>;
  engine(model: string): Backend["engine"];
  /** `fetch` of a path on the edge, with the key; a body is sent as JSON. */
  post(path: string, body: unknown, init?: RequestInit): Promise<Response>;
  /** What the Worker logged so far. */
  logs(): readonly string[];
  close(): Promise<void>;
}

export interface StackOptions {
  readonly models?: readonly string[];
  readonly engine?: EngineOptionsInput;
  /** Variables of the Worker; GATEWAYS replaces the backends' own. */
  readonly vars?: Readonly<Record<string, string>>;
}

export async function startStack(options: StackOptions = {}): Promise<Stack> {
  const models = options.models ?? [QWEN, LLAMA];
  const backends = new Map<string, Backend>();
  for (const { id, packageName } of LOCAL_MODELS) {
    if (!models.includes(id)) continue;
    backends.set(
      id,
      await startBackend({
        model: id,
        tokenizer: packageName,
        gatewayToken: GATEWAY_TOKEN,
        engine: { tokenMs: 1, ...options.engine },
      }),
    );
  }
  const gateways = [...backends.values()].map(({ model, gateway }) => ({ url: gateway.url, model }));
  const harness = createTestHarness({
    workers: [
      {
        configPath: "wrangler.toml",
        vars: { GATEWAYS: JSON.stringify(gateways), ...options.vars },
        secrets: { API_KEY, GATEWAY_TOKEN },
      },
    ],
  });
  const { url } = await harness.listen();
  const base = url.href.replace(/\/$/, "");
  return {
    url: base,
    backends,
    engine(model) {
      const backend = backends.get(model);
      if (backend === undefined) throw new Error(`no backend for ${model}`);
      return backend.engine;
    },
    post: (path, body, init = {}) =>
      fetch(base + path, {
        method: "POST",
        ...init,
        headers: {
          authorization: `Bearer ${API_KEY}`,
          "content-type": "application/json",
          ...(init.headers as Record<string, string> | undefined),
        },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    logs: () => harness.getLogs().map((log) => log.message),
    async close() {
      await harness.close();
      await Promise.all([...backends.values()].map((backend) => backend.close()));
    },
  };
}
