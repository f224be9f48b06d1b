"""Small tokenizers of every supported kind, trained here, and what Hugging Face's library makes of texts with them.

    python scripts/oracle/tokenizer_small.py        # writes test/cases/tokenizer/small-models.json.gz
"""

import gzip
import json
import pathlib

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizer import hash_ids, pack
from tokenizer_strings import CODE, PROSE, build_strings

OUT = pathlib.Path(__file__).resolve().parents[2] / "test/cases/tokenizer/small-models.json.gz"
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"

LLAMA_DECODER = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]


def split(pattern: str, behavior: str = "isolated", invert: bool = False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level(pre, *, vocab: int = 700, use_regex: bool = False, prefix: bool = False, **model_options):
    tokenizer = Tokenizer(models.BPE(**model_options))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*pre, pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=use_regex)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocab, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(list(PROSE.values()) + CODE, trainer)
    return tokenizer


def characters(*, fallback: bool, normalizer=None, pre=None, decoder=None, unk: bool = True, fuse: bool = True, vocab: int = 900):
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>" if unk else None, fuse_unk=fuse, byte_fallback=fallback))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    training_pre = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    tokenizer.pre_tokenizer = pre if pre is not None else training_pre
    special = (["<unk>"] if unk else []) + (["<s>", "</s>"] if fallback else []) + ([f"<0x{b:02X}>" for b in range(256)] if fallback else [])
    texts = [t for key, t in PROSE.items() if key in ("en", "de", "fr", "es", "ru", "zh")] + CODE[:6]
    trainer = trainers.BpeTrainer(vocab_size=vocab, special_tokens=special, limit_alphabet=250, show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    if pre is None:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([])
    file = json.loads(tokenizer.to_str())
    if pre is None:
        file["pre_tokenizer"] = None
    # Byte tokens are plain entries in real files, not added tokens.
    file["added_tokens"] = [t for t in file["added_tokens"] if not t["content"].startswith("<0x")]
    tokenizer = Tokenizer.from_str(json.dumps(file))
    tokenizer.decoder = decoder if decoder is not None else decoders.Sequence(LLAMA_DECODER)
    return tokenizer


def add_tokens(tokenizer: Tokenizer) -> Tokenizer:
    """Added tokens of every make."""
    tokenizer.add_special_tokens([AddedToken("<|end|>", special=True), AddedToken("<|l|>", lstrip=True, special=True)])
    tokenizer.add_tokens(
        [
            AddedToken("<|r|>", rstrip=True, normalized=False),
            AddedToken("<|lr|>", lstrip=True, rstrip=True, normalized=True),
            AddedToken("word", single_word=True, normalized=True),
            AddedToken("é", single_word=True, normalized=False),
            AddedToken("two words", normalized=True),
            AddedToken("  ", normalized=False),
            AddedToken("\n\n", normalized=False),
            AddedToken("\n\n\n", normalized=True),
            AddedToken("ﬁn", normalized=True),
        ]
    )
    return tokenizer


ADDED_TEXTS = [
    "a <|l|> b", "a  <|l|>  b", "<|r|>  b", "a<|r|> \n\n b", "a <|lr|> b", " <|lr|> ", "<|r|> <|l|>", "<|r|>   <|l|>  <|lr|> word", "word", "words", "a word.", "sword",
    "word_", "word-word", "éword", "word é", "é", "aé", "é1", "(é)", "中é", "two words", "xtwo wordsx", "two  words", "a  b", "   ", "    x", "\n\n\n", "a\n\n\n\nb", "ﬁn", "ﬁnal fin",
    "<|end|>", "<|end|><|end|>word<|end|>", "<|end", "\u3000<|l|>\u3000", "\u00a0<|lr|>\u200b", "<|r|>\n\n\nx", " word", "word ", "▁word", "two▁words", "<|l|>", " <|l|>", "x\u0301word", "word\u0301", "👍word👍",
]


def with_frame(tokenizer: Tokenizer, processor) -> Tokenizer:
    tokenizer.post_processor = processor
    return tokenizer


def build() -> dict[str, Tokenizer]:
    llama = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    cl100k = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES
    frame = processors.TemplateProcessing(single="<|end|> <|l|> $A <|end|>", special_tokens=[("<|end|>", 700), ("<|l|>", 701)])
    nfkc = byte_level([split(cl100k)])
    nfkc.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("a", "bb")])
    sparse = byte_level([split(cl100k)], unk_token=None)
    sparse_file = json.loads(sparse.to_str())
    dropped = {"x", "Ġ", "é", "1"}
    sparse_file["model"]["vocab"] = {t: i for t, i in sparse_file["model"]["vocab"].items() if not dropped & set(t)}
    sparse_file["model"]["merges"] = [m for m in sparse_file["model"]["merges"] if not dropped & set("".join(m))]
    unknown_file = json.loads(json.dumps(sparse_file))
    unknown_file["model"].update(unk_token="!", fuse_unk=True)
    return {
        "gpt2": byte_level([], use_regex=True),
        "gpt2-prefix-space": byte_level([], use_regex=True, prefix=True),
        "gpt2-digits": byte_level([pre_tokenizers.Digits(individual_digits=True)], use_regex=True),
        "gpt2-digit-runs": byte_level([pre_tokenizers.Digits(individual_digits=False)], use_regex=True),
        "no-split": byte_level([]),
        "cl100k-removed": byte_level([split(cl100k, "removed", True)]),
        "cl100k-possessive": byte_level([split(r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+")]),
        "cl100k-marks": byte_level([split(CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + SPACES)]),
        "cl100k-after-digits": byte_level([split(r"\p{N}{1,3}"), split(cl100k.replace("{1,3}", "+"))]),
        "tekken": byte_level([split(r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + SPACES)]),
        "ignore-merges": byte_level([split(cl100k)], ignore_merges=True),
        "added-tokens": with_frame(add_tokens(byte_level([split(cl100k)])), frame),
        "normalized": add_tokens(nfkc),
        "roberta": with_frame(add_tokens(byte_level([], use_regex=True, prefix=True)), processors.RobertaProcessing(("<|end|>", 700), ("<|l|>", 701))),
        "missing-bytes": Tokenizer.from_str(json.dumps(sparse_file)),
        "unknown-bytes": Tokenizer.from_str(json.dumps(unknown_file)),
        "llama2": characters(fallback=True, normalizer=llama, decoder=decoders.Sequence([*LLAMA_DECODER, decoders.Strip(" ", 1, 0)])),
        "llama2-added": add_tokens(characters(fallback=True, normalizer=llama, decoder=decoders.Sequence([*LLAMA_DECODER, decoders.Strip(" ", 1, 0)]))),
        "gemma": add_tokens(characters(fallback=True, normalizer=normalizers.Replace(" ", "▁"), pre=pre_tokenizers.Split(" ", "merged_with_previous"))),
        "metaspace-first": add_tokens(characters(fallback=True, pre=pre_tokenizers.Metaspace(prepend_scheme="first", split=False), decoder=decoders.Sequence([*LLAMA_DECODER, decoders.Strip(" ", 1, 0)]))),
        "metaspace-always": add_tokens(characters(fallback=True, pre=pre_tokenizers.Metaspace(prepend_scheme="always", split=True))),
        "metaspace-never": characters(fallback=True, pre=pre_tokenizers.Metaspace(prepend_scheme="never", split=True)),
        "metaspace-unknown": characters(fallback=False, pre=pre_tokenizers.Metaspace(prepend_scheme="always", split=True), decoder=decoders.Metaspace(prepend_scheme="always", split=True)),
        "metaspace-unknown-apart": characters(fallback=False, fuse=False, pre=pre_tokenizers.Metaspace(prepend_scheme="first", split=False), decoder=decoders.Metaspace(prepend_scheme="never", split=False)),
        "metaspace-dropped": characters(fallback=False, unk=False, pre=pre_tokenizers.Metaspace(prepend_scheme="always", split=False), decoder=decoders.Metaspace(prepend_scheme="always", split=False)),
    }


def sequences(tokenizer: Tokenizer, vocab_size: int) -> list[list[int]]:
    state = 1
    out = []
    for index in range(120):
        ids = []
        for _ in range(1 + index % 25):
            state = (state * 1103515245 + 12345) % 2**31
            low = 300 if index % 2 else vocab_size + 3
            ids.append((state >> 8) % low)
        out.append(ids)
    return out


def main() -> None:
    strings = build_strings()
    texts = ADDED_TEXTS + [s for i, s in enumerate(strings) if len(s) < 400 and (i < 330 or i % 11 == 0)]
    out = {"library": f"tokenizers {tokenizers.__version__}", "texts": texts, "models": {}}
    for name, tokenizer in build().items():
        size = tokenizer.get_vocab_size() + 1
        ids = sequences(tokenizer, size)
        out["models"][name] = {
            "tokenizer": json.loads(tokenizer.to_str()),
            "encoded": pack([hash_ids(tokenizer.encode(t, add_special_tokens=False).ids) for t in texts]),
            "special": tokenizer.encode("Hello", add_special_tokens=True).ids,
            "sequences": ids,
            "decoded": [tokenizer.decode(s, skip_special_tokens=False) for s in ids],
            "decodedSkippingSpecial": [tokenizer.decode(s, skip_special_tokens=True) for s in ids],
        }
    data = json.dumps(out, separators=(",", ":")).encode()
    OUT.write_bytes(gzip.compress(data, 9, mtime=0))
    print(len(texts), "texts,", len(out["models"]), "models,", OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
