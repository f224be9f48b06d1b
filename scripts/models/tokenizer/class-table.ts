import { BLOCK_BITS } from "../../../src/prompt/tokenizer/character-classes.ts";
import type { ClassTable } from "../../../src/prompt/tokenizer/character-classes.ts";
import { CLASS_RUNS } from "./unicode-tables.ts";

const BLOCK_SIZE = 1 << BLOCK_BITS;

/** The classes of all code points, as a table in which equal blocks are one. */
export function buildClassTable(): ClassTable {
  const classes = Buffer.alloc(0x110000);
  let position = 0;
  for (const run of CLASS_RUNS.split(" ")) {
    const [characterClass = "", length = ""] = run.split(".");
    const end = position + Number.parseInt(length, 36);
    classes.fill(Number.parseInt(characterClass, 36), position, end);
    position = end;
  }
  const starts = new Uint16Array(classes.length / BLOCK_SIZE);
  const startOf = new Map<string, number>();
  const blocks: Buffer[] = [];
  for (let index = 0; index < starts.length; index++) {
    const block = classes.subarray(index * BLOCK_SIZE, (index + 1) * BLOCK_SIZE);
    const key = block.toString("latin1");
    const start = startOf.get(key) ?? blocks.length * BLOCK_SIZE;
    if (!startOf.has(key)) blocks.push(block);
    startOf.set(key, start);
    starts[index] = start;
  }
  return { starts, blocks: Uint8Array.from(Buffer.concat(blocks)) };
}
