import type { ReasoningFormat } from "../output-parser.ts";
import type { PhaseGrammar, PhaseMarker } from "./phase-parser.ts";
import { createPhaseParser } from "./phase-parser.ts";
import type { StartRule } from "./starts-in-reasoning.ts";
import { createStart } from "./starts-in-reasoning.ts";

const START_THINKING = "<|START_THINKING|>";
const END_THINKING = "<|END_THINKING|>";
const START_ACTION = "<|START_ACTION|>";
const END_ACTION = "<|END_ACTION|>";
/** Command 4 says text, its forerunners say response. */
const TEXT_STARTS = ["<|START_TEXT|>", "<|START_RESPONSE|>"];
const TEXT_ENDS = ["<|END_TEXT|>", "<|END_RESPONSE|>"];

type Name = "thought" | "between" | "answer" | "action";

const think: PhaseMarker<Name> = { text: START_THINKING, to: "thought" };
const act: PhaseMarker<Name> = { text: START_ACTION, to: "action", isKept: true };
const answers = TEXT_STARTS.map((text): PhaseMarker<Name> => ({ text, to: "answer" }));
const answerEnds = TEXT_ENDS.map((text): PhaseMarker<Name> => ({ text, to: "between" }));

/**
 * Blocks: a thought, then a text or an action; the action is passed on as it is, for the tool parser. Text that stands
 * in no block is content too, so that an answer without its markers is not lost; white space there is layout.
 */
const GRAMMAR: PhaseGrammar<Name> = {
  phases: {
    thought: {
      emits: "reasoning-delta",
      opening: [think],
      markers: [{ text: END_THINKING, to: "between" }, ...answers, act],
    },
    between: {
      emits: "text-delta",
      dropsLeadingSpace: true,
      markers: [think, ...answers, ...answerEnds, act],
    },
    answer: {
      emits: "text-delta",
      opening: [think, ...answers],
      markers: [think, ...answers, ...answerEnds, act],
    },
    action: {
      emits: "text-delta",
      markers: [{ text: END_ACTION, to: "between", isKept: true }],
    },
  },
};

const START: StartRule = {
  opens: [START_THINKING],
  closes: [END_THINKING, ...TEXT_STARTS, START_ACTION],
  asked: ({ templateKwargs }) => {
    const { reasoning } = templateKwargs;
    return typeof reasoning === "boolean" ? reasoning : undefined;
  },
  byDefault: true,
};

/** Cohere's Command models: typed blocks. */
export const cohereCommand4Reasoning: ReasoningFormat = {
  name: "cohere_command4",
  markers: [START_THINKING, END_THINKING, ...TEXT_STARTS, ...TEXT_ENDS, START_ACTION, END_ACTION],
  ...createStart(START),
  create: (options) => createPhaseParser(GRAMMAR, options.startsInReasoning ? "thought" : "answer"),
};
