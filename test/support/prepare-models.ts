import { prepareLocalModels } from "../../scripts/models/local-models.ts";

/** Makes sure that the models of the tests are compiled; takes some milliseconds when they are. */
export default async function setup(): Promise<void> {
  await prepareLocalModels({
    assetsDir: ".sgl-edge/assets",
    log: (text) => process.stderr.write(`${text}\n`),
  });
}
