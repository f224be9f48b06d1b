import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";

/**
 * Runs the import-layer rules and keeps the picture in docs/architecture.md current.
 *
 *   npm run layers             check; fails on a broken rule, on a stale picture, or when hardly any module was seen
 *   npm run layers -- --write  write the picture
 */
const ROOT = resolve(import.meta.dirname, "..");
const CRUISER = resolve(ROOT, "node_modules/dependency-cruiser/bin/dependency-cruiser.mjs");
const PICTURE = resolve(ROOT, "docs/architecture.md");
/** A cruise that sees fewer modules than this has silently looked at nothing. */
const MIN_MODULES = 40;
const FOLDERS = ["src", "scripts", "test"];

const cruise = (args: readonly string[]): string =>
  execFileSync(process.execPath, [CRUISER, ...args], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    stdio: ["ignore", "pipe", "inherit"],
  });

interface Report {
  readonly summary: { readonly totalCruised: number; readonly error: number };
}

const json = runAllowingViolations(["--output-type", "json", ...FOLDERS]);
const report: Report = JSON.parse(json);
const { summary } = report;
if (summary.error > 0) {
  console.error(runAllowingViolations(["--output-type", "err", ...FOLDERS]));
  process.exit(1);
}
if (summary.totalCruised < MIN_MODULES) {
  console.error(
    `Only ${summary.totalCruised} modules were seen; expected at least ${MIN_MODULES}.`,
  );
  process.exit(1);
}
updatePicture();
console.log(`layers: ${summary.totalCruised} modules, no violations`);

function runAllowingViolations(args: readonly string[]): string {
  try {
    return cruise(args);
  } catch (error) {
    if (error instanceof Error && "stdout" in error && typeof error.stdout === "string") {
      return error.stdout;
    }
    throw error;
  }
}

function updatePicture(): void {
  const picture = cruise([
    "--output-type",
    "mermaid",
    "--collapse",
    "^src/[^/]+",
    "--include-only",
    "^src/[^/]+",
    "--exclude",
    "^src/engine/gen",
    "src",
  ]).trim();
  const text = readFileSync(PICTURE, "utf8");
  const block = /(<!-- layers:start -->\n)[\s\S]*?(<!-- layers:end -->)/;
  const next = text.replace(
    block,
    (_, start: string, end: string) => `${start}\n\`\`\`mermaid\n${picture}\n\`\`\`\n\n${end}`,
  );
  if (next === text) return;
  if (process.argv.includes("--write")) {
    writeFileSync(PICTURE, next);
    return;
  }
  console.error("docs/architecture.md: the layer picture is stale; run npm run layers -- --write");
  process.exit(1);
}
