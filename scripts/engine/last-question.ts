/** How templates begin a user turn, and what ends it. The model's own markers decide, so the order does not matter. */
const TURNS: readonly { readonly start: string; readonly ends: readonly string[] }[] = [
  { start: "<|im_start|>user\n", ends: ["<|im_end|>"] },
  { start: "<|im_user|>user<|im_middle|>", ends: ["<|im_end|>"] },
  { start: "<|start_header_id|>user<|end_header_id|>\n\n", ends: ["<|eot_id|>"] },
  { start: "<|header_start|>user<|header_end|>\n\n", ends: ["<|eot|>"] },
  { start: "<start_of_turn>user\n", ends: ["<end_of_turn>"] },
  { start: "<|start|>user<|message|>", ends: ["<|end|>"] },
  { start: "<｜User｜>", ends: ["<｜Assistant｜>"] },
  { start: "<|User|>", ends: ["<|Assistant|>"] },
  { start: "[INST]", ends: ["[/INST]"] },
  { start: "<|user|>", ends: ["<|end|>", "<|assistant|>", "</s>"] },
  { start: "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>", ends: ["<|END_OF_TURN_TOKEN|>"] },
  { start: "### Instruction:", ends: ["### Response:"] },
  { start: "\nUSER: ", ends: ["ASSISTANT:", "</s>"] },
  { start: "\nHuman: ", ends: ["\nAssistant:"] },
];

const MAX_QUESTION_CHARS = 200;
const MAX_FALLBACK_LINES = 3;

/** The last thing that a user said in a rendered prompt, shortened; the prompt's last lines when no turn is marked. */
export function lastQuestion(prompt: string): string {
  let best: { readonly at: number; readonly turn: (typeof TURNS)[number] } | undefined;
  for (const turn of TURNS) {
    const found = prompt.lastIndexOf(turn.start);
    const at = found + turn.start.length;
    if (found >= 0 && at > (best?.at ?? -1)) best = { at, turn };
  }
  if (best === undefined) return shorten(lastLines(prompt));
  const { at, turn } = best;
  const ends = turn.ends.map((end) => prompt.indexOf(end, at)).filter((end) => end >= 0);
  return shorten(prompt.slice(at, Math.min(...ends, prompt.length)));
}

function lastLines(prompt: string): string {
  const lines = prompt.split("\n").filter((line) => line.trim() !== "");
  return lines.slice(-MAX_FALLBACK_LINES).join("\n");
}

function shorten(text: string): string {
  const trimmed = text.trim();
  if (trimmed.length <= MAX_QUESTION_CHARS) return trimmed;
  return `${trimmed.slice(0, MAX_QUESTION_CHARS).toWellFormed()}…`;
}
