import { create } from "@bufbuild/protobuf";

import {
  InputLogProbsSchema,
  InputTokenLogProbSchema,
  OutputLogProbsSchema,
  TopLogProbsSchema,
} from "../../src/engine/gen/sglang_scheduler_pb.ts";
import type {
  InputLogProbs,
  OutputLogProbs,
  TopLogProbs,
} from "../../src/engine/gen/sglang_scheduler_pb.ts";
import { hashUnit } from "./random.ts";

/** Made-up logprobs: they depend on position and token alone, so that every chunking tells the same. */
export interface LogprobSource {
  readonly vocabSize: number;
  readonly topCount: number;
}

interface TokenLogprob {
  readonly chosen: number;
  readonly top: TopLogProbs;
}

export function outputLogprobs(
  ids: readonly number[],
  firstPosition: number,
  source: LogprobSource,
): OutputLogProbs {
  const each = ids.map((id, offset) => tokenLogprob(id, firstPosition + offset, source));
  return create(OutputLogProbsSchema, {
    tokenLogprobs: each.map(({ chosen }) => chosen),
    tokenIds: [...ids],
    topLogprobs: source.topCount > 0 ? each.map(({ top }) => top) : [],
  });
}

/** Logprobs of the prompt from `start` on; the first one has no value, as nothing predicts it. */
export function inputLogprobs(
  prompt: Uint32Array,
  start: number,
  source: LogprobSource,
): InputLogProbs {
  const ids = [...prompt.subarray(start)];
  const each = ids.map((id, offset) => tokenLogprob(id, -1 - start - offset, source));
  return create(InputLogProbsSchema, {
    tokenLogprobs: each.map(({ chosen }, offset) =>
      create(InputTokenLogProbSchema, offset === 0 ? {} : { value: chosen }),
    ),
    tokenIds: ids,
    topLogprobs:
      source.topCount > 0
        ? each.map(({ top }, offset) => (offset === 0 ? create(TopLogProbsSchema) : top))
        : [],
  });
}

/** The chosen token is the first or second of the list; values fall from one to the next. */
function tokenLogprob(id: number, position: number, source: LogprobSource): TokenLogprob {
  const listed = Math.max(1, Math.min(source.topCount, source.vocabSize));
  const rank = listed > 1 && hashUnit(position, id, 1) > 0.8 ? 1 : 0;
  const values: number[] = [];
  const ids: number[] = [];
  let value = -0.01 - hashUnit(position, id, 2);
  let candidate = Math.floor(hashUnit(position, id, 3) * source.vocabSize);
  for (let place = 0; place < listed; place += 1) {
    if (place > 0) value -= 0.05 + hashUnit(position, id, 4 + place);
    values.push(Math.fround(value));
    if (place === rank) {
      ids.push(id);
      continue;
    }
    candidate = (candidate + 1) % source.vocabSize;
    if (candidate === id) candidate = (candidate + 1) % source.vocabSize;
    ids.push(candidate);
  }
  return {
    chosen: values[rank] ?? 0,
    top: create(TopLogProbsSchema, { values, tokenIds: ids }),
  };
}
