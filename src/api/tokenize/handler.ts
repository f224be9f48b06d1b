import type { Handler } from "hono";

import { invalidRequest } from "../../core/api-error.ts";
import type { TokenizedText } from "../../generation/generation-service.ts";
import type { HandlerContext } from "../shared/handler-context.ts";
import { toPromptFields } from "../shared/prompt-fields.ts";
import { readJson } from "../shared/read-json.ts";
import { parseWire } from "../shared/schema.ts";
import { toTools } from "../shared/to-tools.ts";
import { detokenizeRequest, tokenizeRequest } from "./schema.ts";

type Context = Pick<HandlerContext, "service" | "maxBodyBytes">;

/** POST /tokenize */
export function createTokenizeHandler({ service, maxBodyBytes }: Context): Handler {
  return async (c) => {
    const wire = parseWire(tokenizeRequest, await readJson(c.req.raw, maxBodyBytes));
    const { model, prompt, messages } = wire;
    if ((prompt == null) === (messages == null)) {
      throw invalidRequest("Send either 'prompt' or 'messages'.", "prompt");
    }
    if (messages != null) {
      const fields = toPromptFields({ ...wire, messages });
      const tools = toTools(wire.tools);
      return c.json(renderOne(await service.tokenizeChat({ model, ...fields, tools })));
    }
    const addSpecialTokens = wire.add_special_tokens ?? true;
    if (!Array.isArray(prompt)) {
      return c.json(renderOne(await service.tokenize(model, prompt ?? "", addSpecialTokens)));
    }
    const texts: TokenizedText[] = [];
    for (const text of prompt) texts.push(await service.tokenize(model, text, addSpecialTokens));
    return c.json({
      tokens: texts.map(({ tokenIds }) => Array.from(tokenIds)),
      count: texts.map(({ tokenIds }) => tokenIds.length),
      max_model_len: texts[0]?.contextLength ?? null,
    });
  };
}

function renderOne({ tokenIds, contextLength }: TokenizedText) {
  return { tokens: Array.from(tokenIds), count: tokenIds.length, max_model_len: contextLength };
}

/** POST /detokenize */
export function createDetokenizeHandler({ service, maxBodyBytes }: Context): Handler {
  return async (c) => {
    const wire = parseWire(detokenizeRequest, await readJson(c.req.raw, maxBodyBytes));
    const skipSpecialTokens = wire.skip_special_tokens ?? true;
    const texts: string[] = [];
    for (const tokenIds of toLists(wire.tokens)) {
      texts.push(await service.detokenize(wire.model, tokenIds, skipSpecialTokens));
    }
    return c.json({ text: isNested(wire.tokens) ? texts : (texts[0] ?? "") });
  };
}

function toLists(tokens: number[] | number[][]): readonly number[][] {
  return isNested(tokens) ? tokens : [tokens];
}

function isNested(tokens: number[] | number[][]): tokens is number[][] {
  return Array.isArray(tokens[0]);
}
