import { EdgeError, invalidRequest } from "../core/api-error.ts";
import type { ChatRequest } from "../core/chat-request.ts";
import type { ModelSettings } from "../core/model-settings.ts";
import type { WorkerFacts } from "../engine/engine-message.ts";
import { HARMONY_MARKERS, isHarmonyModel } from "../parsers/harmony/harmony-model.ts";
import { createHarmonyParser } from "../parsers/harmony/harmony-parser.ts";
import type { OutputParser, ReasoningFormat, ToolFormat } from "../parsers/output-parser.ts";
import { detectReasoningFormat } from "../parsers/reasoning/detect-reasoning-format.ts";
import { findReasoningFormat } from "../parsers/reasoning/registry.ts";
import { detectToolFormat } from "../parsers/tool/detect-tool-format.ts";
import { createJsonArrayParser } from "../parsers/tool/json-array-parser.ts";
import { findToolFormat } from "../parsers/tool/registry.ts";
import type { LoadedModel } from "../prompt/load-model.ts";
import {
  chainParsers,
  dropMarkers,
  joinReasoning,
  limitCalls,
  mergeReasoning,
  preferText,
} from "./compose-parsers.ts";

/** How a model writes what is not plain text. */
export interface OutputFormats {
  /** gpt-oss: thoughts, calls and text are one grammar. */
  readonly isHarmony: boolean;
  /** null: calls are not read, or the model is Harmony's. */
  readonly tool: ToolFormat | null;
  readonly reasoning: ReasoningFormat | null;
}

/** The name under which Harmony is configured, for calls and for thoughts. */
const HARMONY = "gpt-oss";
const HARMONY_NAMES: ReadonlySet<string> = new Set([HARMONY, "harmony"]);

/** Chooses by the operator's setting, then by what the worker was started with, then by the model's own files. */
export function chooseFormats(
  model: LoadedModel,
  facts: Pick<WorkerFacts, "toolCallParser" | "reasoningParser"> | null,
  settings: ModelSettings,
): OutputFormats {
  const { manifest, tokenizer } = model;
  const hasToken = (text: string): boolean => tokenizer.idOf(text) !== undefined;
  const traits = {
    modelName: manifest.id,
    modelType: manifest.modelType ?? undefined,
    template: templateSource(model),
    hasToken,
  };
  const toolName = settings.toolCallParser ?? facts?.toolCallParser ?? undefined;
  const reasoningName = settings.reasoningParser ?? facts?.reasoningParser ?? undefined;
  const isHarmony =
    toolName === undefined && reasoningName === undefined
      ? isHarmonyModel(traits)
      : [toolName, reasoningName].some((name) => HARMONY_NAMES.has(name ?? ""));
  if (isHarmony) return { isHarmony, tool: null, reasoning: null };
  return {
    isHarmony,
    tool: chooseOne(findToolFormat, {
      setting: settings.toolCallParser,
      ofWorker: facts?.toolCallParser,
      detect: () => detectToolFormat(traits),
    }),
    reasoning: chooseOne(findReasoningFormat, {
      setting: settings.reasoningParser,
      ofWorker: facts?.reasoningParser,
      detect: () => detectReasoningFormat(traits),
    }),
  };
}

/** A name of the operator's must be known; one of the worker's that is not leaves the choice to detection. */
function chooseOne<Format>(
  find: (name: string) => Format | undefined,
  names: {
    readonly setting: string | undefined;
    readonly ofWorker: string | null | undefined;
    readonly detect: () => string | undefined;
  },
): Format | null {
  if (names.setting !== undefined) {
    if (names.setting === "none") return null;
    const format = find(names.setting);
    if (format !== undefined) return format;
    const cause = new Error(`MODEL_SETTINGS: there is no parser named ${names.setting}`);
    throw new EdgeError({ kind: "internal" }, cause);
  }
  const ofWorker = names.ofWorker == null ? undefined : find(names.ofWorker);
  if (ofWorker !== undefined) return ofWorker;
  const detected = names.detect();
  return detected === undefined ? null : (find(detected) ?? null);
}

/** All of a model's templates: what a template does with thoughts may stand in the one for tools alone. */
function templateSource({ manifest }: LoadedModel): string {
  return Object.values(manifest.chatTemplate?.templates ?? {}).join("\n");
}

export interface OutputReader {
  /** Makes the parser of one choice; null: all of the output is text. */
  readonly createParser: (() => OutputParser) | null;
  /** Special tokens that it must see. */
  readonly parserTokenIds: ReadonlySet<number>;
  /** Thoughts are told apart from the text. */
  readonly hasReasoning: boolean;
  /** The reply may begin with thoughts. */
  readonly expectsReasoning: boolean;
}

export interface ReaderOptions {
  readonly request: Pick<
    ChatRequest,
    | "tools"
    | "toolChoice"
    | "separateReasoning"
    | "streamReasoning"
    | "templateKwargs"
    | "reasoningEffort"
    | "messages"
    | "continueFinalMessage"
  >;
  readonly prompt: string;
  /** Calls come in the model's own format, or as a JSON array that the constraint asks for. */
  readonly reads: "format" | "json-array";
  /** The client sees special tokens as well. */
  readonly showsSpecialTokens: boolean;
}

/** How the output of one request is read. */
export function createOutputReader(
  model: LoadedModel,
  formats: OutputFormats,
  options: ReaderOptions,
): OutputReader {
  const { request } = options;
  const start = toContext(model, options);
  const isOpen = formats.reasoning?.startsInReasoning(start) ?? false;
  const expectsReasoning =
    formats.isHarmony || (formats.reasoning?.expectsReasoning(start) ?? false);
  const separates = request.separateReasoning && (formats.isHarmony || formats.reasoning !== null);
  const stages = listStages(formats, options, separates ? isOpen : null);
  if (stages.length === 0) {
    return {
      createParser: null,
      parserTokenIds: new Set(),
      hasReasoning: false,
      expectsReasoning,
    };
  }
  const markers = stages.flatMap((stage) => stage.markers);
  const special = findSpecial(model, markers);
  const hidden = options.showsSpecialTokens ? [] : [...special.keys()];
  const finish = createFinish(formats, options);
  return {
    createParser: () =>
      finish(dropMarkers(stages.map((stage) => stage.create()).reduce(chainParsers), hidden)),
    parserTokenIds: new Set(special.values()),
    hasReasoning: separates,
    expectsReasoning,
  };
}

/** What the request wants of the parsers' output. */
function createFinish(
  formats: OutputFormats,
  { request }: ReaderOptions,
): (parser: OutputParser) => OutputParser {
  const wantsText =
    formats.reasoning?.name === "nemotron_3" &&
    request.templateKwargs["force_nonempty_content"] === true;
  const { mode, allowed } = request.toolChoice;
  const mayCall = request.tools.length > 0 && mode !== "none";
  // Harmony reads calls whether there are tools or not.
  const isLimited = allowed !== undefined || (formats.isHarmony && !mayCall);
  const isAllowed = (name: string): boolean => mayCall && (allowed?.includes(name) ?? true);
  return (parser) => {
    const limited = isLimited ? limitCalls(parser, isAllowed) : parser;
    if (!request.separateReasoning) return mergeReasoning(limited);
    const streamed = request.streamReasoning ? limited : joinReasoning(limited);
    return wantsText ? preferText(streamed) : streamed;
  };
}

interface Stage {
  readonly markers: readonly string[];
  readonly create: () => OutputParser;
}

/** `startsInReasoning` null: thoughts stay in the text. */
function listStages(
  formats: OutputFormats,
  { request, reads }: ReaderOptions,
  startsInReasoning: boolean | null,
): Stage[] {
  const { tools, messages } = request;
  if (formats.isHarmony) {
    return [{ markers: HARMONY_MARKERS, create: () => createHarmonyParser({ tools }) }];
  }
  const stages: Stage[] = [];
  const { reasoning, tool } = formats;
  if (reasoning !== null && startsInReasoning !== null) {
    const { markers } = reasoning;
    stages.push({ markers, create: () => reasoning.create({ startsInReasoning }) });
  }
  if (tools.length === 0 || request.toolChoice.mode === "none") return stages;
  const signatures = tools.map(({ name, parameters }) => ({ name, parameters }));
  const earlierCalls = messages.reduce((sum, { toolCalls }) => sum + (toolCalls?.length ?? 0), 0);
  if (reads === "json-array") stages.push({ markers: [], create: () => createJsonArrayParser() });
  else if (tool !== null) {
    const { markers } = tool;
    stages.push({ markers, create: () => tool.create({ tools: signatures, earlierCalls }) });
  }
  return stages;
}

function toContext(model: LoadedModel, { request, prompt }: ReaderOptions) {
  const { templateKwargs, reasoningEffort } = request;
  const last = request.continueFinalMessage ? request.messages.at(-1) : undefined;
  return {
    prompt,
    template: templateSource(model),
    templateKwargs,
    reasoningEffort,
    continuedText: last === undefined ? undefined : textOf(last),
  };
}

function textOf({ content }: ChatRequest["messages"][number]): string {
  if (content === null || typeof content === "string") return content ?? "";
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** Markers that are special tokens of the vocabulary, with their ids. */
function findSpecial({ tokenizer }: LoadedModel, markers: readonly string[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const marker of markers) {
    const id = tokenizer.idOf(marker);
    if (id !== undefined && tokenizer.isSpecial(id)) found.set(marker, id);
  }
  return found;
}

/** Calls are wanted, but nothing tells how the model writes them. Throws EdgeError `invalid-request`. */
export function requireToolFormat(formats: OutputFormats, model: string): void {
  if (formats.isHarmony || formats.tool !== null) return;
  throw invalidRequest(
    `It is not known how the model '${model}' writes tool calls; set its tool call parser in MODEL_SETTINGS ` +
      "or start the worker with --tool-call-parser.",
    "tool_choice",
  );
}
