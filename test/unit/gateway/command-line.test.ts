import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";

import { describe, it } from "vitest";

import { readCommandLine, UsageError } from "../../../scripts/gateway/cli-options.ts";
import type { OnTestFinished } from "./upstream-fixture.ts";
import { answer, certificate, frame, METHOD_PATH, startRawUpstream } from "./upstream-fixture.ts";

const TOKEN = "token-0123456789abc";

const FILES: Readonly<Record<string, string>> = {
  tokens: `${TOKEN}\n`,
  empty: "# none yet\n",
  cert: certificate("server.pem"),
  key: certificate("server-key.pem"),
  ca: certificate("ca.pem"),
};

function readFile(path: string): string {
  const content = FILES[path];
  if (content === undefined) {
    throw Object.assign(new Error("no such file"), { code: "ENOENT" });
  }
  return content;
}

function read(args: string, environment: Readonly<Record<string, string>> = {}) {
  return readCommandLine(args === "" ? [] : args.split(" "), environment, readFile);
}

describe("the command line", () => {
  it("has a default for everything but the upstream", ({ expect }) => {
    expect(read("--upstream worker:30000")).toEqual({
      kind: "run",
      gateway: {
        upstream: "worker:30000",
        listen: "127.0.0.1:8080",
        maxRequestMessageBytes: 64 * 1024 * 1024,
        maxResponseMessageBytes: 64 * 1024 * 1024,
        maxHeaderBytes: 32 * 1024,
        maxCalls: 1024,
        maxConnections: 16,
        maxStreamsPerConnection: 100,
        connectTimeoutMs: 5000,
        connectionIdleMs: 300_000,
        idleTimeoutMs: 0,
        keepaliveIntervalMs: 30_000,
        keepaliveTimeoutMs: 10_000,
      },
      tokenFile: undefined,
      tlsFiles: undefined,
      drain: { delayMs: 0, timeoutMs: 30_000 },
      logLevel: "info",
    });
  });

  it("reads every kind of value", ({ expect }) => {
    const args =
      "--allow a:1,[::1]:2 --listen 0.0.0.0:0 --token-file tokens --tls-cert cert --tls-key key --tls-client-ca ca " +
      "--upstream-tls --upstream-ca ca --upstream-server-name n --max-calls 7 --max-headers 8KiB --idle-timeout 90s " +
      "--connect-timeout 250ms --drain-timeout 2m --log-level debug";
    expect(read(args)).toMatchObject({
      gateway: {
        allow: ["a:1", "[::1]:2"],
        listen: "0.0.0.0:0",
        tokens: [TOKEN],
        tls: { cert: FILES["cert"], key: FILES["key"], clientCa: FILES["ca"] },
        upstreamTls: { ca: FILES["ca"], serverName: "n", insecure: false },
        maxCalls: 7,
        maxHeaderBytes: 8192,
        idleTimeoutMs: 90_000,
        connectTimeoutMs: 250,
      },
      tokenFile: "tokens",
      tlsFiles: { cert: "cert", key: "key" },
      drain: { timeoutMs: 120_000 },
      logLevel: "debug",
    });
  });

  it("falls back to the environment, and wins over it", ({ expect }) => {
    const environment = {
      GATEWAY_UPSTREAM: "from-env:1",
      GATEWAY_MAX_CALLS: "5",
      GATEWAY_UPSTREAM_TLS: "1",
      GATEWAY_TOKENS: `${TOKEN},another-token-0123`,
    };
    expect(read("--max-calls 6", environment)).toMatchObject({
      gateway: {
        upstream: "from-env:1",
        maxCalls: 6,
        upstreamTls: { insecure: false },
        tokens: [TOKEN, "another-token-0123"],
      },
    });
  });

  it("describes every option in its help", ({ expect }) => {
    const command = read("--help");
    expect(command.kind === "help" && command.text).toContain("--upstream HOST:PORT");
  });

  const refused = [
    { args: "", says: "--upstream: give the gRPC server's host:port" },
    { args: "--upstream worker", says: '--upstream: "worker" is not host:port' },
    { args: "--upstream worker:70000", says: "is not host:port" },
    { args: "--upstream http://worker:1", says: "is not host:port" },
    { args: "--upstream a:1 --allow b", says: '--allow: "b" is not host:port' },
    { args: "--upstream a:1 --listen :8080", says: '--listen: ":8080" is not host:port' },
    { args: "--upstream a:1 --unknown", says: "Unknown option '--unknown'" },
    { args: "--upstream a:1 stray", says: "Unexpected argument 'stray'" },
    { args: "--upstream a:1 --listen 0.0.0.0:80", says: "is not a loopback address" },
    { args: "--upstream a:1 --token-file missing", says: "cannot read missing (ENOENT)" },
    { args: "--upstream a:1 --token-file empty", says: "there is no token" },
    { args: "--upstream a:1 --tls-cert cert", says: "--tls-cert, --tls-key: give both" },
    { args: "--upstream a:1 --tls-cert ca --tls-key key", says: "--tls-cert: certificate or key" },
    { args: "--upstream a:1 --upstream-ca ca", says: "--upstream-tls: missing" },
    { args: "--upstream a:1 --upstream-tls --upstream-key key", says: "give both or neither" },
    { args: "--upstream a:1 --idle-timeout 5", says: '"5" is not a time such as' },
    { args: "--upstream a:1 --connect-timeout 0", says: '"0" is not a time such as' },
    { args: "--upstream a:1 --max-headers 0B", says: '"0B" is not a size such as' },
    { args: "--upstream a:1 --max-request-message 5GiB", says: "below 4GiB" },
    { args: "--upstream a:1 --max-calls 1.5", says: "is not a whole number above 0" },
    { args: "--upstream a:1 --log-level loud", says: "is not one of debug, info" },
  ];
  it.for(refused)("refuses $args", ({ args, says }, { expect }) => {
    expect(() => read(args)).toThrow(UsageError);
    expect(() => read(args)).toThrow(says);
  });

  const exposed = [
    "--listen 127.0.0.2:80",
    "--listen [::1]:80",
    "--listen localhost:80",
    "--listen 0.0.0.0:80 --no-auth",
    "--listen 0.0.0.0:80 --token-file tokens",
    "--listen 0.0.0.0:80 --tls-cert cert --tls-key key --tls-client-ca ca",
  ];
  it.for(exposed)("accepts %s", (args, { expect }) => {
    expect(read(`--upstream a:1 ${args}`).kind).toBe("run");
  });
});

/** Starts the program itself, and resolves with its ready line. */
async function startProgram(onTestFinished: OnTestFinished, args: readonly string[]) {
  const program = spawn(process.execPath, ["scripts/gateway/main.ts", ...args]);
  onTestFinished(() => {
    program.kill("SIGKILL");
  });
  const logs: string[] = [];
  const logged = createInterface({ input: program.stderr });
  logged.on("line", (line) => logs.push(line));
  const [line] = await Promise.race([
    once(createInterface({ input: program.stdout }), "line"),
    once(program, "exit").then(() => [logs.join("\n")]),
  ]);
  const ready: unknown = JSON.parse(String(line));
  return { program, logged, url: urlOf(ready) };
}

function urlOf(ready: unknown): string {
  const url: unknown =
    ready !== null && typeof ready === "object" && "url" in ready ? ready.url : "";
  return String(url);
}

describe("the program", () => {
  it("says when it is ready, rotates tokens on SIGHUP and drains on SIGTERM", async ({
    expect,
    onTestFinished,
  }) => {
    const gate = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    let held = false;
    const upstream = await startRawUpstream(onTestFinished, (stream) => {
      if (!held) {
        answer(stream, frame("a"));
        return;
      }
      arrived.resolve();
      void gate.promise.then(() => answer(stream, frame("held")));
    });
    const folder = mkdtempSync(join(tmpdir(), "gateway-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const tokenFile = join(folder, "tokens");
    writeFileSync(tokenFile, TOKEN);
    const { program, logged, url } = await startProgram(
      onTestFinished,
      `--upstream ${upstream.address} --listen 127.0.0.1:0 --token-file ${tokenFile}`.split(" "),
    );
    const call = async (token: string): Promise<string> => {
      const response = await fetch(`${url}${METHOD_PATH}`, {
        method: "POST",
        headers: { "content-type": "application/grpc-web", "x-gateway-token": token },
        body: Buffer.from(frame("q")),
      });
      const text = Buffer.from(await response.arrayBuffer()).toString("latin1");
      return response.status === 200
        ? text.slice(5, text.indexOf("\u0080"))
        : String(response.status);
    };
    expect(await call(TOKEN)).toBe("a");

    const reloaded = async (): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      logged.on("line", (line) => {
        if (line.includes("reload")) {
          resolve();
        }
      });
      return promise;
    };
    writeFileSync(tokenFile, "next-token-0123456789");
    let done = reloaded();
    program.kill("SIGHUP");
    await done;
    expect(await call(TOKEN)).toBe("401");
    expect(await call("next-token-0123456789")).toBe("a");

    // A file that became empty must not open the gateway, nor close it.
    writeFileSync(tokenFile, "");
    done = reloaded();
    program.kill("SIGHUP");
    await done;
    expect(await call("")).toBe("401");
    expect(await call("next-token-0123456789")).toBe("a");

    held = true;
    const running = call("next-token-0123456789");
    await arrived.promise;
    const exited = once(program, "exit");
    program.kill("SIGTERM");
    gate.resolve();
    expect(await running).toBe("held");
    expect(await exited).toEqual([0, null]);
  });

  it("ends with code 2 and the reason when an option is wrong", async ({ expect }) => {
    const program = spawn(process.execPath, ["scripts/gateway/main.ts", "--upstream", "x"]);
    let errors = "";
    program.stderr.on("data", (chunk: Buffer) => {
      errors += chunk.toString();
    });
    expect(await once(program, "exit")).toEqual([2, null]);
    expect(errors).toBe('gateway: --upstream: "x" is not host:port\nSee --help.\n');
  });
});
