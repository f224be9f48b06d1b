import { isDeepStrictEqual } from "node:util";

/** What the tests look at in an event of a response's stream. */
export interface StreamedEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly output_index?: number;
  readonly content_index?: number;
  readonly item_id?: string;
  readonly item?: Item;
  readonly part?: Part;
  readonly delta?: string;
  readonly text?: string;
  readonly arguments?: string;
  readonly input?: string;
  readonly logprobs?: readonly unknown[];
  readonly response?: ResponseBody;
}

export interface ResponseBody {
  readonly id: string;
  readonly status: string;
  readonly output: readonly Item[];
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly incomplete_details: { readonly reason: string } | null;
  readonly completed_at: number | null;
  readonly usage: Readonly<Record<string, unknown>> | null;
}

interface Part {
  readonly type: string;
  text: string;
  logprobs?: unknown[];
}

export interface Item {
  readonly id: string;
  readonly type: string;
  status: string;
  content?: Part[];
  arguments?: string;
  input?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly call_id?: string;
}

/** The events of a stream; throws unless each frame has an `event:` line that agrees with its data. */
export function parseEvents(raw: string): StreamedEvent[] {
  const frames = raw.split("\n\n").filter((frame) => frame !== "");
  return frames.map((frame) => {
    const lines = frame.split("\n").filter((line) => !line.startsWith(":"));
    const [name, data, ...rest] = lines;
    const event = JSON.parse(data?.replace(/^data: /, "") ?? "") as StreamedEvent;
    if (name !== `event: ${event.type}` || rest.length > 0) throw new Error(`bad frame: ${frame}`);
    return event;
  });
}

/** The output that a client which reads events alone arrives at; throws where the events contradict each other. */
export function foldEvents(events: readonly StreamedEvent[]): Item[] {
  const items: Item[] = [];
  const closed = new Set<number>();
  for (const [index, event] of events.entries()) {
    if (event.sequence_number !== index) throw new Error(`number ${event.sequence_number}`);
    if (event.output_index === undefined) continue;
    if (closed.has(event.output_index)) throw new Error(`${event.type} after the item's end`);
    if (event.type === "response.output_item.added") {
      if (event.output_index !== items.length) throw new Error("an item comes out of order");
      items.push(structuredClone(required(event.item)));
      continue;
    }
    const item = required(items[event.output_index]);
    if (event.type === "response.output_item.done") {
      closed.add(event.output_index);
      const done = required(event.item);
      same({ ...item, status: done.status }, done, event.type);
      item.status = done.status;
    } else {
      same(event.item_id, item.id, event.type);
      foldInto(item, event);
    }
  }
  if (closed.size !== items.length) throw new Error("an item is still open");
  return items;
}

/** Where the deltas of each kind of stream go. */
const CALL_FIELDS = {
  "response.function_call_arguments": "arguments",
  "response.custom_tool_call_input": "input",
} as const;

function foldInto(item: Item, event: StreamedEvent): void {
  const [, stream = "", step = ""] = /^(.*)\.(added|delta|done)$/.exec(event.type) ?? [];
  if (
    stream === "response.function_call_arguments" ||
    stream === "response.custom_tool_call_input"
  ) {
    const field = CALL_FIELDS[stream];
    if (step === "delta") item[field] = required(item[field]) + required(event.delta);
    else same(event[field], item[field], event.type);
    return;
  }
  foldIntoPart(required(item.content), event, step);
}

function foldIntoPart(parts: Part[], event: StreamedEvent, step: string): void {
  const place = required(event.content_index);
  if (step === "added") {
    same(place, parts.length, event.type);
    parts.push(structuredClone(required(event.part)));
    return;
  }
  const part = required(parts[place]);
  if (step === "delta") {
    part.text += required(event.delta);
    part.logprobs?.push(...required(event.logprobs));
  } else if (event.part === undefined) same(event.text, part.text, event.type);
  else same(event.part, part, event.type);
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error("something is missing");
  return value;
}

function same(one: unknown, other: unknown, where: string): void {
  if (isDeepStrictEqual(one, other)) return;
  throw new Error(`${where}: ${JSON.stringify(one)} is not ${JSON.stringify(other)}`);
}
