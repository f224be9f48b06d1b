import * as z from "zod";

import { unsupported } from "./schema.ts";

const textPart = z.object({ type: z.literal("text"), text: z.string() });
const refusalPart = z.object({ type: z.literal("refusal"), refusal: z.string() });

const imagePart = z.object({
  type: z.literal("image_url"),
  image_url: z.object({
    url: z.string().regex(/^(https?:\/\/|data:image\/[a-z0-9.+-]+;base64,)./i, {
      error: "must be an http(s) URL or a base64 data URL of an image",
    }),
    detail: z.enum(["auto", "low", "high"]).nullish(),
  }),
});

const textContent = z.union(
  [
    z.string(),
    z.array(
      z.discriminatedUnion("type", [textPart, refusalPart], {
        error: "only text parts are supported here",
      }),
    ),
  ],
  { error: "must be a string or an array of content parts" },
);
const content = z.union(
  [
    z.string(),
    z.array(
      z.discriminatedUnion("type", [textPart, refusalPart, imagePart], {
        error: "only text and image_url parts are supported",
      }),
    ),
  ],
  { error: "must be a string or an array of content parts" },
);

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

const instruction = { content: textContent, name: z.string().nullish() };

const message = z.discriminatedUnion(
  "role",
  [
    z.object({ role: z.literal("system"), ...instruction }),
    z.object({ role: z.literal("developer"), ...instruction }),
    z.object({ role: z.literal("user"), content, name: z.string().nullish() }),
    z.object({
      role: z.literal("assistant"),
      content: textContent.nullish(),
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
