/** An item of a response's `output`, as it stands on the wire. */
export type OutputItem = MessageItem | ReasoningItem | FunctionCallItem | CustomCallItem;

export type ItemStatus = "in_progress" | "completed" | "incomplete";

export interface OutputTextPart {
  readonly type: "output_text";
  readonly text: string;
  readonly annotations: readonly never[];
  readonly logprobs: readonly unknown[];
}

export interface ReasoningTextPart {
  readonly type: "reasoning_text";
  readonly text: string;
}

interface MessageItem {
  readonly id: string;
  readonly type: "message";
  readonly status: ItemStatus;
  readonly role: "assistant";
  readonly content: readonly OutputTextPart[];
}

interface ReasoningItem {
  readonly id: string;
  readonly type: "reasoning";
  readonly status: ItemStatus;
  readonly summary: readonly never[];
  readonly content: readonly ReasoningTextPart[];
}

interface CallOnWire {
  readonly id: string;
  readonly status: ItemStatus;
  readonly call_id: string;
  readonly name: string;
  readonly namespace?: string;
}

interface FunctionCallItem extends CallOnWire {
  readonly type: "function_call";
  readonly arguments: string;
}

interface CustomCallItem extends CallOnWire {
  readonly type: "custom_tool_call";
  readonly input: string;
}

/** What happens to the output, as it stands on the wire but for its `sequence_number`. */
export type ItemEvent = {
  readonly type: string;
  readonly output_index: number;
} & Readonly<Record<string, unknown>>;
