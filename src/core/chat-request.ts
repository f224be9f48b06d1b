/** What every chat surface is decoded into: one request for text from one model. Plain data, no wire names. */
export interface ChatRequest extends GenerationOptions {
  readonly model: string;
  readonly messages: readonly Message[];
  /** Append the template's header of an assistant turn. */
  readonly addGenerationPrompt: boolean;
  /** Leave the last (assistant) message open, so that the model goes on with it. */
  readonly continueFinalMessage: boolean;
  /** Extra variables of the chat template; they win over all others. */
  readonly templateKwargs: Readonly<Record<string, unknown>>;
  readonly reasoningEffort?: string;
  readonly tools: readonly ToolDefinition[];
  readonly toolChoice: ToolChoice;
  /** false: at most one call a reply. */
  readonly parallelToolCalls: boolean;
  readonly output: OutputFormat;
  /** false: thoughts stay in the text, as the model writes them. */
  readonly separateReasoning: boolean;
  /** false: thoughts come in one piece at their end. */
  readonly streamReasoning: boolean;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  /** JSON schema of the arguments. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** The arguments must follow the schema exactly: the engine is constrained. */
  readonly strict: boolean;
  /** The tool in the shape that chat templates read. */
  readonly forTemplate: Readonly<Record<string, unknown>>;
}

export interface ToolChoice {
  readonly mode: "none" | "auto" | "required";
  /** Names that may be called; absent: all. A named function is "required" with its one name. */
  readonly allowed?: readonly string[];
}

/** What the reply must look like; at most one of these is more than text. */
export interface OutputFormat {
  readonly responseFormat: ResponseFormat;
  readonly regex?: string;
  readonly ebnf?: string;
  /** A JSON schema as JSON text. */
  readonly jsonSchema?: string;
  /** A structural tag as JSON text. */
  readonly structuralTag?: string;
}

/** What the engine lets the model write, in one of the forms that it takes. */
export interface OutputConstraint {
  readonly type: "regex" | "json-schema" | "ebnf" | "structural-tag";
  readonly text: string;
}

export type ResponseFormat =
  | { readonly type: "text" }
  | { readonly type: "json-object" }
  | {
      readonly type: "json-schema";
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict: boolean;
    }
  | { readonly type: "structural-tag"; readonly value: Readonly<Record<string, unknown>> };

/** What /v1/completions is decoded into: one request for text after each of some prompts. */
export interface TextRequest extends GenerationOptions {
  readonly model: string;
  readonly prompts: readonly TextPrompt[];
  readonly output: OutputFormat;
  /** The reply starts with the prompt. */
  readonly echo: boolean;
}

export type TextPrompt = string | readonly number[];

/** How to generate, whatever the prompt was made from. */
export interface GenerationOptions {
  /** What the client set; everything absent takes the model's own default. */
  readonly sampling: SamplingParams;
  /** Largest number of tokens to generate; absent: to the end of the context. */
  readonly maxTokens?: number;
  /** Choices for each prompt. */
  readonly n: number;
  /** Log probabilities with so many alternatives a token; absent: none. */
  readonly logprobs?: { readonly top: number };
  readonly stop: StopConditions;
  readonly detokenize: DetokenizeOptions;
  /** Smallest number of tokens between two messages of the engine. */
  readonly streamInterval?: number;
  /** Free-form parameters for the engine's custom logit processors: any JSON object. */
  readonly customParams?: Readonly<Record<string, unknown>>;
  readonly loraId?: string;
}

export interface SamplingParams {
  readonly temperature?: number;
  readonly topP?: number;
  /** -1 keeps every token. */
  readonly topK?: number;
  readonly minP?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly repetitionPenalty?: number;
  /** Token id → bias added to its logit. */
  readonly logitBias?: Readonly<Record<string, number>>;
}

export interface StopConditions {
  /** Strings that end the reply; matched on the raw text. */
  readonly strings: readonly string[];
  readonly tokenIds: readonly number[];
  readonly minTokens: number;
  readonly ignoreEos: boolean;
  /** Keep what matched in the reply. */
  readonly noStopTrim: boolean;
}

export interface DetokenizeOptions {
  readonly skipSpecialTokens: boolean;
  readonly spacesBetweenSpecialTokens: boolean;
}

/** One turn. Roles are passed to the template as they are. */
export interface Message {
  readonly role: string;
  readonly content: string | readonly ContentPart[] | null;
  readonly name?: string;
  readonly toolCallId?: string;
  readonly toolCalls?: readonly ToolCall[];
  readonly reasoning?: string;
}

export type ContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly url: string; readonly detail?: string };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly arguments: string;
}
