import { describe, it } from "vitest";

import type { OutputEvent, OutputParser } from "../../src/parsers/output-parser.ts";
import { createRandom } from "./random.ts";

/** What a whole output means. */
export interface OutputRow {
  /** States the behaviour. */
  readonly name: string;
  readonly input: string;
  readonly content: string;
  readonly reasoning?: string;
  readonly calls?: readonly RowCall[];
  /** Where the input came from: a model and a date, a section of a specification, or "made up". */
  readonly source: string;
}

export interface RowCall {
  readonly name: string;
  /** Compared as JSON values when the call is complete, as text (a JSON string here) when it was cut off. */
  readonly arguments: unknown;
  readonly id?: string;
  readonly isCutOff?: true;
}

export interface ParsedOutput {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly ParsedCall[];
}

export interface ParsedCall {
  readonly name: string;
  readonly id: string | undefined;
  readonly arguments: string;
  readonly isComplete: boolean;
}

/** Runs a parser over pieces; checks what holds for every parser on the way. */
export function runParser(parser: OutputParser, pieces: readonly string[]): readonly OutputEvent[] {
  const events: OutputEvent[] = [];
  let length = 0;
  for (const piece of pieces) {
    events.push(...parser.push(piece));
    length += piece.length;
    if (parser.heldLength < 0 || parser.heldLength > length) {
      throw new Error(`heldLength ${parser.heldLength} of ${length}`);
    }
  }
  events.push(...parser.end());
  if (parser.heldLength !== 0) throw new Error(`heldLength ${parser.heldLength} after the end`);
  return joinDeltas(events);
}

/** Neighbouring deltas of one kind as one. */
export function joinDeltas(events: readonly OutputEvent[]): readonly OutputEvent[] {
  const joined: OutputEvent[] = [];
  for (const event of events) {
    const last = joined.at(-1);
    if (event.type === "tool-call-delta" && last?.type === "tool-call-delta") {
      if (last.call === event.call) {
        joined[joined.length - 1] = { ...last, arguments: last.arguments + event.arguments };
        continue;
      }
    } else if (event.type === "text-delta" && last?.type === "text-delta") {
      joined[joined.length - 1] = { ...last, text: last.text + event.text };
      continue;
    } else if (event.type === "reasoning-delta" && last?.type === "reasoning-delta") {
      joined[joined.length - 1] = { ...last, text: last.text + event.text };
      continue;
    }
    joined.push(event);
  }
  return joined;
}

/** The fold of events; throws when they break the rules of OutputEvent. */
export function foldEvents(events: readonly OutputEvent[]): ParsedOutput {
  let content = "";
  let reasoning = "";
  const calls: { name: string; id: string | undefined; arguments: string; isComplete: boolean }[] =
    [];
  for (const event of events) {
    switch (event.type) {
      case "text-delta":
        if (event.text === "") throw new Error("an empty text-delta");
        content += event.text;
        break;
      case "reasoning-delta":
        if (event.text === "") throw new Error("an empty reasoning-delta");
        reasoning += event.text;
        break;
      case "tool-call-start":
        if (event.call !== calls.length) throw new Error(`call ${event.call} starts out of order`);
        calls.push({ name: event.name, id: event.id, arguments: "", isComplete: false });
        break;
      case "tool-call-delta":
      case "tool-call-end": {
        const call = calls.at(-1);
        if (call === undefined || event.call !== calls.length - 1 || call.isComplete) {
          throw new Error(`${event.type} of call ${event.call}, which is not open`);
        }
        if (event.type === "tool-call-end") call.isComplete = true;
        else if (event.arguments === "") throw new Error("an empty tool-call-delta");
        else call.arguments += event.arguments;
        break;
      }
    }
  }
  return { content, reasoning, calls };
}

/** The row's view of a parsed output. */
function toRowView(parsed: ParsedOutput): Pick<OutputRow, "content" | "reasoning" | "calls"> {
  return {
    content: parsed.content,
    reasoning: parsed.reasoning,
    calls: parsed.calls.map(({ name, id, arguments: text, isComplete }) => ({
      name,
      arguments: isComplete ? JSON.parse(text) : text,
      ...(id === undefined ? {} : { id }),
      ...(isComplete ? {} : { isCutOff: true as const }),
    })),
  };
}

export interface SuiteOptions<Row extends OutputRow> {
  /** What is tested, for the report. */
  readonly title: string;
  readonly rows: readonly Row[];
  readonly create: (row: Row) => OutputParser;
  /** Special tokens: never cut by an engine, so some grammars may take them whole. Default: everything may be cut. */
  readonly seed?: number;
}

/** What every parser must do, over rows of data. */
export function describeOutputParser<Row extends OutputRow>(options: SuiteOptions<Row>): void {
  const { title, rows, create } = options;
  // oxlint-disable-next-line vitest/valid-title -- the suite is shared: its title comes from its user
  describe(title, () => {
    it.for(rows)("$name", (row, { expect }) => {
      const parsed = foldEvents(runParser(create(row), [row.input]));
      expect(toRowView(parsed)).toEqual({
        content: row.content,
        reasoning: row.reasoning ?? "",
        calls: row.calls ?? [],
      });
    });

    it.for(rows)("$name: the same for every way of cutting it", (row, { expect }) => {
      const whole = runParser(create(row), [row.input]);
      for (let at = 1; at < Math.min(row.input.length, 2_000); at++) {
        const pieces = [row.input.slice(0, at), row.input.slice(at)];
        expect(runParser(create(row), pieces), `cut at ${at}`).toEqual(whole);
      }
      expect(
        runParser(
          create(row),
          Array.from({ length: row.input.length }, (_, i) => row.input.charAt(i)),
        ),
      ).toEqual(whole);
      const expected = JSON.stringify(whole);
      const random = createRandom(options.seed ?? 1);
      const runs = row.input.length > MANY_CHARACTERS ? FEW_RUNS : RUNS;
      for (let run = 0; run < runs; run++) {
        const pieces = cutAt(row.input, chooseCuts(random, row.input.length));
        const events = runParser(create(row), pieces);
        // Comparing texts is quick; the matcher tells what differs.
        if (JSON.stringify(events) !== expected)
          expect(events, JSON.stringify(pieces)).toEqual(whole);
      }
    });

    it.for(rows)("$name: cut off anywhere, nothing is lost or doubled", (row, { expect }) => {
      const step = Math.max(1, Math.floor(row.input.length / 1_000));
      for (let length = 0; length < row.input.length; length += step) {
        const input = row.input.slice(0, length);
        const whole = runParser(create(row), [input]);
        // Folding checks the grammar of the events; a complete call's arguments must be JSON.
        const { calls, content, reasoning } = foldEvents(whole);
        // Where all of the input is content, so is every beginning, but for what may be a marker that was cut off.
        if (row.content === row.input && calls.length === 0) {
          const shown = reasoning + content;
          expect(input).toContain(shown);
          expect(input.replace(shown, "")).toMatch(/^\s*(?:[<\]].*)?$/s);
        }
        for (const call of calls) if (call.isComplete) JSON.parse(call.arguments);
        expect(runParser(create(row), Array.from(input)), `cut off at ${length}`).toEqual(whole);
      }
    });
  });
}

/** Random cuts of every row; fewer of the few that are long. */
const RUNS = 1_000;
const FEW_RUNS = 20;
const MANY_CHARACTERS = 5_000;

/** Up to twelve cuts, or, now and then, pieces of a few characters throughout. */
function chooseCuts(random: (limit: number) => number, length: number): number[] {
  if (length === 0) return [];
  if (random(4) > 0) return Array.from({ length: 1 + random(12) }, () => random(length));
  const longest = 1 + random(6);
  const cuts: number[] = [];
  for (let at = 0; at < length; at += 1 + random(longest)) cuts.push(at);
  return cuts;
}

export function cutAt(text: string, positions: readonly number[]): string[] {
  const sorted = [...new Set(positions)].filter((at) => at > 0 && at < text.length);
  sorted.sort((a, b) => a - b);
  return [0, ...sorted].map((start, index) => text.slice(start, sorted[index]));
}
