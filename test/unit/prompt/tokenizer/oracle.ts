import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

import { createRandom } from "../../../support/random.ts";
import type { ModelName } from "./compiled-models.ts";

const CASES = new URL("../../../cases/tokenizer/", import.meta.url);

/** Entries of the vocabulary that share one hash. */
export const BLOCK = 1024;

/** What scripts/oracle/tokenizer.py wrote for a model; lists of hashes are u32 in base64. */
interface ModelFixture {
  readonly vocabSize: number;
  /** The token of each single byte. */
  readonly byteIds: readonly number[];
  readonly addedIds: readonly number[];
  readonly strings: string;
  readonly withSpecialTokens: string;
  readonly entries: string;
  readonly decoded: string;
  readonly decodedSkippingSpecial: string;
}

export function readFixture(name: ModelName): ModelFixture {
  const fixture: ModelFixture = JSON.parse(readFileSync(new URL(`${name}.json`, CASES), "utf8"));
  return fixture;
}

export function readStrings(): readonly string[] {
  const strings: string[] = JSON.parse(
    gunzipSync(readFileSync(new URL("strings.json.gz", CASES))).toString("utf8"),
  );
  return strings;
}

export function unpack(words: string): readonly number[] {
  const bytes = Buffer.from(words, "base64");
  return Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32LE(index * 4));
}

export function hashBytes(bytes: Uint8Array, start = 0x811c9dc5): number {
  let hash = start;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** Of the ids as little-endian u32. */
export function hashIds(ids: Uint32Array, start?: number): number {
  return hashBytes(new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength), start);
}

const RANDOM_SEQUENCES = 800;
const BYTE_SEQUENCES = 200;
const CHARACTERS = [0x41, 0xe9, 0x4e2d, 0x1f600, 0xfffd, 0x10348] as const;

/** The id sequences that the fixture's decoded texts belong to. */
export function listSequences(fixture: ModelFixture): readonly (readonly number[])[] {
  const sequences: number[][] = [];
  for (let index = 0; index < RANDOM_SEQUENCES; index++) {
    sequences.push(randomSequence(fixture, index));
  }
  for (let index = 0; index < BYTE_SEQUENCES; index++) {
    sequences.push(Array.from(nearlyValidBytes(index), (byte) => fixture.byteIds[byte] ?? -1));
  }
  return sequences;
}

function randomSequence(fixture: ModelFixture, index: number): number[] {
  const random = createRandom(index + 1);
  const mode = index % 4;
  const ids: number[] = [];
  const count = 1 + random(60);
  while (ids.length < count) {
    const kind = random(8);
    if (mode === 0 || (mode === 2 && kind < 3) || (mode === 3 && kind === 1)) {
      ids.push(random(fixture.vocabSize));
    } else if (mode === 3 && kind === 0) {
      ids.push(fixture.addedIds[random(fixture.addedIds.length)] ?? -1);
    } else {
      ids.push(fixture.byteIds[random(fixture.byteIds.length)] ?? -1);
    }
  }
  return ids;
}

function nearlyValidBytes(index: number): Uint8Array {
  const random = createRandom(index + 100_000);
  let text = "";
  for (let left = 1 + random(12); left > 0; left--) {
    text += String.fromCodePoint((CHARACTERS[random(CHARACTERS.length)] ?? 0) + random(3));
  }
  const bytes = new TextEncoder().encode(text);
  return bytes.subarray(0, Math.max(0, bytes.length - random(3)));
}
