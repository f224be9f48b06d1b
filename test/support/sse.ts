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
    readonly delta: { readonly role?: string; readonly content?: string };
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
