import * as z from "zod";

import { responseTools } from "./tool-schema.ts";

const text = z.string();
const textPart = z.object({
  type: z.enum(["input_text", "output_text", "text"]),
  text,
});
const refusalPart = z.object({ type: z.literal("refusal"), refusal: text });
const imagePart = z.object({
  type: z.literal("input_image"),
  image_url: z
    .string({ error: "must be a URL; files are not stored here" })
    .regex(/^(https?:\/\/|data:image\/[a-z0-9.+-]+;base64,)./i, {
      error: "must be an http(s) URL or a base64 data URL of an image",
    }),
  detail: z.enum(["auto", "low", "high", "original"]).nullish(),
});

const content = z.union(
  [
    text,
    z.array(
      z.discriminatedUnion("type", [textPart, refusalPart, imagePart], {
        error: "must be input_text, output_text, refusal or input_image",
      }),
    ),
  ],
  { error: "must be a string or an array of content parts" },
);

const message = z.object({
  type: z.literal("message"),
  role: z.enum(["system", "developer", "user", "assistant"], {
    error: "must be one of system, developer, user, assistant",
  }),
  content,
});

const reasoning = z.object({
  type: z.literal("reasoning"),
  summary: z.array(z.object({ text })).nullish(),
  content: z.array(z.object({ text })).nullish(),
});

const callId = z.string().min(1, { error: "must not be empty" });
const called = { call_id: callId, name: text, namespace: text.nullish() };

const item = z.discriminatedUnion(
  "type",
  [
    message,
    reasoning,
    z.object({ type: z.literal("function_call"), ...called, arguments: text }),
    z.object({ type: z.literal("custom_tool_call"), ...called, input: text }),
    z.object({ type: z.literal("function_call_output"), call_id: callId, output: content }),
    z.object({ type: z.literal("custom_tool_call_output"), call_id: callId, output: content }),
    z.object({ type: z.literal("additional_tools"), tools: responseTools }),
    z.object({
      type: z
        .literal("item_reference")
        .refine(() => false, { error: "nothing is stored here; send the item itself" }),
    }),
  ],
  {
    error: ({ input }) =>
      typeof input === "object" && input !== null
        ? `items of type ${describeType(input)} cannot be read here`
        : "must be an object",
  },
);

/** Messages may leave their type out. */
const typedItem = z.preprocess((value) => {
  const isMessage = typeof value === "object" && value !== null && "role" in value;
  return isMessage && !("type" in value) ? { ...value, type: "message" } : value;
}, item);

function describeType(value: object): string {
  const type = "type" in value ? value.type : null;
  return typeof type === "string" ? `"${type.slice(0, 64)}"` : "null";
}

export const responseInput = z.union(
  [text, z.array(typedItem).min(1, { error: "must hold at least one item" })],
  { error: "must be a string or an array of items" },
);

export type WireItem = z.output<typeof item>;
export type WireItemContent = z.output<typeof content>;
