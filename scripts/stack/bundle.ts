import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");

/** The Worker as wrangler deploys it: one module. */
export function bundleEdge(): string {
  return bundle([], "index.js");
}

/** Another Worker of this repository (path from its root) as one module, without the edge's configuration. */
export function bundleWorker(entry: string): string {
  const folder = mkdtempSync(join(tmpdir(), "sgl-edge-worker-"));
  const config = join(folder, "wrangler.toml");
  writeFileSync(config, 'name = "worker"\ncompatibility_date = "2026-07-01"\n');
  try {
    return bundle([join(ROOT, entry), "--config", config], basename(entry).replace(/\.ts$/, ".js"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function bundle(args: readonly string[], module: string): string {
  // wrangler wants the folder of the compiled models to be there, even for a bundle without any.
  mkdirSync(join(ROOT, ".sgl-edge/assets"), { recursive: true });
  const out = mkdtempSync(join(tmpdir(), "sgl-edge-bundle-"));
  const wrangler = createRequire(import.meta.url)
    .resolve("wrangler/package.json")
    .replace(/package\.json$/, "bin/wrangler.js");
  try {
    execFileSync(process.execPath, [wrangler, "deploy", ...args, "--dry-run", "--outdir", out], {
      cwd: ROOT,
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
    });
    return readFileSync(join(out, module), "utf8");
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}
