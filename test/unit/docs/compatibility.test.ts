import { readFileSync } from "node:fs";

import { describe, it } from "vitest";

import { chatCompletionRequest } from "../../../src/api/chat/schema.ts";
import { completionRequest } from "../../../src/api/completions/schema.ts";
import { embeddingRequest } from "../../../src/api/embeddings/schema.ts";
import { countTokensRequest, messagesRequest } from "../../../src/api/messages/schema.ts";
import { responseRequest } from "../../../src/api/responses/schema.ts";
import { detokenizeRequest, tokenizeRequest } from "../../../src/api/tokenize/schema.ts";

const text = readFileSync(new URL("../../../docs/compatibility.md", import.meta.url), "utf8");

/** Rows of the table behind `<!-- fields:name -->`: field → effect. */
function readTable(name: string): Map<string, string> {
  const section = text.split(`<!-- fields:${name} -->`)[1] ?? "";
  const table = section.split(/\n\n(?!\|)/, 2).join("\n\n");
  const rows = table.matchAll(/^\| `([a-z_]+)` \| (honoured|no effect|refused) \|/gm);
  return new Map(Array.from(rows, ([, field, effect]) => [field ?? "", effect ?? ""]));
}

const surfaces = [
  { name: "chat", schema: chatCompletionRequest },
  { name: "completions", schema: completionRequest },
  { name: "responses", schema: responseRequest },
  { name: "embeddings", schema: embeddingRequest },
  { name: "messages", schema: messagesRequest },
  { name: "messages", schema: countTokensRequest },
  { name: "tokenize", schema: tokenizeRequest },
  { name: "detokenize", schema: detokenizeRequest },
];

describe("docs/compatibility.md", () => {
  it.for(surfaces)("lists every field of $name and no other", ({ name, schema }, { expect }) => {
    expect([...readTable(name).keys()].sort()).toEqual(Object.keys(schema.shape).sort());
  });

  const base = { model: "m", messages: [{ role: "user", content: "x" }] };
  const chat = [...readTable("chat")];

  it.for(chat.filter(([, effect]) => effect === "refused"))("refuses %s", ([field], { expect }) => {
    const result = chatCompletionRequest.safeParse({ ...base, [field]: { unlikely: [1, 2] } });
    expect(result.error?.issues[0]?.path).toEqual([field]);
  });
});
