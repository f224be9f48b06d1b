import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");

/** The Worker as wrangler deploys it: one module. */
export function bundleEdge(): string {
  const out = mkdtempSync(join(tmpdir(), "sgl-edge-bundle-"));
  const wrangler = createRequire(import.meta.url)
    .resolve("wrangler/package.json")
    .replace(/package\.json$/, "bin/wrangler.js");
  try {
    execFileSync(process.execPath, [wrangler, "deploy", "--dry-run", "--outdir", out], {
      cwd: ROOT,
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
    });
    return readFileSync(join(out, "index.js"), "utf8");
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}
