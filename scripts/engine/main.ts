/** The engine simulator as a program: `node scripts/engine/main.ts --help`. */
import { once } from "node:events";

import { helpText, parseCommandLine, UsageError } from "./command-line.ts";
import { startCheckedEngine } from "./server.ts";

const USAGE_EXIT_CODE = 2;

async function main(): Promise<number> {
  const options = parseCommandLine(process.argv.slice(2));
  if (options === "help") {
    process.stdout.write(helpText());
    return 0;
  }
  const engine = await startCheckedEngine(options);
  const ready = {
    ready: true,
    port: engine.port,
    adminPort: engine.adminPort ?? null,
    url: engine.url,
    model: engine.modelName,
    pid: process.pid,
  };
  process.stdout.write(`${JSON.stringify(ready)}\n`);
  await Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  await engine.close();
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  const usage = error instanceof UsageError;
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  if (usage) process.stderr.write("Try --help.\n");
  process.exitCode = usage ? USAGE_EXIT_CODE : 1;
}
