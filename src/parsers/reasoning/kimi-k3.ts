import type { ReasoningFormat } from "../output-parser.ts";
import type { PhaseGrammar, PhaseMarker } from "./phase-parser.ts";
import { createPhaseParser } from "./phase-parser.ts";
import type { StartRule } from "./starts-in-reasoning.ts";
import { createStart } from "./starts-in-reasoning.ts";

const OPEN = "<|open|>";
const CLOSE = "<|close|>";
const SEP = "<|sep|>";
const END_OF_MESSAGE = "<|end_of_msg|>";

const THINK_OPEN = `${OPEN}think${SEP}`;
const THINK_CLOSE = `${CLOSE}think${SEP}`;
const RESPONSE_OPEN = `${OPEN}response${SEP}`;
const RESPONSE_CLOSE = `${CLOSE}response${SEP}`;
const MESSAGE_CLOSE = `${CLOSE}message${SEP}`;
const TOOLS_OPEN = `${OPEN}tools${SEP}`;
const TOOLS_CLOSE = `${CLOSE}tools${SEP}`;

type Name = "thought" | "answer" | "tools";

const reopen: PhaseMarker<Name> = { text: THINK_OPEN, to: "thought" };
const tools: PhaseMarker<Name> = { text: TOOLS_OPEN, to: "tools", isKept: true };

/** Elements of a message: `think`, `response` (unwrapped) and `tools` (passed on as it is, for the tool parser). */
const GRAMMAR: PhaseGrammar<Name> = {
  phases: {
    thought: {
      emits: "reasoning-delta",
      opening: [reopen],
      // The next element, or the end of the message, ends a thought that was never closed.
      markers: [
        { text: THINK_CLOSE, to: "answer" },
        { text: RESPONSE_OPEN, to: "answer" },
        { text: MESSAGE_CLOSE, to: "answer" },
        { text: END_OF_MESSAGE, to: "answer" },
        tools,
      ],
    },
    answer: {
      emits: "text-delta",
      opening: [reopen, { text: RESPONSE_OPEN, to: "answer" }],
      markers: [
        { text: RESPONSE_OPEN, to: "answer" },
        { text: RESPONSE_CLOSE, to: "answer" },
        { text: MESSAGE_CLOSE, to: "answer" },
        { text: END_OF_MESSAGE, to: "answer" },
        reopen,
        tools,
      ],
    },
    tools: {
      emits: "text-delta",
      markers: [{ text: TOOLS_CLOSE, to: "answer", isKept: true }],
    },
  },
  leadTokens: [OPEN, CLOSE],
};

const START: StartRule = {
  opens: [THINK_OPEN],
  closes: [THINK_CLOSE, RESPONSE_OPEN],
  asked: ({ templateKwargs }) => {
    const { thinking } = templateKwargs;
    return typeof thinking === "boolean" ? thinking : undefined;
  },
  byDefault: true,
};

/** Kimi K3: markers of three tokens each. */
export const kimiK3Reasoning: ReasoningFormat = {
  name: "kimi_k3",
  markers: [OPEN, CLOSE, SEP, END_OF_MESSAGE],
  ...createStart(START),
  create: (options) => createPhaseParser(GRAMMAR, options.startsInReasoning ? "thought" : "answer"),
};
