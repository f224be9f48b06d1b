import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/** Compiles the models that the tests speak with; costs milliseconds when they are there already. */
const globalSetup = ["test/support/prepare-models.ts"];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          environment: "node",
          globalSetup,
          testTimeout: 30_000,
        },
      },
      {
        plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        test: {
          name: "workerd",
          include: ["test/workerd/**/*.test.ts"],
          globalSetup,
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          environment: "node",
          globalSetup: [...globalSetup, "test/support/build-edge.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          // Every file starts a stack of its own: one runtime at a time is what a small machine carries.
          fileParallelism: false,
        },
      },
    ],
  },
});
