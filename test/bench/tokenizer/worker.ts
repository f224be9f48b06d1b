/**
 * The Worker of `npm run bench:tokenizer`: holds texts and one tokenizer, and repeats a piece of work as often as the
 * request says, so that the time can be taken from outside.
 */
import { createHuggingFaceTokenizer } from "../../../src/prompt/tokenizer/huggingface-tokenizer.ts";
import { loadTokenizer } from "../../../src/prompt/tokenizer/load-tokenizer.ts";
import type { Tokenizer } from "../../../src/prompt/tokenizer/tokenizer.ts";

interface Assets {
  readonly ASSETS: { fetch(url: string): Promise<Response> };
}

// One process holds one tokenizer for all of a run: state is what is measured here.
const texts = new Map<string, string>();
let file: ArrayBuffer | undefined;
let tokenizer: Tokenizer | undefined;
const kept: Tokenizer[] = [];

const KEEP_SPECIAL = { skipSpecialTokens: false } as const;
const PLAIN = { addSpecialTokens: false } as const;

export default {
  async fetch(request: Request, env: Assets): Promise<Response> {
    const url = new URL(request.url);
    const name = url.searchParams.get("name") ?? "";
    const kind = url.searchParams.get("kind") ?? "";
    const times = Number(url.searchParams.get("times") ?? "1");
    switch (url.pathname) {
      case "/text":
        texts.set(name, await request.text());
        return new Response("");
      case "/file":
        file = await (await env.ASSETS.fetch(`http://assets/${name}`)).arrayBuffer();
        return new Response(String(file.byteLength));
      case "/load":
        return new Response(String(load(kind, times)));
      case "/keep":
        return new Response(String(await keep(env, name, { kind, times })));
      case "/forget":
        file = undefined;
        return new Response("");
      case "/encode":
        return new Response(String(encode(texts.get(name) ?? "", times)));
      case "/stream":
        return new Response(String(stream(texts.get(name) ?? "", times)));
      default:
        return new Response("");
    }
  },
};

function load(kind: string, times: number): number {
  const buffer = file ?? new ArrayBuffer(0);
  for (let time = 0; time < times; time++) tokenizer = create(kind, buffer);
  return tokenizer?.vocabSize ?? 0;
}

function create(kind: string, buffer: ArrayBuffer): Tokenizer {
  return kind === "bpe" ? loadTokenizer(buffer) : createHuggingFaceTokenizer(buffer);
}

/** Loads more tokenizers, each from a file of its own, and keeps them, so that memory can be told from garbage. */
async function keep(
  env: Assets,
  name: string,
  { kind, times }: { readonly kind: string; readonly times: number },
): Promise<number> {
  for (let time = 0; time < times; time++) {
    const buffer = await (await env.ASSETS.fetch(`http://assets/${name}`)).arrayBuffer();
    kept.push(create(kind, buffer));
  }
  return kept.length;
}

/** Tokens of the text. */
function encode(text: string, times: number): number {
  let count = 0;
  for (let time = 0; time < times; time++) count = tokenizer?.encode(text, PLAIN).length ?? 0;
  return count;
}

/** Tokens pushed through detokenizers, `times` times. */
function stream(text: string, times: number): number {
  const ids = tokenizer?.encode(text, PLAIN) ?? new Uint32Array(0);
  let length = 0;
  for (let time = 0; time < times; time++) {
    const detokenizer = tokenizer?.createDetokenizer(KEEP_SPECIAL);
    for (const id of ids) length += detokenizer?.push(id).length ?? 0;
  }
  return length < 0 ? 0 : ids.length;
}
