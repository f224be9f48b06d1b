import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { describe, it } from "vitest";

import { helpText, parseCommandLine } from "../../../scripts/engine/command-line.ts";
import { SglangScheduler } from "../../../src/engine/gen/sglang_scheduler_pb.ts";
import { outcomeOf } from "./support.ts";

describe("command line", () => {
  it("maps flags onto options", ({ expect }) => {
    const args =
      "--model-path m --port 0 --eos 1,2 --page-size=16 --kv-events --disable-radix-cache";
    expect(parseCommandLine(args.split(" "))).toMatchObject({
      model: "m",
      port: 0,
      eosTokenIds: [1, 2],
      pageSize: 16,
      kvEvents: true,
      prefixCache: false,
      logLevel: "info",
    });
    expect(parseCommandLine([])).toMatchObject({ port: 30_000, tokenMs: 5, prefillRate: 50_000 });
    expect(parseCommandLine(["--port", "1", "--help"])).toBe("help");
  });

  const mistakes = [
    { args: ["--nope"], says: "--nope" },
    { args: ["--port", "x"], says: '--port: "x" is not a number' },
    { args: ["--port", "70000"], says: "--port: Too big" },
    { args: ["--token-ms=-1"], says: "--token-ms: Too small" },
    { args: ["--eos", "1,,2"], says: "--eos" },
    { args: ["--log-level", "loud"], says: "--log-level" },
    { args: ["--tls-cert", "x.pem"], says: "go together" },
    { args: ["--scenario", "/nowhere.json"], says: "--scenario: ENOENT" },
    { args: ["stray"], says: "stray" },
  ];

  it.for(mistakes)("says what is wrong with $args", ({ args, says }, { expect }) => {
    expect(() => parseCommandLine(args)).toThrow(says);
  });

  it("names the place of a mistake in the scenario", ({ expect, onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), "engine-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "scenario.json");
    writeFileSync(file, '{"rules": [{"whn": "x"}]}');
    expect(() => parseCommandLine(["--scenario", file])).toThrow(
      "--scenario at rules[0]: Unrecognized",
    );
  });

  it("documents every flag", ({ expect }) => {
    for (const flag of ["--tokenizer", "--prefill-rate", "--after-abort", "--help"]) {
      expect(helpText()).toContain(`\n  ${flag} `);
    }
  });
});

describe("program", () => {
  it("prints a ready line, serves gRPC and its admin page, ends on SIGTERM", async ({
    expect,
    onTestFinished,
  }) => {
    const flags = "--port 0 --admin-port 0 --vocab-size 100 --eos 9 --token-ms 0 --log-level info";
    const child = spawn(process.execPath, ["scripts/engine/main.ts", ...flags.split(" ")], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    const [line] = await once(createInterface(child.stdout), "line");
    const ready: unknown = JSON.parse(String(line));
    expect(ready).toMatchObject({ ready: true, model: "simulated-model", pid: child.pid });
    const { port, adminPort } = Object(ready);
    const admin = `http://127.0.0.1:${adminPort}`;
    const post = async (path: string, body: string) =>
      await fetch(`${admin}${path}`, { method: "POST", body });

    const bad = await post("/scenario", '{"rules": [{"whn": "x"}]}');
    expect(bad.status).toBe(400);
    expect(await bad.text()).toContain("whn");
    expect((await post("/scenario", "{")).status).toBe(400);
    expect((await post("/scenario", '{"rules": [{"reply": {"ids": [5]}}]}')).status).toBe(200);

    const client = createClient(
      SglangScheduler,
      createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` }),
    );
    expect((await outcomeOf(client, { requestId: "r" })).ids).toEqual([5, 9]);
    const stats: unknown = await (await fetch(`${admin}/stats`)).json();
    expect(stats).toMatchObject({
      requests: 1,
      tokensGenerated: 2,
      calls: { Generate: 1 },
      lastRequests: [{ request: { request_id: "r", sampling_params: { top_k: -1 } } }],
    });
    expect((await post("/reset", "")).status).toBe(200);
    expect(await (await fetch(`${admin}/stats`)).json()).toMatchObject({ requests: 0 });
    expect((await fetch(`${admin}/other`)).status).toBe(404);

    child.kill("SIGTERM");
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
  });
});
