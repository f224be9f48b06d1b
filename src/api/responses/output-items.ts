import type { FinishReason, GenerationEvent, TokenLogprob } from "../../core/generation-event.ts";
import { createCallItem, type CallItem } from "./call-item.ts";
import type { ItemEvent, ItemStatus, OutputItem } from "./item-event.ts";
import { createLogprobRuns } from "./logprob-run.ts";
import { createTextItem, type TextItem, type TextKind } from "./text-item.ts";
import type { ToolOrigin } from "./tool-names.ts";

export interface OutputItemsOptions {
  /** A new id with this prefix. */
  readonly createId: (prefix: string) => string;
  /** Tools by the name that the model sees. */
  readonly origins: ReadonlyMap<string, ToolOrigin>;
}

/**
 * The output items of one response, and the events that tell how they come to be; folding the events gives the items.
 * Text and thoughts that come while a call is open follow it. Blank text is left out between other items, blank thoughts
 * everywhere: they are the spaces of the model's own format.
 */
export interface OutputItems {
  push(event: GenerationEvent): readonly ItemEvent[];
  /** Closes what is still open. What a stop leaves open is complete, but for a call: that was cut off. */
  end(reason: FinishReason | "failed"): readonly ItemEvent[];
  readonly items: readonly OutputItem[];
}

export function createOutputItems(options: OutputItemsOptions): OutputItems {
  return new ItemList(options);
}

interface Piece {
  readonly kind: TextKind;
  readonly text: string;
  readonly logprobs: readonly TokenLogprob[];
}

class ItemList implements OutputItems {
  readonly #options: OutputItemsOptions;
  readonly #items: (TextItem | CallItem)[] = [];
  /** The message or the thoughts that are being written. */
  #text: TextItem | null = null;
  /** Calls that are being written, by their number. */
  readonly #calls = new Map<number, CallItem>();
  /** What was written while a call was open. */
  #held: Piece[] = [];
  /** Blank text that nothing else has followed yet. */
  #blank: Piece | null = null;
  readonly #logprobs = createLogprobRuns();

  constructor(options: OutputItemsOptions) {
    this.#options = options;
  }

  get items(): readonly OutputItem[] {
    return this.#items.map((item) => item.render());
  }

  push(event: GenerationEvent): readonly ItemEvent[] {
    switch (event.type) {
      case "logprobs":
        this.#logprobs.add(event.entries);
        return [];
      case "text-delta": {
        const logprobs = this.#logprobs.take(event.text);
        return this.#addPiece({ kind: "message", text: event.text, logprobs });
      }
      case "reasoning-delta":
        this.#logprobs.take(event.text);
        return this.#addPiece({ kind: "reasoning", text: event.text, logprobs: [] });
      case "tool-call-start":
        return this.#startCall(event);
      case "tool-call-delta":
        this.#logprobs.skip();
        return this.#calls.get(event.call)?.push(event.arguments) ?? [];
      case "tool-call-end":
        return this.#endCall(event.call, "completed");
      case "usage":
      case "prompt-logprobs":
      case "choice-end":
      case "generation-end":
      case "generation-error":
        return [];
    }
  }

  end(reason: FinishReason | "failed"): readonly ItemEvent[] {
    const events: ItemEvent[] = [];
    for (const call of this.#calls.keys()) events.push(...this.#endCall(call, "incomplete"));
    const isCut = reason === "length" || reason === "failed";
    if (this.#blank?.kind === "message" && !this.#items.some(({ kind }) => kind === "call")) {
      events.push(...this.#write(this.#blank));
    }
    this.#blank = null;
    events.push(...this.#closeText(isCut ? "incomplete" : "completed"));
    return events;
  }

  #addPiece(piece: Piece): readonly ItemEvent[] {
    if (this.#calls.size > 0) {
      this.#held.push(piece);
      return [];
    }
    if (this.#text?.kind === piece.kind) {
      this.#blank = null;
      return this.#text.push(piece.text, piece.logprobs);
    }
    const waiting = this.#blank?.kind === piece.kind ? this.#blank : null;
    const whole =
      waiting === null
        ? piece
        : {
            kind: piece.kind,
            text: waiting.text + piece.text,
            logprobs: [...waiting.logprobs, ...piece.logprobs],
          };
    if (whole.text.trim() === "") {
      this.#blank = whole;
      return [];
    }
    this.#blank = null;
    return this.#write(whole);
  }

  /** Opens an item for the piece. */
  #write({ kind, text, logprobs }: Piece): readonly ItemEvent[] {
    const closing = this.#closeText("completed");
    const prefix = kind === "message" ? "msg" : "rs";
    const item = createTextItem(kind, this.#options.createId(prefix), this.#items.length);
    this.#items.push(item);
    this.#text = item;
    return [...closing, ...item.open(), ...item.push(text, logprobs)];
  }

  #closeText(status: ItemStatus): readonly ItemEvent[] {
    const item = this.#text;
    this.#text = null;
    return item?.close(status) ?? [];
  }

  #startCall({
    call,
    id: callId,
    name,
  }: Extract<GenerationEvent, { readonly type: "tool-call-start" }>): readonly ItemEvent[] {
    this.#logprobs.skip();
    this.#blank = null;
    const closing = this.#closeText("completed");
    const origin = this.#options.origins.get(name) ?? { kind: "function", name };
    const id = this.#options.createId(origin.kind === "custom" ? "ctc" : "fc");
    const item = createCallItem(origin, { id, callId }, this.#items.length);
    this.#items.push(item);
    this.#calls.set(call, item);
    return [...closing, ...item.open()];
  }

  #endCall(call: number, status: ItemStatus): readonly ItemEvent[] {
    const item = this.#calls.get(call);
    if (item === undefined) return [];
    this.#calls.delete(call);
    const events = [...item.close(status)];
    // Held again while another call is open.
    const held = this.#held;
    this.#held = [];
    for (const piece of held) events.push(...this.#addPiece(piece));
    return events;
  }
}
