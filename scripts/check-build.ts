import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";

/** Builds the Worker as it is deployed and holds it to a size budget; growing past it is a decision, not an accident. */
const ROOT = resolve(import.meta.dirname, "..");
const OUT = resolve(ROOT, "dist");
const BUDGET_GZIP_KB = 300;
/** What must never be in a Worker: Node's network stack and tokenizer data. */
const FORBIDDEN = ["@grpc/grpc-js", "connect-node", "node:http2", "tokenizer.json"];

const wrangler = createRequire(import.meta.url)
  .resolve("wrangler/package.json")
  .replace(/package\.json$/, "bin/wrangler.js");
rmSync(OUT, { recursive: true, force: true });
// wrangler wants the folder of the compiled models to be there, even for a build without any.
mkdirSync(resolve(ROOT, ".sgl-edge/assets"), { recursive: true });
execFileSync(process.execPath, [wrangler, "deploy", "--dry-run", "--outdir", OUT], {
  cwd: ROOT,
  stdio: ["ignore", "ignore", "inherit"],
  env: { ...process.env, WRANGLER_SEND_METRICS: "false" },
});

const bundle = readFileSync(resolve(OUT, "index.js"));
const gzipKb = gzipSync(bundle, { level: 9 }).length / 1024;
const found = FORBIDDEN.filter((text) => bundle.includes(`"${text}"`));
console.log(
  `bundle: ${(bundle.length / 1024).toFixed(0)} KB, ${gzipKb.toFixed(0)} KB gzipped (budget ${BUDGET_GZIP_KB} KB)`,
);
if (gzipKb > BUDGET_GZIP_KB) {
  console.error("The bundle is over its budget.");
  process.exit(1);
}
if (found.length > 0) {
  console.error(`The bundle holds what cannot run in a Worker: ${found.join(", ")}`);
  process.exit(1);
}
