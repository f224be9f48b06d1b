import { createApp } from "./app.ts";
import { ConfigError, readConfig, type Config, type GatewayConfig } from "./config.ts";
import { systemClock } from "./core/clock.ts";
import { randomIds } from "./core/ids.ts";
import { consoleLogger, describeError } from "./core/logger.ts";
import { createEngineClient } from "./engine/engine-client.ts";
import { createGenerationService } from "./generation/generation-service.ts";
import { createWorkerDirectory, type WorkerEntry } from "./generation/worker-directory.ts";
import { createModelStore } from "./prompt/load-model.ts";

/** The bindings that the Worker itself needs; variables are read by config.ts. */
export interface EdgeEnv {
  readonly ASSETS: Fetcher;
  readonly [name: string]: unknown;
}

/** Everything that lives as long as the isolate. Throws ConfigError. */
export function createEdge(env: EdgeEnv) {
  const config = readConfig(env);
  const service = createGenerationService({
    models: createModelStore({ fetchAsset: (path) => fetchAsset(env.ASSETS, path) }),
    directory: createWorkerDirectory(
      config.gateways.map((gateway) => toWorkerEntry(gateway, config, env)),
      systemClock,
      {
        retryAfterMs: config.failedWorkerRetryMs,
        onFailure: (url, error) =>
          consoleLogger.warn("worker cannot be asked", {
            worker: url,
            cause: describeError(error),
          }),
      },
    ),
    ids: randomIds,
    clock: systemClock,
    deadlines: { firstTokenMs: config.firstTokenTimeoutMs, stallMs: config.stallTimeoutMs },
    settingsOf: (model) => config.modelSettings.get(model) ?? {},
  });
  return createApp(
    { ...config, service, ids: randomIds, clock: systemClock, log: consoleLogger },
    config,
  );
}

async function fetchAsset(assets: Fetcher, path: string): Promise<ArrayBuffer | null> {
  // The host is only a label: the binding looks at the path.
  const response = await assets.fetch(`https://assets.invalid/${path}`);
  if (response.status === 404) {
    await response.body?.cancel();
    return null;
  }
  if (!response.ok) throw new Error(`asset ${path}: HTTP ${response.status}`);
  return response.arrayBuffer();
}

function toWorkerEntry(gateway: GatewayConfig, config: Config, env: EdgeEnv): WorkerEntry {
  const { url, model, binding } = gateway;
  const client = createEngineClient({
    url,
    ...(config.gatewayToken === undefined ? {} : { token: config.gatewayToken }),
    ...(binding === undefined ? {} : { fetcher: readBinding(env, binding) }),
  });
  return { url, client, ...(model === undefined ? {} : { model }) };
}

function readBinding(env: EdgeEnv, name: string): { fetch: Fetcher["fetch"] } {
  const value = env[name];
  if (isFetcher(value)) return value;
  throw new ConfigError(`GATEWAYS: there is no service binding named ${name}`);
}

function isFetcher(value: unknown): value is { fetch: Fetcher["fetch"] } {
  return (
    typeof value === "object" &&
    value !== null &&
    "fetch" in value &&
    typeof value.fetch === "function"
  );
}
