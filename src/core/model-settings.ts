/** What the operator decides for one model. */
export interface ModelSettings {
  /** A parser's name, or "none"; absent: what the worker says, then what the model's files show. */
  readonly toolCallParser?: string;
  readonly reasoningParser?: string;
  /** Show tools in the prompt even when `tool_choice` is none. */
  readonly keepsToolsWithoutChoice?: boolean;
}
