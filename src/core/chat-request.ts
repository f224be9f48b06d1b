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
}

/** How to generate, whatever the prompt was made from. */
export interface GenerationOptions {
  /** What the client set; everything absent takes the model's own default. */
  readonly sampling: SamplingParams;
  /** Largest number of tokens to generate; absent: to the end of the context. */
  readonly maxTokens?: number;
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

export interface ContentPart {
  readonly type: "text";
  readonly text: string;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly arguments: string;
}
