/** A parsed chat stream: the JSON of each data frame, and what was around them. */
export interface SseTranscript {
  readonly raw: string;
  readonly data: readonly string[];
  /** The JSON frames, without `[DONE]`. */
  readonly json: readonly ChatChunk[];
  readonly isDone: boolean;
}

/** What the tests look at in a chat.completion.chunk or an error frame. */
export interface ChatChunk {
  readonly id?: string;
  readonly object?: string;
  readonly model?: string;
  readonly choices?: readonly {
    readonly index: number;
    readonly delta: {
      readonly role?: string;
      readonly content?: string | null;
      readonly reasoning_content?: string | null;
      readonly tool_calls?: readonly ToolCallDelta[];
    };
    readonly logprobs?: { readonly content: readonly LogprobEntry[] } | null;
    readonly finish_reason: string | null;
    readonly matched_stop?: number | string | null;
  }[];
  readonly usage?: Usage | null;
  readonly error?: {
    readonly message: string;
    readonly type: string;
    readonly code: string | null;
  };
}

export interface ToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function: { readonly name?: string; readonly arguments?: string };
}

export interface LogprobEntry {
  readonly token: string;
  readonly logprob: number;
  readonly bytes: readonly number[];
  readonly top_logprobs: readonly { readonly token: string; readonly logprob: number }[];
}

/** One choice of a chat stream, its deltas joined. */
export interface FoldedChoice {
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly FoldedCall[];
  readonly logprobs: readonly LogprobEntry[];
  readonly finishReasons: readonly string[];
}

export interface FoldedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  readonly prompt_tokens_details: { readonly cached_tokens: number };
}

function parseSse(raw: string): SseTranscript {
  const data = raw
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => line.slice("data: ".length));
  return {
    raw,
    data,
    json: data.filter((text) => text !== "[DONE]").map((text) => JSON.parse(text) as ChatChunk),
    isDone: data.at(-1) === "[DONE]",
  };
}

export async function readSse(response: Response): Promise<SseTranscript> {
  return parseSse(await response.text());
}

/** The content that the deltas of choice 0 add up to. */
export function joinContent(transcript: SseTranscript): string {
  return transcript.json
    .flatMap((chunk) => chunk.choices ?? [])
    .map((choice) => choice.delta.content ?? "")
    .join("");
}

/** The choices of a chat stream by index; throws when a call's deltas are not as clients read them. */
export function foldChatStream(transcript: SseTranscript): Map<number, FoldedChoice> {
  const choices = new Map<number, OpenChoice>();
  for (const choice of transcript.json.flatMap((chunk) => chunk.choices ?? [])) {
    let open = choices.get(choice.index);
    if (open === undefined) {
      open = { content: "", reasoning: "", calls: [], logprobs: [], finishReasons: [] };
      choices.set(choice.index, open);
    }
    const { delta } = choice;
    open.content += delta.content ?? "";
    open.reasoning += delta.reasoning_content ?? "";
    for (const call of delta.tool_calls ?? []) addCall(open.calls, call);
    open.logprobs.push(...(choice.logprobs?.content ?? []));
    if (choice.finish_reason !== null) open.finishReasons.push(choice.finish_reason);
  }
  return choices;
}

interface OpenChoice {
  content: string;
  reasoning: string;
  readonly calls: { id: string; name: string; arguments: string }[];
  readonly logprobs: LogprobEntry[];
  readonly finishReasons: string[];
}

function addCall(calls: OpenChoice["calls"], delta: ToolCallDelta): void {
  const call = calls[delta.index];
  if (call === undefined) {
    const { id, type, function: called } = delta;
    if (delta.index !== calls.length) throw new Error(`call ${delta.index} comes out of order`);
    if (id === undefined || called.name === undefined || type !== "function") {
      throw new Error(`call ${delta.index} starts without id, type or name`);
    }
    calls.push({ id, name: called.name, arguments: called.arguments ?? "" });
    return;
  }
  if (delta.id !== undefined || delta.function.name !== undefined) {
    throw new Error(`call ${delta.index} starts twice`);
  }
  call.arguments += delta.function.arguments ?? "";
}
