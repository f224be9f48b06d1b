import { KvEventPublisher } from "./kv-events.ts";
import { createLog } from "./log.ts";
import type { Log } from "./log.ts";
import { describeModel } from "./model.ts";
import type { EngineModel } from "./model.ts";
import type { EngineOptions } from "./options.ts";
import { ScenarioPlayer, scenarioSchema } from "./scenario.ts";
import { Scheduler } from "./scheduler.ts";
import { CallStats } from "./stats.ts";
import type { EngineStats } from "./stats.ts";

/** The engine behind the wire: its model, its scheduler and what it has counted. */
export interface Engine {
  readonly options: EngineOptions;
  readonly model: EngineModel;
  readonly scheduler: Scheduler;
  readonly kvEvents: KvEventPublisher | undefined;
  readonly log: Log;
  readonly startedAtMs: number;
  scenario: ScenarioPlayer;
  stats: CallStats;
  lastReceiveAtMs: number;
}

/** The version that GetServerInfo and GetLoads tell. */
export const SGLANG_VERSION = "0.5.17+sgl-edge.simulator";

export function createEngine(options: EngineOptions): Engine {
  const kvEvents = options.kvEvents ? new KvEventPublisher(options.pageSize) : undefined;
  const startedAtMs = Date.now();
  return {
    options,
    model: describeModel(options),
    scheduler: new Scheduler({
      ...options,
      maxQueuedRequests: options.maxQueuedRequests,
      kvListener: kvEvents,
    }),
    kvEvents,
    log: createLog(options.logLevel),
    startedAtMs,
    scenario: new ScenarioPlayer(options.scenario ?? scenarioSchema.parse({})),
    stats: new CallStats(),
    lastReceiveAtMs: startedAtMs,
  };
}

export function engineStats({ stats, scheduler }: Engine): EngineStats {
  const { running, waiting } = scheduler.load();
  return {
    ...stats.counts,
    ...scheduler.counts,
    running,
    waiting,
    calls: { ...stats.calls },
    lastRequests: [...stats.lastRequests],
    lastAborts: [...stats.lastAborts],
  };
}

/** Counts from zero again; the cache and what is running stay. */
export function resetStats(engine: Engine): void {
  engine.stats = new CallStats();
  engine.scheduler.resetCounts();
}
