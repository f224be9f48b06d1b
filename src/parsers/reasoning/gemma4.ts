import type { ReasoningFormat } from "../output-parser.ts";
import type { PhaseGrammar, PhaseMarker } from "./phase-parser.ts";
import { createPhaseParser } from "./phase-parser.ts";
import type { StartRule } from "./starts-in-reasoning.ts";
import { createStart } from "./starts-in-reasoning.ts";

const CHANNEL = "<|channel>";
const CHANNEL_END = "<channel|>";
const THOUGHT = `${CHANNEL}thought`;

type Name = "thought" | "answer";

const open: readonly PhaseMarker<Name>[] = [
  { text: `${THOUGHT}\n`, to: "thought" },
  // An empty thought without the label's newline.
  { text: `${THOUGHT}${CHANNEL_END}`, to: "answer" },
];

/** Only a channel with the label `thought` is a thought; the label is part of the marker. */
const GRAMMAR: PhaseGrammar<Name> = {
  phases: {
    thought: {
      emits: "reasoning-delta",
      opening: open,
      markers: [{ text: CHANNEL_END, to: "answer" }],
    },
    answer: { emits: "text-delta", opening: open, markers: open },
  },
  leadTokens: [CHANNEL],
};

const START: StartRule = {
  opens: [THOUGHT],
  closes: [CHANNEL_END],
  asked: ({ templateKwargs }) => {
    const { enable_thinking: isOn } = templateKwargs;
    return typeof isOn === "boolean" ? isOn : undefined;
  },
  byDefault: false,
};

/** Gemma 4: labelled channels. The markers are special tokens, so a thought may begin anywhere. */
export const gemma4Reasoning: ReasoningFormat = {
  name: "gemma4",
  markers: [CHANNEL, CHANNEL_END],
  ...createStart(START),
  create: (options) => createPhaseParser(GRAMMAR, options.startsInReasoning ? "thought" : "answer"),
};
