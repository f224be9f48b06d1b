import * as z from "zod";

import { chatMessages } from "../shared/message-schema.ts";
import { chatTools } from "../shared/tool-schema.ts";

const text = z.union([z.string(), z.array(z.string())], {
  error: "must be a string or an array of strings",
});
const ids = z.array(z.int().min(0));

/** Body of POST /tokenize: `prompt` (one or several texts) or `messages`. */
export const tokenizeRequest = z.object({
  model: z.string().min(1, { error: "must not be empty" }),
  prompt: text.nullish(),
  messages: chatMessages.nullish(),
  tools: chatTools.nullish(),
  add_special_tokens: z.boolean().nullish(),
  add_generation_prompt: z.boolean().nullish(),
  continue_final_message: z.boolean().nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
});

/** Body of POST /detokenize: token ids of one text or of several. */
export const detokenizeRequest = z.object({
  model: z.string().min(1, { error: "must not be empty" }),
  tokens: z.union([ids, z.array(ids)], {
    error: "must be an array of token ids, or an array of those",
  }),
  skip_special_tokens: z.boolean().nullish(),
});
