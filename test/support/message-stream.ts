/** A stream of /v1/messages, read as strictly as the pickiest client does. */
export interface MessageTranscript {
  readonly raw: string;
  /** Names of the events in their order, pings left out. */
  readonly names: readonly string[];
  readonly pings: number;
  /** What the events add up to. */
  readonly message: FoldedMessage;
  readonly error: FoldedError | null;
  /** `message_stop` came. */
  readonly isWhole: boolean;
}

export interface FoldedMessage {
  readonly id: string;
  readonly model: string;
  readonly content: readonly FoldedBlock[];
  readonly stop_reason: string | null;
  readonly stop_sequence: string | null;
  readonly usage: MessageUsage;
}

export interface MessageUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
}

export type FoldedBlock =
  | { readonly type: "text"; text: string }
  | { readonly type: "thinking"; thinking: string; signature: string }
  | { readonly type: "tool_use"; readonly id: string; readonly name: string; input: unknown };

interface FoldedError {
  readonly type: string;
  readonly message: string;
}

interface WireEvent {
  readonly type: string;
  readonly index?: number;
  readonly message?: FoldedMessage;
  readonly content_block?: FoldedBlock;
  readonly delta?: Readonly<Record<string, unknown>>;
  readonly usage?: MessageUsage;
  readonly error?: FoldedError;
}

export async function readMessageStream(response: Response): Promise<MessageTranscript> {
  return foldMessageStream(await response.text());
}

/** Throws when the events are not in the order, or of the shape, that clients rely on. */
export function foldMessageStream(raw: string): MessageTranscript {
  const fold = new StreamFold();
  const frames = raw.split("\n\n");
  if (frames.pop() !== "") throw new Error("the last frame is not ended");
  for (const frame of frames) fold.push(parseFrame(frame));
  return fold.transcript(raw);
}

function parseFrame(frame: string): WireEvent {
  const match = /^event: (\w+)\ndata: (\{.*\})$/.exec(frame);
  if (match === null) throw new Error(`not a frame: ${frame}`);
  const event = JSON.parse(match[2] ?? "") as WireEvent;
  if (event.type !== match[1]) throw new Error(`${event.type} in an event named ${match[1]}`);
  return event;
}

class StreamFold {
  readonly #names: string[] = [];
  readonly #blocks: FoldedBlock[] = [];
  #message: FoldedMessage | null = null;
  #open: FoldedBlock | null = null;
  #json = "";
  #pings = 0;
  #error: FoldedError | null = null;
  #isWhole = false;

  push(event: WireEvent): void {
    if (event.type === "ping") {
      this.#pings += 1;
      return;
    }
    if (this.#isWhole || this.#error !== null) throw new Error(`${event.type} after the end`);
    if ((this.#names.length === 0) !== (event.type === "message_start")) {
      throw new Error(`${event.type} where message_start was due, or another one`);
    }
    this.#names.push(event.type);
    this.#fold(event);
  }

  transcript(raw: string): MessageTranscript {
    if (this.#message === null) throw new Error("there is no message_start");
    return {
      raw,
      names: this.#names,
      pings: this.#pings,
      message: { ...this.#message, content: this.#blocks },
      error: this.#error,
      isWhole: this.#isWhole,
    };
  }

  #fold(event: WireEvent): void {
    switch (event.type) {
      case "message_start":
        this.#message = event.message ?? null;
        break;
      case "content_block_start":
        this.#start(event);
        break;
      case "content_block_delta":
        this.#expectOpen(event, true);
        this.#add(event.delta ?? {});
        break;
      case "content_block_stop":
        this.#expectOpen(event, true);
        this.#stop();
        break;
      case "message_delta":
        this.#expectOpen(event, false);
        this.#message = { ...this.#message, ...event.delta, usage: event.usage } as FoldedMessage;
        break;
      case "message_stop":
        if (this.#message?.stop_reason == null) throw new Error("there is no stop_reason");
        this.#isWhole = true;
        break;
      case "error":
        this.#expectOpen(event, false);
        this.#error = event.error ?? null;
        break;
      default:
        throw new Error(`unknown event ${event.type}`);
    }
  }

  #expectOpen(event: WireEvent, isOpen: boolean): void {
    if ((this.#open !== null) !== isOpen) throw new Error(`${event.type} at the wrong place`);
    if (isOpen && event.index !== this.#blocks.length) {
      throw new Error(`${event.type} has index ${event.index}, not ${this.#blocks.length}`);
    }
  }

  #start(event: WireEvent): void {
    this.#expectOpen(event, false);
    if (event.index !== this.#blocks.length)
      throw new Error(`block ${event.index} is out of order`);
    this.#open = event.content_block ?? null;
    this.#json = "";
    if (this.#open?.type === "tool_use" && JSON.stringify(this.#open.input) !== "{}") {
      throw new Error("a call starts with its input");
    }
  }

  #add(delta: Readonly<Record<string, unknown>>): void {
    const text = [delta["text"], delta["thinking"], delta["partial_json"], delta["signature"]].find(
      (value) => typeof value === "string",
    );
    if (text === undefined || text === "") throw new Error("an empty delta");
    const open = this.#open;
    const kind = `${open?.type}:${String(delta["type"])}`;
    if (open?.type === "text" && kind === "text:text_delta") open.text += text;
    else if (open?.type === "thinking" && kind === "thinking:thinking_delta") open.thinking += text;
    else if (open?.type === "thinking" && kind === "thinking:signature_delta")
      open.signature = text;
    else if (kind === "tool_use:input_json_delta") this.#json += text;
    else throw new Error(`a delta in the wrong block: ${kind}`);
  }

  #stop(): void {
    const open = this.#open;
    if (open === null) return;
    if (open.type === "thinking" && open.signature === "") throw new Error("an unsigned thought");
    if (open.type === "tool_use" && this.#json !== "") open.input = this.#parseInput();
    this.#blocks.push(open);
    this.#open = null;
  }

  /** A call that was cut off has no whole JSON: its text. */
  #parseInput(): unknown {
    try {
      return JSON.parse(this.#json);
    } catch {
      return this.#json;
    }
  }
}
