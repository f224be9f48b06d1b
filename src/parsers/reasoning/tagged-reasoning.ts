import type { ReasoningFormat } from "../output-parser.ts";
import type { PhaseGrammar, PhaseMarker } from "./phase-parser.ts";
import { createPhaseParser } from "./phase-parser.ts";
import type { StartRule } from "./starts-in-reasoning.ts";
import { createStart } from "./starts-in-reasoning.ts";

/**
 * A format that writes its thought between two markers, as a row of data.
 *
 * White space stays where it is, after the markers too; only before a marker that opens the reply it is dropped with the
 * marker, which keeps the content of a reply that was cut off in its thought empty.
 */
export interface TaggedFormat {
  readonly name: string;
  /** Spellings of the start marker, each with its own tokenizer; dropped where a reply begins, however often. */
  readonly starts: readonly string[];
  readonly ends: readonly string[];
  /** Starts of tool calls that end a thought which was never closed. They are passed on. */
  readonly toolStarts?: readonly string[];
  /** The end of a tool call inside a thought; the thought goes on after it. */
  readonly toolEnd?: string;
  /** Thoughts may begin anywhere, not only where the reply begins. */
  readonly opensAnywhere?: true;
  /** A reply without a thought may begin with one end marker that means nothing. */
  readonly dropsLeadingEnd?: true;
  /** What is in no marker as it stands but has a token, see ReasoningFormat.markers. */
  readonly tokens?: readonly string[];
  readonly start: Pick<StartRule, "asked" | "byDefault" | "isMarkerOptional">;
}

type Name = "text" | "bare" | "thought" | "answer" | "tool";

/** The format that a row describes. */
export function createTaggedFormat(format: TaggedFormat): ReasoningFormat {
  const { name, starts, ends, toolStarts = [], tokens = [] } = format;
  const grammar = toGrammar(format);
  const rule: StartRule = { opens: starts, closes: ends, ...format.start };
  return {
    name,
    markers: [
      ...starts,
      ...ends,
      ...toolStarts,
      ...(format.toolEnd === undefined ? [] : [format.toolEnd]),
      ...tokens,
    ],
    ...createStart(rule),
    create: (options) => createPhaseParser(grammar, options.startsInReasoning ? "thought" : "text"),
  };
}

function toGrammar(format: TaggedFormat): PhaseGrammar<Name> {
  const { starts, ends, toolStarts = [], toolEnd } = format;
  const open = starts.map((text): PhaseMarker<Name> => ({ text, to: "thought" }));
  const anywhere = format.opensAnywhere === true ? open : [];
  const strayEnd =
    format.dropsLeadingEnd === true
      ? ends.map((text): PhaseMarker<Name> => ({ text, to: "bare" }))
      : [];
  const calls = toolStarts.map((text): PhaseMarker<Name> => ({
    text,
    to: toolEnd === undefined ? "answer" : "tool",
    isKept: true,
  }));
  return {
    phases: {
      text: { emits: "text-delta", opening: [...open, ...strayEnd], markers: anywhere },
      bare: { emits: "text-delta", opening: open, markers: anywhere },
      thought: {
        emits: "reasoning-delta",
        opening: open,
        markers: [...ends.map((text): PhaseMarker<Name> => ({ text, to: "answer" })), ...calls],
      },
      answer: { emits: "text-delta", markers: anywhere },
      tool: {
        emits: "text-delta",
        markers: toolEnd === undefined ? [] : [{ text: toolEnd, to: "thought", isKept: true }],
      },
    },
  };
}
