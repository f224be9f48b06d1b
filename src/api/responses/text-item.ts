import type { TokenLogprob } from "../../core/generation-event.ts";
import { renderLogprobs } from "../shared/openai-logprobs.ts";
import type {
  ItemEvent,
  ItemStatus,
  OutputItem,
  OutputTextPart,
  ReasoningTextPart,
} from "./item-event.ts";

export type TextKind = "message" | "reasoning";

/** A message or thoughts while they are written: one content part. */
export interface TextItem {
  readonly kind: TextKind;
  open(): readonly ItemEvent[];
  push(text: string, logprobs: readonly TokenLogprob[]): readonly ItemEvent[];
  close(status: ItemStatus): readonly ItemEvent[];
  render(): OutputItem;
}

export function createTextItem(kind: TextKind, id: string, outputIndex: number): TextItem {
  const state: TextState = { kind, id, text: "", logprobs: [], status: "in_progress" };
  const place = { item_id: id, output_index: outputIndex, content_index: 0 };
  const name = kind === "message" ? "response.output_text" : "response.reasoning_text";
  const withLogprobs = (entries: readonly unknown[]) =>
    kind === "message" ? { logprobs: entries } : {};
  return {
    kind,
    open: () => [
      {
        type: "response.output_item.added",
        output_index: outputIndex,
        item: renderItem(state, []),
      },
      { type: "response.content_part.added", ...place, part: renderPart(state) },
    ],
    push(text, logprobs) {
      const entries = renderLogprobs(logprobs).content;
      state.text += text;
      state.logprobs.push(...entries);
      return [{ type: `${name}.delta`, ...place, delta: text, ...withLogprobs(entries) }];
    },
    close(status) {
      state.status = status;
      const { text, logprobs } = state;
      return [
        { type: `${name}.done`, ...place, text, ...withLogprobs(logprobs) },
        { type: "response.content_part.done", ...place, part: renderPart(state) },
        {
          type: "response.output_item.done",
          output_index: outputIndex,
          item: renderItem(state, [state]),
        },
      ];
    },
    render: () => renderItem(state, [state]),
  };
}

interface TextState {
  readonly kind: TextKind;
  readonly id: string;
  text: string;
  readonly logprobs: unknown[];
  status: ItemStatus;
}

/** `parts`: the part that the item has, or none yet. */
function renderItem(state: TextState, parts: readonly TextState[]): OutputItem {
  const { id, status } = state;
  return state.kind === "message"
    ? { id, type: "message", status, role: "assistant", content: parts.map(renderTextPart) }
    : { id, type: "reasoning", status, summary: [], content: parts.map(renderReasoningPart) };
}

function renderPart(state: TextState): OutputTextPart | ReasoningTextPart {
  return state.kind === "message" ? renderTextPart(state) : renderReasoningPart(state);
}

function renderTextPart({ text, logprobs }: TextState): OutputTextPart {
  return { type: "output_text", text, annotations: [], logprobs: [...logprobs] };
}

function renderReasoningPart({ text }: TextState): ReasoningTextPart {
  return { type: "reasoning_text", text };
}
