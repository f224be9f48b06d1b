import type { WorkerFacts } from "./engine-message.ts";
import type { GetModelInfoResponse, GetServerInfoResponse } from "./gen/sglang_scheduler_pb.ts";

/** What a worker is, from GetModelInfo and GetServerInfo. Values of the wrong type count as not told. */
export function toWorkerFacts(
  model: GetModelInfoResponse,
  server: GetServerInfoResponse,
): WorkerFacts {
  const serverArgs: Record<string, unknown> = server.serverArgs ?? {};
  const contextLength = serverArgs["context_length"];
  return {
    servedModelName: model.servedModelName,
    modelPath: model.modelPath,
    isGeneration: model.isGeneration,
    supportsVision: model.supportsVision,
    maxPromptTokens: model.maxReqInputLen > 0 ? model.maxReqInputLen : null,
    contextLength: typeof contextLength === "number" && contextLength > 0 ? contextLength : null,
    eosTokenIds: model.eosTokenIds,
    samplingDefaults: {
      ...readNumbers(model.defaultSamplingParamsJson),
      ...readNumbers(model.preferredSamplingParams),
    },
    skipTokenizerInit: serverArgs["skip_tokenizer_init"] === true,
    toolCallParser: readName(serverArgs["tool_call_parser"]),
    reasoningParser: readName(serverArgs["reasoning_parser"]),
  };
}

/** The numbers of a JSON object; everything else in it, and text that is no JSON object, is left out. */
function readNumbers(json: string): Record<string, number> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return {};
  }
  if (typeof value !== "object" || value === null) return {};
  const numbers: Record<string, number> = {};
  for (const [name, entry] of Object.entries(value)) {
    if (typeof entry === "number" && Number.isFinite(entry)) numbers[name] = entry;
  }
  return numbers;
}

function readName(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
