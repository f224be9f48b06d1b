import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";

import * as z from "zod";

import { engineStats, resetStats } from "./engine.ts";
import type { Engine } from "./engine.ts";
import { ScenarioPlayer, scenarioSchema } from "./scenario.ts";
import { statsToJson } from "./stats.ts";

const MAX_SCENARIO_BYTES = 16 * 1024 * 1024;

/** The engine's own page, for tests and people in other processes: GET /stats, POST /scenario, POST /reset. */
export function createAdminServer(engine: Engine): Server {
  return createServer((request, response) => {
    void answer(engine, request, response).catch((error: unknown) => {
      send(response, 500, { error: String(error) });
    });
  });
}

async function answer(
  engine: Engine,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path] = (request.url ?? "").split("?", 1);
  switch (`${request.method} ${path}`) {
    case "GET /stats":
      send(response, 200, statsToJson(engineStats(engine)));
      return;
    case "POST /scenario":
      await takeScenario(engine, request, response);
      return;
    case "POST /reset":
      resetStats(engine);
      send(response, 200, { reset: true });
      return;
    default:
      send(response, 404, { error: "known: GET /stats, POST /scenario, POST /reset" });
  }
}

async function takeScenario(
  engine: Engine,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of request) {
    if (!(piece instanceof Uint8Array)) continue;
    bytes += piece.byteLength;
    if (bytes > MAX_SCENARIO_BYTES) {
      send(response, 413, { error: `a scenario has at most ${MAX_SCENARIO_BYTES} bytes` });
      return;
    }
    pieces.push(piece);
  }
  const read = parseScenario(Buffer.concat(pieces).toString("utf8"));
  if ("error" in read) {
    send(response, 400, read);
    return;
  }
  engine.scenario = read.player;
  send(response, 200, { rules: read.rules });
}

function parseScenario(
  text: string,
): { readonly player: ScenarioPlayer; readonly rules: number } | { readonly error: string } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return { error: String(error) };
  }
  const parsed = scenarioSchema.safeParse(json);
  if (!parsed.success) return { error: z.prettifyError(parsed.error) };
  return { player: new ScenarioPlayer(parsed.data), rules: parsed.data.rules.length };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(`${JSON.stringify(body)}\n`);
}
