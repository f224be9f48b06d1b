import { once } from "node:events";
import { createSecureServer, createServer } from "node:http2";
import type { Http2Server, ServerHttp2Session } from "node:http2";
import type { Server } from "node:net";

import { compressionGzip } from "@connectrpc/connect-node";

import { createAdminServer } from "./admin.ts";
import { createEngine, engineStats, resetStats } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { createGrpcListener } from "./http2-adapter.ts";
import { engineOptionsSchema } from "./options.ts";
import type { EngineOptions, EngineOptionsInput } from "./options.ts";
import { ScenarioPlayer, scenarioSchema } from "./scenario.ts";
import type { ScenarioInput } from "./scenario.ts";
import { callInterceptor, KV_EVENTS_PATH, registerServices } from "./service.ts";
import type { EngineStats } from "./stats.ts";

/** A running engine simulator. */
export interface RunningEngine {
  /** gRPC port. */
  readonly port: number;
  /** `http://host:port`, or https with TLS. */
  readonly url: string;
  readonly adminPort: number | undefined;
  readonly modelName: string;
  stats(): EngineStats;
  /** Counts from zero again; cache and running requests stay. */
  reset(): void;
  /** Takes effect with the next request. Throws a ZodError when the scenario is wrong. */
  setScenario(scenario: ScenarioInput): void;
  /** Ends running calls with UNAVAILABLE, then the connections. */
  close(): Promise<void>;
}

/**
 * Starts an engine that speaks SGLang's gRPC (HTTP/2, cleartext unless `tls` is given). Throws a ZodError for wrong
 * options and an Error when the tokenizer cannot be found or the port is taken.
 */
export async function startEngine(options: EngineOptionsInput = {}): Promise<RunningEngine> {
  return startCheckedEngine(engineOptionsSchema.parse(options));
}

/** The same with options that have been through their schema. */
export async function startCheckedEngine(options: EngineOptions): Promise<RunningEngine> {
  const engine = createEngine(options);
  const server = createGrpcServer(engine);
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
  });
  const port = await listen(server, engine.options.port, engine.options.host);
  const { adminPort } = engine.options;
  const admin = adminPort === undefined ? undefined : createAdminServer(engine);
  const listening = admin && (await listen(admin, adminPort ?? 0, engine.options.host));
  engine.log.info("listening", { port, adminPort: listening, model: engine.model.servedModelName });
  return {
    port,
    url: `${engine.options.tls === undefined ? "http" : "https"}://${urlHost(engine.options.host)}:${port}`,
    adminPort: listening,
    modelName: engine.model.servedModelName,
    stats: () => engineStats(engine),
    reset: () => resetStats(engine),
    setScenario: (scenario) => {
      engine.scenario = new ScenarioPlayer(scenarioSchema.parse(scenario));
    },
    close: async () => {
      engine.scheduler.shutDown();
      // One turn of the event loop, so that the calls' last words are on the wire.
      await new Promise((resolve) => setTimeout(resolve, LAST_WORDS_MS));
      for (const session of sessions) session.destroy();
      await Promise.all([closeServer(server), admin === undefined ? undefined : closeAdmin(admin)]);
    },
  };
}

const LAST_WORDS_MS = 20;
/** Megabytes that node:http2 lets a session buffer; its default of 10 refuses streams under load. */
const MAX_SESSION_MEMORY = 1024;

function createGrpcServer(engine: Engine): Http2Server {
  const listener = createGrpcListener({
    routes: registerServices(engine),
    router: {
      connect: false,
      grpcWeb: false,
      grpc: true,
      acceptCompression: [compressionGzip],
      // Compressed requests are read, but a Python server does not compress its answers by itself.
      compressMinBytes: Number.MAX_SAFE_INTEGER,
      interceptors: [callInterceptor(engine)],
    },
    eagerPaths: new Set(engine.kvEvents === undefined ? [] : [KV_EVENTS_PATH]),
    log: engine.log,
  });
  const settings = { maxSessionMemory: MAX_SESSION_MEMORY };
  const { tls } = engine.options;
  const server =
    tls === undefined
      ? createServer(settings)
      : createSecureServer({ ...settings, cert: tls.cert, key: tls.key });
  server.on("request", (request, response) => void listener(request, response));
  return server;
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}

function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

async function closeServer(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
}

async function closeAdmin(admin: ReturnType<typeof createAdminServer>): Promise<void> {
  admin.closeAllConnections();
  await closeServer(admin);
}
