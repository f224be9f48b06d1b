import { runModels } from "./run-models.ts";
import { createTerminal } from "./terminal.ts";

process.exitCode = await runModels(process.argv.slice(2), {
  terminal: createTerminal(process.stdout, process.stderr),
  env: process.env,
  cwd: process.cwd(),
});
