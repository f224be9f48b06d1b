import type { EngineOptionsInput } from "../engine/options.ts";
import { startEngine, type RunningEngine } from "../engine/server.ts";
import { startGateway, type Gateway } from "../gateway/server.ts";
import type { LocalModel } from "../models/local-models.ts";
import { prepareModelFolder } from "./model-folder.ts";

/** A simulated worker behind its gateway. */
export interface Backend {
  /** The name that the worker serves its model under. */
  readonly model: string;
  readonly engine: RunningEngine;
  readonly gateway: Gateway;
  close(): Promise<void>;
}

export interface BackendOptions {
  readonly model: LocalModel;
  readonly gatewayToken: string;
  readonly engine?: EngineOptionsInput;
}

/** Starts one engine simulator and the gateway in front of it, both on free ports of 127.0.0.1. */
export async function startBackend(options: BackendOptions): Promise<Backend> {
  const engine = await startEngine({
    tokenizer: prepareModelFolder(options.model),
    servedModelName: options.model.id,
    ...options.engine,
  });
  const gateway = await startGateway({
    upstream: `127.0.0.1:${engine.port}`,
    tokens: [options.gatewayToken],
  });
  return {
    model: options.model.id,
    engine,
    gateway,
    async close() {
      await gateway.close();
      await engine.close();
    },
  };
}
