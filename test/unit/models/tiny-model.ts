/** How GPT-2's byte-level vocabularies write the byte of each index. */
function byteAlphabet(): string[] {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const printable =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    return String.fromCharCode(printable ? byte : next++);
  });
}

const QWEN_SPLIT =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

export interface TinyTokenizer {
  /** Words of small letters; each is one token, id 256 and up, with the merges that lead there. */
  readonly words?: readonly string[];
  /** Special tokens, numbered after the words. */
  readonly special?: readonly string[];
}

export interface TinyTokenizerJson {
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    readonly [key: string]: unknown;
  };
  readonly [key: string]: unknown;
}

/** A tokenizer.json of Qwen's kind with a vocabulary of bytes and a few words. */
export function tinyTokenizerJson(options: TinyTokenizer = {}): TinyTokenizerJson {
  const { words = [], special = ["<|end|>"] } = options;
  const vocabulary = new Map(byteAlphabet().map((text, id) => [text, id]));
  const merges: [string, string][] = [];
  for (const word of words) {
    for (let length = 2; length <= word.length; length++) {
      const merged = word.slice(0, length);
      if (vocabulary.has(merged)) continue;
      vocabulary.set(merged, vocabulary.size);
      merges.push([word.slice(0, length - 1), word.charAt(length - 1)]);
    }
  }
  const first = vocabulary.size;
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: special.map((content, index) => ({
      id: first + index,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: { type: "NFC" },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern: { Regex: QWEN_SPLIT }, behavior: "Isolated", invert: false },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: {
      type: "ByteLevel",
      add_prefix_space: false,
      trim_offsets: false,
      use_regex: false,
    },
    decoder: { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: "",
      end_of_word_suffix: "",
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(vocabulary),
      merges,
    },
  };
}

/** The files of a small chat model, as contents by name. */
export function tinyModelFiles(options: TinyTokenizer = {}): Record<string, unknown> {
  return {
    "tokenizer.json": tinyTokenizerJson(options),
    "tokenizer_config.json": { eos_token: "<|end|>", bos_token: null, model_max_length: 2048 },
    "config.json": {
      model_type: "tiny",
      architectures: ["TinyForCausalLM"],
      max_position_embeddings: 1024,
    },
    "generation_config.json": { eos_token_id: eosOf(options), temperature: 0.6, top_k: 20 },
    "chat_template.jinja":
      "{% for message in messages %}{{ message.role }}: {{ message.content }}{{ eos_token }}{% endfor %}",
  };
}

function eosOf(options: TinyTokenizer): number {
  const { model } = tinyTokenizerJson(options);
  return Object.keys(model.vocab).length;
}
