"""The texts that the tokenizers are compared on: the same list on every run."""

import base64
import random
import unicodedata

PROSE = {
    "en": "The quick brown fox didn't jump over the lazy dog's bed; it'd rather've slept. Nevertheless, on 3 March 1998 at "
    "10:45 a.m., Dr. O'Neill (who'll be 47 tomorrow) paid $1,234.56 for a first-edition copy — \u201cquite a bargain,\u201d "
    "she said, \u2018isn\u2019t it?\u2019 Antidisestablishmentarianism and pneumonoultramicroscopicsilicovolcanoconiosis are long words.",
    "de": "Übermäßige Straßenbaumaßnahmen führten zu ärgerlichen Verzögerungen; der Donaudampfschifffahrtsgesellschaftskapitän "
    "zählte 1.234,56 € und sagte: „Das geht so nicht weiter!“ Größe, Fuß, GROẞ.",
    "fr": "L’été dernier, l'œuvre d’Hélène n’était qu’à 12 % achevée ; « Ça alors ! » s’écria-t-elle où naît l'aïeul, "
    "jusqu'à ce qu'aujourd'hui…",
    "es": "¿Dónde está el niño? ¡Qué vergüenza! El pingüino comió 3.500 piñas en Logroño, según el señor Núñez.",
    "ru": "Съешь же ещё этих мягких французских булок, да выпей чаю. В 1917 году произошла революция; «Война и мир» — роман Л. Н. Толстого.",
    "zh": "人工智能技术正在迅速发展，许多公司都在投入大量资源进行研究。二〇二三年，大型语言模型成为热门话题！你觉得“未来”会怎样？"
    "中华人民共和国成立于1949年10月1日没有标点的长句子在这里继续下去直到结束为止",
    "ja": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。コンピューター・プログラミングは「楽しい」ですか？ｶﾀｶﾅとひらがな、ー゛゜",
    "ko": "대한민국의 수도는 서울특별시이다. 안녕하세요? 저는 인공지능 모델입니다. 가나다라 각낙닥 ㄱㄴㄷ ㅏㅑㅓ",
    "ar": "السلام عليكم ورحمة الله وبركاته. كَتَبَ الطَّالِبُ الدَّرْسَ في ١٢٣٤٥ دقيقة، أليس كذلك؟",
    "he": "שָׁלוֹם עוֹלָם! הַיּוֹם יוֹם יָפֶה. מה שלומך? 5,000 ש״ח",
    "hi": "नमस्ते दुनिया! कृत्रिम बुद्धिमत्ता तेज़ी से बढ़ रही है। क्षत्रिय १२३४५६ रुपये।",
    "bn": "আমার সোনার বাংলা, আমি তোমায় ভালোবাসি। ১২৩৪৫",
    "ta": "வணக்கம் உலகம்! தமிழ் மொழி மிகவும் பழமையானது. ௧௨௩",
    "te": "నమస్కారం ప్రపంచం! తెలుగు భాష",
    "th": "สวัสดีชาวโลก ภาษาไทยไม่มีการเว้นวรรคระหว่างคำ ราคา ๑๒๓๔ บาท",
    "lo": "ສະບາຍດີຊາວໂລກ",
    "my": "မင်္ဂလာပါကမ္ဘာလောက ၁၂၃",
    "km": "សួស្តី​ពិភពលោក ១២៣",
    "ka": "გამარჯობა მსოფლიო! ᲒᲐᲛᲐᲠᲯᲝᲑᲐ",
    "hy": "Բարեւ աշխարհ։ ԲԱՐԵՒ եւ և",
    "am": "ሰላም ልዑል፡ ዓለም። ፩፪፫",
    "el": "Η γρήγορη καφέ αλεπού πηδάει πάνω από το τεμπέλικο σκυλί· ΟΔΥΣΣΕΥΣ ΐΰ ά",
    "tr": "İstanbul'da ılık bir gün; ISPARTA'nın güllerini IĞDIR'da görmedim.",
    "vi": "Tiếng Việt có rất nhiều dấu thanh: ằ ẳ ẵ ặ, nghiêng nghiêng, Đường Nguyễn Huệ.",
    "pl": "Zażółć gęślą jaźń. Pchnąć w tę łódź jeża lub ośm skrzyń fig.",
    "cs": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "mn": "Монгол хэл ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ",
    "bo": "བོད་ཡིག་ནི་ཁྱད་པར་ཅན་ཡིན། ༡༢༣",
    "chr": "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ꭳꭶꮝ",
    "got": "𐌼𐌰𐌲 𐌲𐌻𐌴𐍃 𐌹̈𐍄𐌰𐌽",
    "math": "∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β = ¬(¬α ∨ β), 𝒜 ⊂ 𝔹, ½ ⅓ ² ³ ₁₂ Ⅷ ⅸ ① ㊷ 𝟘𝟙𝟚 ∑_{i=0}^{n} i²",
}

CODE = [
    "def fib(n: int) -> int:\n    \"\"\"Doc's string.\"\"\"\n    if n < 2:\n        return n\n\treturn fib(n-1) + fib(n - 2)  # comment\n\n\nprint([fib(i) for i in range(1_000)])\n",
    "#include <stdio.h>\r\nint main(void) {\r\n\tprintf(\"Hello, %s!\\n\", argv[0]);\r\n\treturn 0x7fffffff;\r\n}\r\n",
    "const f = async (x?: number): Promise<void> => { await g(`${x ?? 0}//${y}`); };\nexport default class A extends B<C> {}\n",
    "<!DOCTYPE html>\n<html lang=\"en\"><body onload='x()'><p>&nbsp;&#x1F600; a&amp;b</p><!-- c --></body></html>",
    "SELECT t.id, COUNT(*) AS n FROM `tbl` t WHERE t.name LIKE '%o''k%' GROUP BY 1 HAVING n >= 10;\n",
    '{"a":[1,2.5e-10,null,true],"b":{"c":"\\u00e9\\n"},"d":""}',
    "fn main() { let v: Vec<&'static str> = vec![\"a\"; 3]; println!(\"{:?}\", v.iter().map(|s| s.len()).sum::<usize>()); }",
    "key: value\nlist:\n  - a\n  - b: c\n\n\n---\n# end\t\n   \n",
    "$ curl -sSL 'https://example.com/a/b?c=d&e=%20f#g' | jq -r '.x[]' > /dev/null 2>&1\n",
    "\\begin{equation}\n  \\frac{a}{b} = \\sqrt{c^2_{d}} \\label{eq:1}\n\\end{equation}",
    "camelCaseWord PascalCaseWord SCREAMING_SNAKE kebab-case-word HTTPServer2Go XMLHttpRequest iOS16 eBay's McDonald's",
    "1+1=2; 10/3≈3.33; 0xDEADBEEF 0b1010 1e10 -5 +6 .5 5. 1,000,000 192.168.0.1 2024-02-29T12:34:56.789Z",
]

SPECIALS = [
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>",
    "<|eot_id|>", "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "<｜User｜>", "<｜Assistant｜>",
    "<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜tool▁calls▁begin｜>", "<bos>", "<eos>", "<start_of_turn>",
    "<end_of_turn>", "<unused7>", "<unused70>", "<pad>", "<|start|>", "<|channel|>", "<|message|>", "<|return|>", "<|call|>",
    "[INST]", "[/INST]", "<s>", "</s>", "<unk>", "[TOOL_CALLS]", "<0x0A>", "<0x41>", "<table>", "</li>", "\n\n", "▁▁", "[@BOS@]",
]

WHITESPACE = [
    " ", "  ", "   ", "\t", "\n", "\r", "\r\n", "\n\n", "\n \n", " \n", "\n ", "\t\t", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x1f",
    "\u0085", "\u00a0", "\u1680", "\u180e", "\u2000", "\u2003", "\u2009", "\u200a", "\u200b", "\u2028", "\u2029", "\u202f",
    "\u205f", "\u2060", "\u3000", "\ufeff", " " * 15, " " * 16, " " * 17, " " * 83, "\n" * 31, "\n" * 32, "\t" * 9,
]

EMOJI = [
    "😀", "👍🏽", "👨\u200d👩\u200d👧\u200d👦", "🏳️\u200d🌈", "🇩🇪🇫🇷🇯", "❤️", "❤", "☺︎", "1️⃣", "#️⃣", "🧑🏿\u200d🚀", "🫠🫡", "👩🏼\u200d❤️\u200d💋\u200d👨🏾", "🏴󠁧󠁢󠁳󠁣󠁴󠁿",
]

CONTRACTIONS = [
    "'s", "'S", "'ſ", "'t", "'T", "'re", "'RE", "'Re", "'rE", "'ve", "'VE", "'m", "'M", "'ll", "'LL", "'lL", "'d", "'D", "'K", "'ſt",
    "’s", "’ll", "''s", "'", "''", "'r", "'l", "'v", "'ree", "'sx", "'ſſ", "'\u212a",
]

COMBINING = [
    "e\u0301", "é", "o\u0302\u0301", "ộ", "o\u0323\u0302", "a\u030a", "Å", "\u212b", "ﬁ", "ﬃ", "\u0301", "\u0301\u0301x", "x\u0301\u0327", "x\u0327\u0301",
    "가", "\u1100\u1161", "각", "\u1100\u1161\u11a8", "\u0344", "\u0958", "क\u093c", "\u2126", "\u1e9b\u0323", "\u0340", "\u0f43", "\ufb1d", "\U0001d15e",
    "\u20dd", "A\u20dd", "\u0488", "न\u094d", "ก\u0e34\u0e48",
]

DIGITS = "0123456789٠١٢٣०१२३๑๒๓０１２𝟘𝟙½²Ⅷ①〇㊷𐒠"

CONTROL = ["\x00", "\x01\x02", "\x07", "\x08", "\x1b[31mred\x1b[0m", "\x7f", "\x80", "\x9f", "\u00ad", "\u200e", "\u202e", "\ufff9", "\uffff", "\ufffe", "\ufdd0", "\ufffd", "\ue000", "\U000f0000", "\U0010ffff", "\U000e0001", "\u0378"]


def random_text(rng: random.Random, pools: list[list[str]], length: int) -> str:
    return "".join(rng.choice(rng.choice(pools)) for _ in range(length))


def characters_of(rng: random.Random, count: int) -> list[str]:
    """Characters of every general category."""
    by_category: dict[str, list[str]] = {}
    for code in range(0x110000):
        c = chr(code)
        category = unicodedata.category(c)
        if category != "Cs":
            by_category.setdefault(category, []).append(c)
    out = []
    for category in sorted(by_category):
        chosen = by_category[category]
        out += rng.sample(chosen, min(count, len(chosen)))
    return out


def chat_prompts() -> list[str]:
    return [
        "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n<|im_start|>user\nWhat's 12345 × 678?<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi!<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
        "<｜begin▁of▁sentence｜>You are helpful.<｜User｜>你好，世界<｜Assistant｜><think>\n",
        "<bos><start_of_turn>user\nYou're helpful.\n\nWrite a poem.<end_of_turn>\n<start_of_turn>model\n",
        "<|start|>system<|message|>You are ChatGPT.\nKnowledge cutoff: 2024-06\n\nReasoning: medium\n\n# Valid channels: analysis, commentary, final.<|end|><|start|>user<|message|>Hi<|end|><|start|>assistant",
        "<s>[INST] You are helpful.\n\nHello, who are you? [/INST]I'm a model.</s>[INST] Bye [/INST]",
        "<|im_start|>user\n<tool_response>\n{\"temperature\": 21.5, \"unit\": \"°C\"}\n</tool_response><|im_end|>\n<|im_start|>assistant\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"São Paulo\"}}\n</tool_call>",
    ]


def all_pools(every: list[str]) -> list[list[str]]:
    pools = [
        list("etaoin shrdlu"),
        WHITESPACE,
        EMOJI,
        CONTRACTIONS,
        COMBINING,
        CONTROL,
        SPECIALS,
        every,
        list(DIGITS),
        list("!?.,;:-_()[]{}/\\\"'`~@#$%^&*+=|<>"),
        PROSE["zh"],
        list("ABCDEFxyz"),
        PROSE["en"].split(" "),
        PROSE["ru"].split(" "),
        PROSE["ar"],
    ]
    return [list(pool) for pool in pools]


def build_strings() -> list[str]:
    rng = random.Random(20240607)
    strings: list[str] = [""]
    strings += list(PROSE.values()) + CODE + SPECIALS + WHITESPACE + EMOJI + CONTRACTIONS + COMBINING + CONTROL + chat_prompts()
    for text in PROSE.values():
        strings += [unicodedata.normalize("NFD", text), text.upper(), text.lower(), text.title(), " " + text, text + "\n", text.replace(" ", "")]
        strings += [text[i : i + rng.randint(1, 40)] for i in rng.sample(range(len(text)), min(12, len(text)))]
    for text in CODE:
        strings += [text.replace("    ", "\t"), text.replace("\n", "\r\n"), text * 3]
        strings += [text[i : i + rng.randint(1, 60)] for i in rng.sample(range(len(text)), 12)]
    for space in WHITESPACE:
        strings += [f"a{space}b", f"{space}a", f"a{space}", f"{space}{space}", f" {space}x", f"{space} x", f"1{space}2", f".{space}!", f"é{space}中", f"{space}'s", f"\n{space}\n", f"a{space}\n", f"{space}\u0301x"]
    for mark in CONTRACTIONS:
        strings += [f"it{mark}", f"it{mark} ok", f"IT{mark}X", f" {mark}", f"1{mark}", f"中{mark}", f"é{mark}e", f"\n{mark}", f"!{mark}"]
    for token in SPECIALS:
        strings += [f"a{token}b", f" {token} ", token * 2, token[:-1], token[1:], f"<{token}>", f"\n{token}\n", token.upper(), f"{token[: len(token) // 2]} {token[len(token) // 2 :]}", f"é{token}é", f"{token}  x"]
    for piece in COMBINING + CONTROL + EMOJI:
        strings += [f"a{piece}b", f" {piece}", f"{piece} {piece}", f"{piece}'s", f"1{piece}2", f"{piece}\n\n", f"A{piece}B", f"!{piece}!", piece * 5]
    for length in list(range(1, 13)) + [30, 100]:
        strings += ["7" * length, "x" + "7" * length, "".join(rng.choice(DIGITS) for _ in range(length)), " " + "9" * length + " a"]
    every = characters_of(rng, 20)
    for c in every:
        strings += [c, f"a{c}b", f" {c}{c}", f"{c} x"]
    for _ in range(40):
        data = base64.b64encode(rng.randbytes(rng.randint(3, 300))).decode()
        strings += [data, f"data:image/png;base64,{data}", rng.randbytes(rng.randint(1, 40)).hex()]
    hosts = ["https://www.example.com/", "http://user:pw@h.co:8080/", "ftp://ex.org/~a/", "mailto:a.b+c@d.e"]
    for _ in range(40):
        strings.append(rng.choice(hosts) + random_text(rng, [["a", "/", "?q=", "&x=", "%20", "-", "_", "1", "é", ".html", "#", "Index"]], rng.randint(1, 20)))
    pools = all_pools(every)
    for _ in range(900):
        strings.append(random_text(rng, pools, rng.randint(2, 12)))
    for _ in range(250):
        strings.append(random_text(rng, rng.sample(pools, 3), rng.randint(10, 120)))
    strings += ["a" * n for n in (2, 3, 31, 64, 65, 100, 1000)] + ["ab" * 500, " a" * 300, "中" * 300, "\u0301" * 200, "é" * 200, "Aa" * 200, "A" * 333 + "b", "!" * 500, "=" * 129, "-" * 200, "." * 77, "_" * 65, "\\" * 40, "👍" * 70, "\n \n " * 50]
    long_mix = list(PROSE.values()) + CODE + chat_prompts()
    for _ in range(12):
        rng.shuffle(long_mix)
        strings.append(rng.choice(["", " ", "\n"]).join(long_mix[: rng.randint(4, 14)]))
    return list(dict.fromkeys(strings))


def more_strings() -> list[str]:
    """For the full comparison: every code point in several places, and many more mixes."""
    strings = []
    points = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    # Unassigned and private planes are all alike: a few of each block will do.
    points = [c for c in points if c < 0x3200 or 0x9F00 < c < 0xAC80 or 0xD700 < c < 0x20100 or 0x2A000 < c < 0x33500 or 0xE0000 <= c < 0xE0200 or c % 97 == 0]
    for i in range(0, len(points), 24):
        chunk = [chr(c) for c in points[i : i + 24]]
        strings.append("".join(f"aB{c}cD 1{c} {c}'{c}s!{c}\n" for c in chunk))
        strings.append("".join(f" {c}{c}x\u0301{c}X{c}2" for c in chunk))
    rng = random.Random(7)
    pools = all_pools([chr(c) for c in points])
    for _ in range(20000):
        strings.append(random_text(rng, rng.sample(pools, rng.randint(2, 6)), rng.randint(2, 40)))
    return strings


if __name__ == "__main__":
    found = build_strings()
    print(len(found), sum(len(s.encode()) for s in found))
