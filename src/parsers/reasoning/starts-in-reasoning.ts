import type { ReasoningContext, ReasoningFormat } from "../output-parser.ts";

/** What decides in which state the replies of a format start. */
export interface StartRule {
  /** Markers that open a thought, and markers after which the prompt is no longer in one. */
  readonly opens: readonly string[];
  readonly closes: readonly string[];
  /** What the request says about thinking; undefined: nothing. */
  readonly asked: (context: ReasoningContext) => boolean | undefined;
  /** The state when neither the prompt nor the request decides. */
  readonly byDefault: boolean;
  /** The model thinks without a start marker too, so a template that only knows the marker proves nothing. */
  readonly isMarkerOptional?: true;
}

/**
 * Texts with which templates delimit turns, by their look: `<|im_end|>`, `<｜User｜>`, `<turn|>`, `<end_of_turn>`, `</s>`,
 * `[INST]`, `[|user|]`, `]~b]`.
 */
const TURN_TOKEN = new RegExp(
  [
    "<[|｜][^<>\\s]{1,64}>",
    "<[^<>\\s]{1,64}[|｜]>",
    "</?(?:s|bos|eos|eot|eom|role|[a-z]+_of_[a-z]+|im_[a-z]+|extra_id_\\d+|SPECIAL_\\d+)>",
    "\\[\\|[a-z]+\\|\\]",
    "\\[/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|MODEL_SETTINGS|TOOL_RESULTS|TOOL_CALLS)\\]",
    "\\]~!?b[\\[\\]]",
    "\\[e~\\[",
  ].join("|"),
  "g",
);

/** Code units at a text's end in which its last turn token is looked for first. */
const FIRST_WINDOW = 1_024;

/**
 * Does a reply to this prompt start inside a thought? One that continues a given text does when that text begins with a
 * thought that it leaves open. Else the first of these decides that says something:
 *
 * 1. The last marker of the prompt, if it belongs to the turn that is open at the prompt's end: only white space follows
 *    it, or the text of a continued final message, in which no turn token stands; an opening marker before such text
 *    must also be the first thing of its turn. So markers in earlier turns and quoted ones say nothing.
 * 2. A final message that is continued and has no marker: it is an answer.
 * 3. What the request asks for.
 * 4. A template that writes the opening marker somewhere, but not here: the model writes it itself if it thinks.
 * 5. The format's default.
 */
function startsInReasoning(rule: StartRule, context: ReasoningContext): boolean {
  const { prompt, continuedText } = context;
  if (continuedText !== undefined) return endsInThought(continuedText, rule);
  const byPrompt = readOpenTurn(prompt, rule);
  if (byPrompt !== undefined) return byPrompt;
  if (continuesText(prompt)) return false;
  const asked = rule.asked(context);
  if (asked !== undefined) return asked;
  if (rule.isMarkerOptional !== true && rule.opens.some((text) => context.template.includes(text)))
    return false;
  return rule.byDefault;
}

/**
 * May a reply to this prompt begin with a thought, its own start marker included? As above, but for the template: one that
 * leaves the marker to the model says that it thinks.
 */
function expectsReasoning(rule: StartRule, context: ReasoningContext): boolean {
  const { prompt, continuedText } = context;
  if (continuedText !== undefined) return endsInThought(continuedText, rule);
  const byPrompt = readOpenTurn(prompt, rule);
  if (byPrompt !== undefined) return byPrompt;
  if (continuesText(prompt)) return false;
  return rule.asked(context) ?? rule.byDefault;
}

/** Both questions about the start of a reply, for a format's rule. */
export function createStart(
  rule: StartRule,
): Pick<ReasoningFormat, "startsInReasoning" | "expectsReasoning"> {
  return {
    startsInReasoning: (context) => startsInReasoning(rule, context),
    expectsReasoning: (context) => expectsReasoning(rule, context),
  };
}

/** A continued text is in its thought when it begins with one that it does not close. */
function endsInThought(text: string, { opens, closes }: StartRule): boolean {
  const start = text.trimStart();
  return opens.some((marker) => start.startsWith(marker)) && lastOf(text, closes).start < 0;
}

/** True: a thought is open at the prompt's end; false: it was closed there; undefined: no marker tells. */
function readOpenTurn(prompt: string, rule: StartRule): boolean | undefined {
  const open = lastOf(prompt, rule.opens);
  const close = lastOf(prompt, rule.closes);
  const last = open.end > close.end ? open : close;
  if (last.start < 0) return undefined;
  const isOpen = last === open;
  const after = prompt.slice(last.end);
  if (after.trim() === "") return isOpen;
  if (findTurnToken(after) !== undefined) return undefined;
  const turn = findTurnToken(prompt.slice(0, last.start));
  // A prompt without turn tokens does not show where its turns end.
  if (turn === undefined) return undefined;
  if (!isOpen) return false;
  // The thought may quote its own marker: what counts is how the turn begins.
  const before = prompt.slice(turn, last.start);
  const first = Math.min(...rule.opens.map((text) => indexOrEnd(before, text)));
  return isRole(before.slice(0, first)) && lastOf(before, rule.closes).start < 0 ? true : undefined;
}

function indexOrEnd(text: string, part: string): number {
  const index = text.indexOf(part);
  return index < 0 ? text.length : index;
}

/** Does the last turn hold text already, beyond the line with its role? */
function continuesText(prompt: string): boolean {
  const turn = findTurnToken(prompt);
  // A single token begins the text; it does not show where turns end.
  if (turn === undefined || findTurnToken(prompt.slice(0, turn - 1)) === undefined) return false;
  const text = prompt.slice(turn).trimStart();
  return text !== "" && !(isRole(text) && text.includes("\n"));
}

/** A turn's header after its token: nothing, or one word. */
function isRole(text: string): boolean {
  return /^\w*$/.test(text.trim());
}

/** Where the last turn token ends. */
function findTurnToken(text: string): number | undefined {
  // From the end: prompts are long, and their last turns are short.
  for (let window = FIRST_WINDOW; ; window *= 16) {
    const from = Math.max(0, text.length - window);
    let end: number | undefined;
    for (const match of text.slice(from).matchAll(TURN_TOKEN)) end = match.index + match[0].length;
    if (end !== undefined) return from + end;
    if (from === 0) return undefined;
  }
}

function lastOf(text: string, markers: readonly string[]): { start: number; end: number } {
  let best = { start: -1, end: -1 };
  for (const marker of markers) {
    const start = text.lastIndexOf(marker);
    if (start >= 0 && start + marker.length > best.end) {
      best = { start, end: start + marker.length };
    }
  }
  return best;
}
