import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

import { bundleEdge } from "../../scripts/stack/bundle.ts";

/** The Worker that the end-to-end tests run; built once before them. */
export const EDGE_BUNDLE = ".sgl-edge/test/index.js";

export default function setup(): void {
  mkdirSync(dirname(EDGE_BUNDLE), { recursive: true });
  writeFileSync(EDGE_BUNDLE, bundleEdge());
}
