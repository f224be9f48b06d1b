import * as z from "zod";

const textBlock = z.object({ type: z.literal("text"), text: z.string() });

const IMAGE_TYPE = /^image\/[a-z0-9.+-]+$/i;

const imageBlock = z.object({
  type: z.literal("image"),
  source: z.discriminatedUnion(
    "type",
    [
      z.object({
        type: z.literal("base64"),
        media_type: z.string().regex(IMAGE_TYPE, { error: "must be the media type of an image" }),
        data: z.string().min(1, { error: "must not be empty" }),
      }),
      z.object({
        type: z.literal("url"),
        url: z.string().regex(/^https?:\/\/./i, { error: "must be an http(s) URL" }),
      }),
    ],
    { error: "must be base64 or url; this server keeps no files" },
  ),
});

const textBlocks = z.array(textBlock);

const documentBlock = z.object({
  type: z.literal("document"),
  title: z.string().nullish(),
  context: z.string().nullish(),
  source: z.discriminatedUnion(
    "type",
    [
      z.object({ type: z.literal("text"), data: z.string() }),
      z.object({
        type: z.literal("content"),
        content: z.union([z.string(), textBlocks], {
          error: "must be a string or an array of text blocks",
        }),
      }),
    ],
    { error: "must be text or content; this server reads no other documents" },
  ),
});

const searchResultBlock = z.object({
  type: z.literal("search_result"),
  title: z.string(),
  source: z.string(),
  content: textBlocks,
});

const toolReferenceBlock = z.object({
  type: z.literal("tool_reference"),
  tool_name: z.string(),
});

const shown = [textBlock, imageBlock, documentBlock, searchResultBlock] as const;

const toolResultBlock = z.object({
  type: z.literal("tool_result"),
  tool_use_id: z.string().min(1, { error: "must not be empty" }),
  content: z
    .union(
      [
        z.string(),
        z.array(
          z.discriminatedUnion("type", [...shown, toolReferenceBlock], {
            error:
              "only text, image, document, search_result and tool_reference blocks are supported here",
          }),
        ),
      ],
      { error: "must be a string or an array of content blocks" },
    )
    .nullish(),
  is_error: z.boolean().nullish(),
});

const STRING_OR_BLOCKS = { error: "must be a string or an array of content blocks" };

const userContent = z.union(
  [
    z.string(),
    z.array(
      z.discriminatedUnion("type", [...shown, toolResultBlock], {
        error:
          "only text, image, document, search_result and tool_result blocks are supported in a user's message",
      }),
    ),
  ],
  STRING_OR_BLOCKS,
);

const assistantContent = z.union(
  [
    z.string(),
    z.array(
      z.discriminatedUnion(
        "type",
        [
          textBlock,
          z.object({
            type: z.literal("thinking"),
            thinking: z.string(),
            signature: z.string().nullish(),
          }),
          z.object({ type: z.literal("redacted_thinking") }),
          z.object({
            type: z.literal("tool_use"),
            id: z.string().min(1, { error: "must not be empty" }),
            name: z.string().min(1, { error: "must not be empty" }),
            input: z.record(z.string(), z.unknown(), { error: "must be an object" }),
          }),
        ],
        {
          error:
            "only text, thinking, redacted_thinking and tool_use blocks are supported in an assistant's message",
        },
      ),
    ),
  ],
  STRING_OR_BLOCKS,
);

/** A text, or text blocks. */
export const textContent = z.union(
  [
    z.string(),
    z.array(
      z.discriminatedUnion("type", [textBlock], { error: "only text blocks are supported here" }),
    ),
  ],
  { error: "must be a string or an array of text blocks" },
);

const message = z.discriminatedUnion(
  "role",
  [
    z.object({ role: z.literal("user"), content: userContent }),
    z.object({ role: z.literal("assistant"), content: assistantContent }),
    z.object({ role: z.literal("system"), content: textContent }),
  ],
  { error: "must be user, assistant or system" },
);

/** The turns of a conversation as Anthropic's clients send them. */
export const messages = z.array(message).min(1, { error: "must hold at least one message" });

export type WireMessage = z.output<typeof message>;
export type WireTextContent = z.output<typeof textContent>;
export type WireToolResult = z.output<typeof toolResultBlock>;
/** Blocks that are shown to the model as text or image, in a message or in a tool's result. */
export type WireShownBlock = z.output<(typeof shown)[number]> | z.output<typeof toolReferenceBlock>;
export type WireAssistantBlock = Exclude<z.output<typeof assistantContent>, string>[number];
