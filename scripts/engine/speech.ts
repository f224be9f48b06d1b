import { Code, ConnectError } from "@connectrpc/connect";

import type { GenerateRequest } from "../../src/engine/gen/sglang_scheduler_pb.ts";
import { sampleJson } from "./json-sample.ts";
import { lastQuestion } from "./last-question.ts";
import type { EngineModel } from "./model.ts";
import type { ScenarioPlayer, ScriptedReply } from "./scenario.ts";
import type { Finish, Speech } from "./sequence.ts";

/** How much of a long prompt is read for its last question. */
const QUESTION_TOKENS = 4096;
/** Without a tokenizer the reply is the prompt's last ids. */
const ECHOED_IDS = 16;

export interface SpeechSource {
  readonly model: EngineModel;
  readonly scenario: ScenarioPlayer;
  readonly tokenMs: number;
}

/** What each of a request's samples will say: the scenario's reply when a rule matches, else the engine's own. */
export function speechesOf(request: GenerateRequest, source: SpeechSource): readonly Speech[] {
  const prompt = request.tokenized?.inputIds ?? [];
  const samples = request.samplingParams?.n ?? 1;
  const scripted = source.scenario.match(() => source.model.codec()?.decode(prompt) ?? "", samples);
  return Array.from({ length: samples }, (_, sample) =>
    speechOf(request, scripted?.[sample] ?? {}, { ...source, prompt }),
  );
}

function speechOf(
  request: GenerateRequest,
  reply: ScriptedReply,
  source: SpeechSource & { readonly prompt: readonly number[] },
): Speech {
  const said = reply.ids ?? encode(reply.text ?? ownReply(request, source), source);
  const end = endOf(reply, source.model);
  const ids = end === undefined ? said : [...said, end];
  return {
    ids,
    forcedFinish: forcedFinishOf(reply, end, source.model),
    chunks: reply.chunks,
    reasoningTokens: request.requireReasoning
      ? (reply.reasoningTokens ?? tokensBeforeAnswer(ids, source.model))
      : 0,
    startDelayMs: reply.startDelayMs ?? 0,
    prefillMs: reply.prefillMs,
    perTokenMs: reply.perTokenMs ?? source.tokenMs,
    fault: reply.fault,
  };
}

/** A text becomes ids; without a tokenizer nothing can be said, so the prompt's end is echoed. */
function encode(
  text: string,
  { model, prompt }: { readonly model: EngineModel; readonly prompt: readonly number[] },
): readonly number[] {
  return model.codec()?.encode(text) ?? prompt.slice(-ECHOED_IDS);
}

function ownReply(
  request: GenerateRequest,
  { model, prompt }: { readonly model: EngineModel; readonly prompt: readonly number[] },
): string {
  const constraint = request.samplingParams?.constraint;
  const sampled = constraint?.case === "jsonSchema" ? sampleJson(constraint.value) : undefined;
  if (sampled !== undefined) return sampled;
  const codec = model.codec();
  const question = lastQuestion(codec?.decode(prompt.slice(-QUESTION_TOKENS)) ?? "");
  // A quoted end token would be read as one and end the reply.
  const quoted = codec?.withoutSpecialTokens(question) ?? question;
  return `This is a simulated reply from sgl-edge's engine simulator. You asked: "${quoted}"`;
}

/** The end token that the reply writes, if any. */
function endOf(reply: ScriptedReply, model: EngineModel): number | undefined {
  const wanted = reply.eos ?? (reply.finish === undefined || reply.finish === "stop");
  if (wanted === false) return undefined;
  if (wanted === true) return model.turnEndId;
  if (typeof wanted === "number") return wanted;
  const id = model.codec()?.idOf(wanted);
  if (id === undefined) {
    throw new ConnectError(
      `the scenario's end token "${wanted}" is not in the vocabulary`,
      Code.Internal,
    );
  }
  return id;
}

function forcedFinishOf(
  reply: ScriptedReply,
  end: number | undefined,
  model: EngineModel,
): Finish | undefined {
  if (reply.finish === "length" || reply.finish === "abort") return { reason: reply.finish };
  if (end === undefined) return { reason: "stop" };
  // An end token of the model's own is found by the scheduler; another one ends the reply because the scenario says so.
  return model.eosTokenIds.includes(end) ? undefined : { reason: "stop", matched: end };
}

function tokensBeforeAnswer(ids: readonly number[], model: EngineModel): number {
  const thinkEnd = model.codec()?.idOf("</think>");
  return thinkEnd === undefined ? 0 : ids.indexOf(thinkEnd) + 1;
}
