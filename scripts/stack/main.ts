import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { parseArgs } from "node:util";

import { LOCAL_MODELS, prepareLocalModels } from "../models/local-models.ts";
import { startBackend, type Backend } from "./backends.ts";

const HELP = `Starts the local stack: compiles two models, starts an engine simulator and a gateway for each, and serves the
Worker in Cloudflare's own runtime in front of them.

  npm start                    on port 8787
  npm start -- --port 9000

Options
  --port N       Port of the edge (default 8787)
  --api-key KEY  The key that clients send (default: a new one each time)
  --token-ms N   Time between two tokens of the simulated engines (default 20)
  --help         This text
`;

const READY_TIMEOUT_MS = 120_000;
const ASSETS_DIR = ".sgl-edge/assets";

interface Options {
  readonly port: number;
  readonly tokenMs: number;
  readonly apiKey: string;
}

try {
  const options = readOptions();
  if (options === null) console.log(HELP);
  else await main(options);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

/** null: help is wanted. */
function readOptions(): Options | null {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "8787" },
      "api-key": { type: "string" },
      "token-ms": { type: "string", default: "20" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return null;
  return {
    port: readNumber("port", values.port),
    tokenMs: readNumber("token-ms", values["token-ms"]),
    apiKey: values["api-key"] ?? `sk-local-${randomBytes(16).toString("hex")}`,
  };
}

async function main({ port, tokenMs, apiKey }: Options): Promise<void> {
  await checkPort(port);
  const gatewayToken = randomBytes(24).toString("base64url");

  console.log("Preparing models …");
  await prepareLocalModels({ assetsDir: ASSETS_DIR, log: (text) => console.log(`  ${text}`) });
  const backends = await Promise.all(
    LOCAL_MODELS.map((model) => startBackend({ model, gatewayToken, engine: { tokenMs } })),
  );
  for (const { model, engine, gateway } of backends) {
    console.log(`  ${model}: engine simulator on port ${engine.port}, gateway ${gateway.url}`);
  }
  console.log("Starting the edge …");
  const edge = startEdge({ port, apiKey, gatewayToken, backends });
  const stop = async (code: number): Promise<never> => {
    edge.kill("SIGTERM");
    await Promise.all(backends.map((backend) => backend.close()));
    process.exit(code);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop(0));
  edge.once("exit", (code) => void stop(code ?? 1));
  if (!(await waitUntilReady(`http://127.0.0.1:${port}/ready`))) {
    console.error("The edge did not become ready.");
    await stop(1);
  }
  console.log(describeUse(`http://127.0.0.1:${port}`, apiKey));
}

/** Rejects when something listens already: the edge would seem to run, but another program would answer. */
async function checkPort(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", () => {
      reject(new Error(`Port ${port} is taken; choose another one with --port.`));
    });
    server.listen(port, "127.0.0.1", resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}

function readNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= 65_535) return value;
  throw new Error(`--${name}: "${text}" is not a number between 0 and 65535`);
}

interface EdgeOptions {
  readonly port: number;
  readonly apiKey: string;
  readonly gatewayToken: string;
  readonly backends: readonly Backend[];
}

function startEdge({ port, apiKey, gatewayToken, backends }: EdgeOptions): ChildProcess {
  const gateways = backends.map(({ model, gateway }) => ({ url: gateway.url, model }));
  const vars = {
    GATEWAYS: JSON.stringify(gateways),
    GATEWAY_TOKEN: gatewayToken,
    API_KEY: apiKey,
  };
  const wrangler = createRequire(import.meta.url).resolve("wrangler/package.json");
  return spawn(
    process.execPath,
    [
      wrangler.replace(/package\.json$/, "bin/wrangler.js"),
      "dev",
      "--ip=127.0.0.1",
      `--port=${port}`,
      "--log-level=warn",
      "--show-interactive-dev-session=false",
      ...Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}:${value}`]),
    ],
    {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, WRANGLER_SEND_METRICS: "false", CI: "true" },
    },
  );
}

async function waitUntilReady(url: string): Promise<boolean> {
  const giveUpAt = Date.now() + READY_TIMEOUT_MS;
  while (Date.now() < giveUpAt) {
    try {
      const response = await fetch(url);
      await response.body?.cancel();
      if (response.ok) return true;
    } catch {
      // Not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return false;
}

function describeUse(url: string, apiKey: string): string {
  const models = LOCAL_MODELS.map(({ id }) => id);
  return `
The edge is ready: ${url}
  models:  ${models.join(", ")}
  key:     ${apiKey}

Try it:

curl -N ${url}/v1/chat/completions \\
  -H 'authorization: Bearer ${apiKey}' \\
  -H 'content-type: application/json' \\
  -d '{"model": "${models[0]}", "stream": true, "messages": [{"role": "user", "content": "What is an edge?"}]}'

Stop it with Ctrl-C.`;
}
