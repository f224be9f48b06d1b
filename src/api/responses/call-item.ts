import { dropUnset } from "../shared/drop-unset.ts";
import type { ItemEvent, ItemStatus, OutputItem } from "./item-event.ts";
import { createStringField } from "./json-string-field.ts";
import { CUSTOM_INPUT, type ToolOrigin } from "./tool-names.ts";

/** A call while it is written. */
export interface CallItem {
  readonly kind: "call";
  open(): readonly ItemEvent[];
  /** More of the arguments' JSON text. */
  push(json: string): readonly ItemEvent[];
  close(status: ItemStatus): readonly ItemEvent[];
  render(): OutputItem;
}

type CalledTool = Pick<ToolOrigin, "kind" | "name" | "namespace">;

export function createCallItem(
  tool: CalledTool,
  ids: { readonly id: string; readonly callId: string },
  outputIndex: number,
): CallItem {
  const isCustom = tool.kind === "custom";
  const payload = isCustom ? createInput() : createArguments();
  let status: ItemStatus = "in_progress";
  const place = { item_id: ids.id, output_index: outputIndex };
  const stream = isCustom ? "response.custom_tool_call_input" : "response.function_call_arguments";
  const { name, namespace } = tool;
  const render = (): OutputItem => {
    const common = {
      id: ids.id,
      status,
      call_id: ids.callId,
      name,
      ...dropUnset({ namespace }),
    };
    return isCustom
      ? { ...common, type: "custom_tool_call", input: payload.value }
      : { ...common, type: "function_call", arguments: payload.value };
  };
  const toDelta = (delta: string): readonly ItemEvent[] =>
    delta === "" ? [] : [{ type: `${stream}.delta`, ...place, delta }];
  return {
    kind: "call",
    open: () => [{ type: "response.output_item.added", output_index: outputIndex, item: render() }],
    push: (json) => toDelta(payload.push(json)),
    close(newStatus) {
      status = newStatus;
      const rest = toDelta(payload.end());
      const whole = isCustom ? { input: payload.value } : { name, arguments: payload.value };
      return [
        ...rest,
        { type: `${stream}.done`, ...place, ...whole },
        { type: "response.output_item.done", output_index: outputIndex, item: render() },
      ];
    },
    render,
  };
}

/** What a call is given, as the client sees it. */
interface Payload {
  /** Answers with what the JSON text adds. */
  push(json: string): string;
  /** What is told only when the call is complete. */
  end(): string;
  readonly value: string;
}

function createArguments(): Payload {
  let value = "";
  return {
    push(json) {
      value += json;
      return json;
    },
    end: () => "",
    get value() {
      return value;
    },
  };
}

/** The text inside the one argument of a custom tool. */
function createInput(): Payload {
  const field = createStringField(CUSTOM_INPUT);
  let json = "";
  let late = "";
  return {
    push(more) {
      json += more;
      return field.push(more);
    },
    end() {
      if (field.value === "") late = findInput(json);
      return late;
    },
    get value() {
      return field.value + late;
    },
  };
}

/** The input of arguments that do not start with it; arguments that have none stand for themselves. */
function findInput(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== "object" || value === null) return json;
    const input: unknown = Object.entries(value).find(([key]) => key === CUSTOM_INPUT)?.[1];
    return typeof input === "string" ? input : json;
  } catch {
    return "";
  }
}
