import { createHash } from "node:crypto";

import { zipSync } from "fflate";

import { tokenizerFiles } from "./model-files.ts";

export const ARCHIVE_PIECE_BYTES = 64 * 1024;

export interface TokenizerArchive {
  readonly bytes: Uint8Array;
  /** Hex. */
  readonly sha256: string;
}

/** ZIP's earliest date, so that the same files always make the same archive. */
const EARLIEST_DATE = new Date(1980, 0, 1);

export function packTokenizer(folder: string): TokenizerArchive {
  const bytes = zipSync(tokenizerFiles(folder), { level: 6, mtime: EARLIEST_DATE });
  return { bytes, sha256: createHash("sha256").update(bytes).digest("hex") };
}
