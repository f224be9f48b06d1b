import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { delimiter, resolve } from "node:path";

/** Generates src/engine/gen from proto/. `--check` fails when what is committed differs. */
const ROOT = resolve(import.meta.dirname, "..");
const PROTO = resolve(ROOT, "proto");
const BIN = resolve(ROOT, "node_modules/.bin");
const OUT = "src/engine/gen";

const env = { ...process.env, PATH: `${BIN}${delimiter}${process.env["PATH"] ?? ""}` };
const run = (command: string, args: readonly string[], cwd: string): void => {
  execFileSync(command, args, { cwd, env, stdio: "inherit" });
};

run("buf", ["lint"], PROTO);
rmSync(resolve(ROOT, OUT), { recursive: true, force: true });
run("buf", ["generate"], PROTO);
if (process.argv.includes("--check")) {
  run("git", ["diff", "--exit-code", "--stat", "--", OUT], ROOT);
}
