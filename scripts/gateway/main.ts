import { readFileSync, watchFile } from "node:fs";
import process from "node:process";

import { parseTokens } from "./auth.ts";
import type { CommandLine } from "./cli-options.ts";
import { readCommandLine, UsageError } from "./cli-options.ts";
import type { Log } from "./log.ts";
import { createLog } from "./log.ts";
import type { Gateway } from "./server.ts";
import { startGateway } from "./server.ts";

type RunCommand = Extract<CommandLine, { kind: "run" }>;

/** How often the token file is looked at. */
const TOKEN_POLL_MS = 5000;

const readText = (path: string): string => readFileSync(path, "utf8");

async function main(): Promise<void> {
  const command = readCommandLine(process.argv.slice(2), process.env, readText);
  if (command.kind === "help") {
    process.stdout.write(command.text);
    return;
  }
  const log = createLog(command.logLevel, (line) => process.stderr.write(line));
  const gateway = await startGateway({ ...command.gateway, log });
  handleSignals(gateway, command, log);
  const { port, url } = gateway;
  process.stdout.write(`${JSON.stringify({ event: "ready", port, url })}\n`);
}

function handleSignals(gateway: Gateway, command: RunCommand, log: Log): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) {
      // Whoever asks twice does not want to wait.
      process.exit(1);
    }
    stopping = true;
    void gateway.drain(command.drain).then(() => process.exit(0));
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  const { tokenFile } = command;
  process.on("SIGHUP", () => {
    reload(log, "tokens", () => reloadTokens(gateway, tokenFile));
    reload(log, "certificate", () => reloadCertificate(gateway, command.tlsFiles));
  });
  if (tokenFile !== undefined) {
    watchFile(tokenFile, { interval: TOKEN_POLL_MS, persistent: false }, () => {
      reload(log, "tokens", () => reloadTokens(gateway, tokenFile));
    });
  }
}

/** A file that cannot be used leaves what was there in force. */
function reload(log: Log, what: string, action: () => boolean): void {
  try {
    if (action()) {
      log("info", "reloaded", { what });
    }
  } catch (error) {
    log("error", "reload-failed", { what, reason: error instanceof Error ? error.message : "" });
  }
}

function reloadTokens(gateway: Gateway, tokenFile: string | undefined): boolean {
  if (tokenFile === undefined) {
    return false;
  }
  const fromFile = parseTokens(readText(tokenFile), "the token file");
  if (fromFile.length === 0) {
    throw new Error("the token file has no token");
  }
  const inline = parseTokens(process.env["GATEWAY_TOKENS"] ?? "", "GATEWAY_TOKENS");
  gateway.setTokens([...fromFile, ...inline]);
  return true;
}

function reloadCertificate(gateway: Gateway, files: RunCommand["tlsFiles"]): boolean {
  if (files === undefined) {
    return false;
  }
  gateway.setCertificate({ cert: readText(files.cert), key: readText(files.key) });
  return true;
}

main().catch((error: unknown) => {
  const usage = error instanceof UsageError;
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`gateway: ${message}\n${usage ? "See --help.\n" : ""}`);
  process.exitCode = usage ? 2 : 1;
});
