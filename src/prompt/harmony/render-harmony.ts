import { invalidRequest } from "../../core/api-error.ts";
import type { ChatTemplate, TemplateInput } from "../template/chat-template.ts";
import { cutAfterFinalMessage, markFinalMessage } from "../template/continue-final-message.ts";
import { formatTime } from "../template/jinja/strftime.ts";
import { frame, renderConversation, renderInstructions, textOf } from "./conversation.ts";
import { renderToolNamespace } from "./tool-types.ts";
import type { HarmonyTool } from "./tool-types.ts";

const IDENTITY = "You are ChatGPT, a large language model trained by OpenAI.";
const KNOWLEDGE_CUTOFF = "2024-06";
const CHANNELS =
  "# Valid channels: analysis, commentary, final. Channel must be included for every message.";
const CALL_CHANNEL = "\nCalls to these tools must go to the commentary channel: 'functions'.";

/**
 * Renders the prompt of a chat in OpenAI's Harmony format, for gpt-oss models that come without a chat template: the text that
 * the public gpt-oss template gives, wherever that gives one. It goes on where the template drops or refuses something a
 * client may send: further calls of one message, instructions after the first message, a tool without a description, a
 * text beside the thought that led to a call. `kwargs` may set `reasoning_effort` (default medium) and
 * `model_identity`. Throws EdgeError `invalid-request`.
 */
export const HARMONY_TEMPLATE: ChatTemplate = {
  contentFormat: () => "string",
  render: renderHarmony,
};

function renderHarmony(input: TemplateInput): string {
  if (!input.continueFinalMessage) return renderText(input);
  const { messages, finalText } = markFinalMessage(input.messages, "content");
  const rendered = renderText({ ...input, messages, addGenerationPrompt: false });
  return cutAfterFinalMessage(rendered, finalText);
}

function renderText(input: TemplateInput): string {
  const placed = input.messages.map((message, index) => ({ message, index }));
  const first = placed[0];
  const hasInstructions =
    first !== undefined && ["system", "developer"].includes(first.message.role);
  const tools = (input.tools ?? []).map(toHarmonyTool);
  return (
    frame("system", systemText(input, tools.length > 0)) +
    renderInstructions(
      hasInstructions ? textOf(first.message) : "",
      tools.length === 0 ? "" : `# Tools\n\n${renderToolNamespace(tools)}`,
    ) +
    renderConversation(hasInstructions ? placed.slice(1) : placed, {
      isComplete: !input.addGenerationPrompt,
    }) +
    (input.addGenerationPrompt ? "<|start|>assistant" : "")
  );
}

function systemText({ kwargs, now }: TemplateInput, hasTools: boolean): string {
  refuseBuiltinTools(kwargs["builtin_tools"]);
  return (
    `${textOption(kwargs, "model_identity", IDENTITY)}\n` +
    `Knowledge cutoff: ${KNOWLEDGE_CUTOFF}\n` +
    `Current date: ${formatTime(now, "%Y-%m-%d")}\n\n` +
    `Reasoning: ${textOption(kwargs, "reasoning_effort", "medium")}\n\n` +
    CHANNELS +
    (hasTools ? CALL_CHANNEL : "")
  );
}

/** The model's own browser and Python tools need someone to run them, which the edge has not. */
function refuseBuiltinTools(tools: unknown): void {
  if (tools === undefined || tools === null || (Array.isArray(tools) && tools.length === 0)) return;
  throw invalidRequest(
    "builtin_tools need the model's own chat template; declare functions in tools instead.",
    "chat_template_kwargs.builtin_tools",
  );
}

function textOption(
  kwargs: Readonly<Record<string, unknown>>,
  name: string,
  fallback: string,
): string {
  const value = kwargs[name] ?? fallback;
  if (typeof value === "string") return value;
  throw invalidRequest(`'${name}' must be a string.`, `chat_template_kwargs.${name}`);
}

function toHarmonyTool(tool: unknown, index: number): HarmonyTool {
  const called = isRecord(tool) ? tool["function"] : undefined;
  const name = isRecord(called) ? called["name"] : undefined;
  if (!isRecord(called) || typeof name !== "string") {
    throw invalidRequest("A tool must be a function with a name.", `tools[${String(index)}]`);
  }
  const description = called["description"];
  return {
    name,
    description: typeof description === "string" ? description : undefined,
    parameters: called["parameters"],
  };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
