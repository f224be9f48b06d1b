import * as z from "zod";

import { unsupported } from "./schema.ts";

const textPart = z.object({ type: z.literal("text"), text: z.string() });
const refusalPart = z.object({ type: z.literal("refusal"), refusal: z.string() });

/** A content part of a kind that this model cannot take; the message names the part's own type. */
const contentPart = z.discriminatedUnion("type", [textPart, refusalPart], {
  error: "only text parts are supported by this model",
});
const content = z.union([z.string(), z.array(contentPart)], {
  error: "must be a string or an array of content parts",
});

const toolCall = z.object({
  id: z.string().nullish(),
  type: z.literal("function").nullish(),
  function: z.object({
    name: z.string(),
    arguments: z
      .union([z.string(), z.record(z.string(), z.unknown())], {
        error: "must be a string of JSON",
      })
      .nullish(),
  }),
});

const instruction = { content, name: z.string().nullish() };

const message = z.discriminatedUnion(
  "role",
  [
    z.object({ role: z.literal("system"), ...instruction }),
    z.object({ role: z.literal("developer"), ...instruction }),
    z.object({ role: z.literal("user"), ...instruction }),
    z.object({
      role: z.literal("assistant"),
      content: content.nullish(),
      name: z.string().nullish(),
      tool_calls: z.array(toolCall).nullish(),
      reasoning_content: z.string().nullish(),
      reasoning: z.string().nullish(),
      function_call: unsupported("is not supported; send tool_calls instead"),
    }),
    z.object({
      role: z.literal("tool"),
      content: content.nullish(),
      tool_call_id: z.string().nullish(),
      name: z.string().nullish(),
    }),
  ],
  { error: "must be one of system, developer, user, assistant, tool" },
);

/** Messages in the shape of chat completions. */
export const chatMessages = z.array(message).min(1, { error: "must hold at least one message" });

export type WireMessage = z.output<typeof message>;
