import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/**
 * A Worker in a workerd process of its own, without wrangler's proxies before it, so that the process's CPU time is the
 * Worker's.
 */
export interface WorkerdProcess {
  readonly url: string;
  readonly pid: number;
  /** CPU seconds that the process has used so far, user and system. */
  cpuSeconds(): number;
  /** Resident memory in bytes. */
  residentBytes(): number;
  /** Lines that the Worker and workerd have written so far. */
  logs(): readonly string[];
  close(): Promise<void>;
}

export interface WorkerdOptions {
  /** The Worker's one module, JavaScript. */
  readonly script: string;
  readonly vars?: Readonly<Record<string, string>>;
  /** Folder behind the ASSETS binding. */
  readonly assetsDir?: string;
}

const COMPATIBILITY_DATE = "2026-07-01";
const START_TIMEOUT_MS = 20_000;
/** Clock ticks a second in /proc/<pid>/stat; fixed on Linux. */
const TICKS_PER_SECOND = 100;

export async function startWorkerd(options: WorkerdOptions): Promise<WorkerdProcess> {
  const folder = mkdtempSync(join(tmpdir(), "sgl-edge-bench-"));
  const port = await findFreePort();
  writeFileSync(join(folder, "index.js"), options.script);
  writeFileSync(join(folder, "config.capnp"), toCapnp(options, port));
  const child = spawn(workerdBinary(), ["serve", "config.capnp"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const logs = collectLines(child);
  const url = `http://127.0.0.1:${port}`;
  await waitForPort(url, child, logs);
  const { pid } = child;
  if (pid === undefined) throw new Error("workerd did not start");
  return {
    url,
    pid,
    cpuSeconds: () => readCpuSeconds(pid),
    residentBytes: () => readResidentBytes(pid),
    logs: () => logs,
    async close() {
      const exited = new Promise((done) => child.once("exit", done));
      child.kill("SIGKILL");
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Lines of both outputs, as they come; a line ends with a newline. */
function collectLines(child: ChildProcess): readonly string[] {
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    let rest = "";
    stream?.setEncoding("utf8").on("data", (text: string) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      lines.push(...parts);
    });
  }
  return lines;
}

function workerdBinary(): string {
  const require = createRequire(import.meta.url);
  return resolve(require.resolve("workerd/package.json"), "../bin/workerd");
}

function toCapnp({ vars = {}, assetsDir }: WorkerdOptions, port: number): string {
  const text = (value: string): string => JSON.stringify(value);
  const bindings = Object.entries(vars).map(
    ([name, value]) => `(name = ${text(name)}, text = ${text(value)})`,
  );
  const services = [`(name = "internet", network = (allow = ["private", "public"]))`];
  if (assetsDir !== undefined) {
    bindings.push(`(name = "ASSETS", service = "assets")`);
    services.push(`(name = "assets", disk = (path = ${text(resolve(assetsDir))}))`);
  }
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "index.js", esModule = embed "index.js")],
      compatibilityDate = ${text(COMPATIBILITY_DATE)},
      compatibilityFlags = ["enable_request_signal"],
      bindings = [${bindings.join(", ")}],
      globalOutbound = "internet",
    )),
    ${services.join(",\n    ")},
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`;
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}

async function waitForPort(
  url: string,
  child: ChildProcess,
  logs: readonly string[],
): Promise<void> {
  const giveUpAt = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < giveUpAt && child.exitCode === null) {
    try {
      const response = await fetch(`${url}/health`);
      await response.body?.cancel();
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 50));
    }
  }
  child.kill("SIGTERM");
  throw new Error(`workerd did not start:\n${logs.join("\n")}`);
}

function readCpuSeconds(pid: number): number {
  // Fields 14 and 15 behind the command's name, which is in parentheses and may hold spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

function readResidentBytes(pid: number): number {
  const kb = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kb ?? "0") * 1024;
}
