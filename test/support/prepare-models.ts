import { mkdirSync } from "node:fs";

import { prepareLocalModels } from "../../scripts/models/local-models.ts";
import { TEST_ASSETS, TEST_MODELS } from "./test-models.ts";

/** Makes sure that the models of the tests are compiled; takes some milliseconds when they are. */
export default async function setup(): Promise<void> {
  const log = (text: string): void => void process.stderr.write(`${text}\n`);
  // What wrangler.toml names must be there for the tests that run with it.
  mkdirSync(".sgl-edge/assets", { recursive: true });
  await prepareLocalModels({ assetsDir: TEST_ASSETS, models: TEST_MODELS, log });
}
