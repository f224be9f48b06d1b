import * as z from "zod";

import { unsupported } from "../shared/schema.ts";

const MAX_INPUTS = 2_048;
const empty = { error: "must not be empty" };
const tooMany = { error: `must hold at most ${MAX_INPUTS} inputs` };
const ids = z.array(z.int().min(0).max(0xffff_ffff));

const input = z.union(
  [
    z.string().min(1, empty),
    z.array(z.string().min(1, empty)).min(1, empty).max(MAX_INPUTS, tooMany),
    ids.min(1, empty),
    z.array(ids.min(1, empty)).min(1, empty).max(MAX_INPUTS, tooMany),
  ],
  { error: "must be a string, an array of strings, token ids, or an array of token ids" },
);

/** Body of POST /v1/embeddings. Fields that are not named here are ignored. */
export const embeddingRequest = z.object({
  model: z.string().min(1, empty),
  input,
  encoding_format: z.enum(["float", "base64"], { error: "must be float or base64" }).nullish(),
  dimensions: unsupported("is not supported by this model; its vectors have one length"),
  user: z.string().nullish(),
});
