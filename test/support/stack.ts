import { readFileSync } from "node:fs";

import type { EngineOptionsInput } from "../../scripts/engine/options.ts";
import { startBackend, type Backend } from "../../scripts/stack/backends.ts";
import { startWorkerd } from "../../scripts/stack/workerd-process.ts";
import { EDGE_BUNDLE } from "./build-edge.ts";
import { LLAMA, QWEN, TEST_ASSETS, TEST_MODELS } from "./test-models.ts";

export const API_KEY = "sk-test-0123456789abcdef";

const GATEWAY_TOKEN = "gateway-token-of-the-tests";

/** The real stack: the Worker as wrangler builds it, in workerd; gateways; engine simulators over gRPC. */
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
  for (const model of TEST_MODELS) {
    if (!models.includes(model.id)) continue;
    backends.set(
      model.id,
      await startBackend({
        model,
        gatewayToken: GATEWAY_TOKEN,
        engine: { tokenMs: 1, ...options.engine },
      }),
    );
  }
  const gateways = [...backends.values()].map(({ model, gateway }) => ({
    url: gateway.url,
    model,
  }));
  // Not wrangler's own dev server: its proxy does not pass every disconnect on.
  const worker = await startWorkerd({
    script: readFileSync(EDGE_BUNDLE, "utf8"),
    assetsDir: TEST_ASSETS,
    vars: { GATEWAYS: JSON.stringify(gateways), GATEWAY_TOKEN, API_KEY, ...options.vars },
  });
  const base = worker.url;
  const stack: Stack = {
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
    logs: () => worker.logs(),
    async close() {
      await worker.close();
      await Promise.all([...backends.values()].map((backend) => backend.close()));
    },
  };
  if (options.engine?.embedding !== true) await warmUp(stack);
  return stack;
}

/** Models are loaded with the first request; tests of deadlines begin behind it. */
async function warmUp(stack: Stack): Promise<void> {
  for (const { model, engine } of stack.backends.values()) {
    const body = { model, messages: [{ role: "user", content: "hi" }], max_tokens: 1 };
    const response = await stack.post("/v1/chat/completions", body);
    if (!response.ok) throw new Error(`the stack does not work: ${await response.text()}`);
    await response.text();
    engine.reset();
  }
}
