import { createHarmonyParser } from "../../src/parsers/harmony/harmony-parser.ts";
import type { OutputParser } from "../../src/parsers/output-parser.ts";
import { REASONING_FORMATS } from "../../src/parsers/reasoning/registry.ts";
import { JSON_FORMATS } from "../../src/parsers/tool/json-formats.ts";
import { MARKUP_FORMATS } from "../../src/parsers/tool/markup/markup-formats.ts";
import { readToolRows } from "../../test/unit/parsers/tool/tool-rows.ts";
import { TOOLS } from "../../test/unit/parsers/tool/tools.ts";
import { formatTable, median } from "./table.ts";

/**
 * How fast each format is read: one call with a large string argument, or one long thought, in pieces of the size of a
 * token. Growth: the time for a character at the larger size over that at the smaller one; 1 is linear.
 */
const PIECE = 5;
const SMALL = 64_000;
const LARGE = 1_000_000;
const ROUNDS = 5;

interface Subject {
  readonly name: string;
  readonly create: () => OutputParser;
  /** An output with an argument or a thought of so many characters. */
  readonly output: (length: number) => string;
}

const subjects: readonly Subject[] = [
  ...[
    ...JSON_FORMATS.map((format) => ({ format, file: format.name })),
    ...MARKUP_FORMATS.map((format) => ({ format, file: `markup/${format.name}` })),
  ].flatMap(({ format, file }) => {
    const row = readToolRows(file).find(
      ({ input, calls }) => calls?.length === 1 && input.includes("Paris"),
    );
    if (row === undefined) throw new Error(`${format.name} has no row to grow`);
    return [
      {
        name: format.name,
        create: () => format.create({ tools: TOOLS, earlierCalls: 0 }),
        output: (length: number) => row.input.replace("Paris", filler(length)),
      },
    ];
  }),
  {
    name: "gpt-oss",
    create: () => createHarmonyParser(),
    output: (length) =>
      `<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "${filler(length)}"}<|call|>`,
  },
  ...REASONING_FORMATS.map((format) => ({
    name: `${format.name} (thought)`,
    create: () => format.create({ startsInReasoning: true }),
    output: filler,
  })),
];

const rows = subjects.map((subject) => {
  measure(subject, SMALL);
  const small: number[] = [];
  const large: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    small.push(measure(subject, SMALL));
    large.push(measure(subject, LARGE));
  }
  const growth = large.map((value, index) => value / (small[index] ?? Number.NaN));
  return [subject.name, (1 / median(large)).toFixed(1), median(growth).toFixed(2)];
});
console.log(formatTable(["format", "million characters a second", "growth, 64 K to 1 M"], rows));

/** Text without anything that a format gives a meaning to. */
function filler(length: number): string {
  return "The quick brown fox jumps over 13 lazy dogs. ".repeat(length / 45 + 1).slice(0, length);
}

/** Microseconds for each character. */
function measure(subject: Subject, length: number): number {
  const output = subject.output(length);
  const parser = subject.create();
  let told = 0;
  const startedAt = performance.now();
  for (let from = 0; from < output.length; from += PIECE) {
    for (const event of parser.push(output.slice(from, from + PIECE))) {
      if (event.type === "tool-call-delta") told += event.arguments.length;
      else if (event.type !== "tool-call-start" && event.type !== "tool-call-end")
        told += event.text.length;
    }
  }
  parser.end();
  const elapsed = performance.now() - startedAt;
  if (told < length / 2) throw new Error(`${subject.name} told ${told} of ${length} characters`);
  return (elapsed * 1000) / output.length;
}
