import { EdgeError, type ApiError } from "../../core/api-error.ts";
import type { DecodedRequest } from "./to-chat-request.ts";

type Names = Pick<DecodedRequest, "paths" | "origins">;

/** A fault of the inside, which speaks of chat's fields, in the words of this surface. */
export function toWireError(error: ApiError, names: Names): ApiError {
  if (error.kind === "context-length-exceeded") return describeContextLength(error);
  if (error.kind !== "invalid-request" || error.param === undefined) return error;
  const param = renameParam(error.param, names);
  return {
    ...error,
    param,
    detail: error.detail.replace(`'${error.param}'`, () => `'${param}'`),
  };
}

/** The same for a thrown value. */
export function toThrownWireError(thrown: unknown, names: Names): unknown {
  if (!(thrown instanceof EdgeError)) return thrown;
  return new EdgeError(toWireError(thrown.error, names), thrown.cause);
}

function renameParam(param: string, { paths, origins }: Names): string {
  const message = /^messages\[(\d+)\]\.content(.*)$/.exec(param);
  const path = paths[Number(message?.[1])];
  if (message !== null && path !== undefined) return path + (message[2] ?? "");
  if (param.startsWith("messages")) return "input";
  const tool = /^tools\[(\d+)\]\.function(.*)$/.exec(param);
  const origin = [...origins.values()][Number(tool?.[1])];
  if (tool !== null && origin !== undefined) return origin.path + (tool[2] ?? "");
  return param
    .replace(/^response_format\.json_schema/, "text.format")
    .replace(/^response_format/, "text.format");
}

function describeContextLength({
  limit,
  promptTokens,
  maxTokens,
}: Extract<ApiError, { readonly kind: "context-length-exceeded" }>): ApiError {
  const detail =
    maxTokens === undefined
      ? `This model takes at most ${limit} tokens, but the input alone has ${promptTokens}. Shorten the input.`
      : `This model's context holds ${limit} tokens, but the request needs ${promptTokens + maxTokens} ` +
        `(${promptTokens} of the input, ${maxTokens} for the output). Shorten the input or lower max_output_tokens.`;
  return { kind: "invalid-request", detail, param: "input", code: "context_length_exceeded" };
}
