import type { OutputParser, ReasoningFormat } from "../output-parser.ts";

const THINK = "<think>";

/** For clients that part thoughts from answers themselves: all is content, behind the marker that the prompt ate. */
export const minimaxAppendThink: ReasoningFormat = {
  name: "minimax-append-think",
  markers: [THINK, "</think>"],
  startsInReasoning: () => false,
  expectsReasoning: () => true,
  create: createAppendParser,
};

function createAppendParser(): OutputParser {
  let prefix = THINK;
  return {
    heldLength: 0,
    push(text) {
      if (text === "") return [];
      const whole = prefix + text;
      prefix = "";
      return [{ type: "text-delta", text: whole }];
    },
    end: () => [],
  };
}
