"""Writes the results of Hugging Face's tokenizer for difficult texts, for the tests in tests/text.

Usage: python tools/golden/tokens.py
Needs: transformers 5.23, tokenizers 0.23

Files in tests/text/golden:
  vocab.txt        a small vocabulary of letters, marks and pieces of many scripts
  tokens.json      ids of chosen and of random texts, for several normalizations
  characters.json  classes of all code points as ranges, and hashes of their normalized forms
  plain_tokens.json  ids of the chosen texts by a tokenizer.json without a normalizer
"""

import json
import pathlib
import random
import tempfile
import unicodedata

from tokenizers import AddedToken, Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer, ByteLevel
from tokenizers.processors import BertProcessing
from transformers import BertTokenizer

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "text" / "golden"

# Names of columns of ids, with their tokenizer_config.json.
SETTINGS = {
    "uncased": {},
    "cased": {"do_lower_case": False},
    "lower_with_accents": {"strip_accents": False},
    "cased_without_accents": {"do_lower_case": False, "strip_accents": True},
    "ideographs_joined": {"tokenize_chinese_chars": False},
}

SCRIPTS = {
    "latin": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "accents": "àáâãäåæçèéêëìíîïñòóôõöøùúûüýÿßœšžłđıȘțÀÉÎÕÜÇÑŠŽŁĐİẞǅǈ\u1e9b\u1ec7\u1ea4\u0149",
    "greek": "αβγδεζησςΑΒΓΔΣάΈώΐΰΏ\u1f80\u1fbc",
    "cyrillic": "абвгдйёжщъыьАБВЙЁЩѴѶ\u0301",
    "hebrew": "אבגשׁשּ\u05b0\u05b4\u05be",
    "arabic": "ابتثجحخآأؤئ\u064b\u064e\u0651\u060c\u061f\u06d4",
    "devanagari": "अआकखगज़क्षिी\u093c\u094d\u0964\u0970",
    "thai": "กขคงก็กำ\u0e4f",
    "kana": "あいうがぱアイウガパヴー゛々〆ｱｶﾞ",
    "hangul": "한국어글가각힣ᄒ\u1161\u11abㄱ",
    "cjk": "中国人日本語漢字一龥\u3400\uf900\ufa0e"
    "\U00020000\U0002f800\U0002b81e\U0002b820\U0002ceb0〇",
    "marks": "\u0300\u0301\u0303\u0308\u030a\u0323\u0327\u0338\u034f\u0345\u20d0\u20dd"
    "\u302e\u302f\U0001d165",
    "punctuation": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~¡¿«»“”‘’–—…·§¶†‡※、。「」！？％＄＋｀﹏\u2e43\u2e52",
    "symbols": "€£¥©®™°±×÷√∞≠≤←→■★☃♥\U0001d400\U0001f600\U0001f44d\U0001f3fd\U0001f1e9\U0001f1ea",
    "space": "  \t\n\r\v\f\u0085\u00a0\u1680\u2000\u2003\u2009\u2028\u2029\u202f\u205f"
    "\u3000",
    "invisible": "\x00\x01\x1b\x1c\x1f\x7f\x80\x9f\u00ad\u061c\u180e\u200b\u200c\u200d"
    "\u200e\u202e\u2060\ufeff\ufff9\ufffd\ue000\U000e0001\U000f0000\U0010ffff\ufdd0\u0378",
}

CHOSEN = [
    "",
    " ",
    "Hello, world!",
    "hello [MASK] world [SEP] [CLS][PAD] [UNK] [mask] [MASK [MASK]] x[MASK]y",
    "un[MASK]able\u0301[MASK]\u0301e",
    "unaffable unaffably unknownword",
    "I'm can't we'll — “quoted” ‘single’ (a)b/c #tag @name 50% $3.50 a_b-c",
    "résumé RÉSUMÉ re\u0301sume\u0301 naïve Zürich façade",
    "Straße STRASSE ẞ ß İstanbul ISTANBUL ıI ΌΣΟΣ όσος ΟΔΟΣ. Σ",
    "中国 is 中国人abc漢字, 日本語の文 カタカナ",
    "한국어 텍스트 각",
    "\ufa0e\uf900\U0002f800 \U00020000\U0002b81e\U0002b820\U0002ceb0",
    "tab\tnew\nline\rreturn\r\nvertical\vform\ffeed",
    "nbsp\u00a0here thin\u2009space ideographic\u3000space line\u2028para\u2029nel\u0085end",
    "zero\u200bwidth joi\u200dner soft\u00adhyphen bom\ufeff \u2060word",
    "nul\x00char bell\x07 esc\x1b[0m del\x7f c1\x9b",
    "replacement \ufffd char\ufffdjoined",
    "private \ue000 use\ue000joined noncharacter \ufdd0 \U0010ffff unassigned \u0378",
    "emoji \U0001f600\U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467 "
    "\u2764\ufe0f \U0001f1e9\U0001f1ea",
    "a\u0323\u0301b a\u0301\u0323b a\u034f\u0301 q\u0307\u0323 \u1e69 \u1e9b\u0323",
    "a\u302e\u0316b a\U0001d165\u0301 a\u20dd\u0301b",
    "a" * 99,
    "a" * 100,
    "a" * 101,
    "é" * 100,
    "é" * 101,
    "e\u0301" * 51,
    "漢" * 120,
    "hello" + "\x01" * 120,
    "x" * 60 + "-" + "x" * 60,
    "مرحبا بالعالم، كيف؟ שָׁלוֹם עולם",
    "नमस्ते दुनिया। ज़",
    "Привет мир ЙЁ й",
    "ﬁligature ½ Ⅷ ² ℌ",
    "`^~|<>=+$",
    "##able able ##s [unused1]",
    "...!!!??? -- --- '''",
    "Ǆ ǅ ǆ ŉ \u1f88 \u2126 \u212a \u212b",
    "word" + " " * 30 + "word",
    '<br /><br />The film\'s "plot"&amp; more',
]

WORDS = (
    "hello world able un ##aff ##able ##ably the film ##s plot tab new line return word resume "
    "résumé naive naïve zurich istanbul strasse straße is nbsp here joi ##ner zero width quoted "
    "single οδος όσος 中国 ##国 ##国人 привет мир 한국어 Hello RÉSUMÉ a ##a ##aa ##aaaa x ##xx e ##e ##ee "
    "é ##é ##éé [unused1] ... '''"
).split()


def make_vocabulary():
    """Returns special tokens, words, and most characters, alone and inside words."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + WORDS
    for characters in SCRIPTS.values():
        forms = (
            set(characters)
            | set(characters.lower())
            | set(unicodedata.normalize("NFD", characters))
        )
        for c in sorted(forms | set(unicodedata.normalize("NFD", characters).lower())):
            # Lines of vocab.txt contain no white space. Every fifth character stays unknown.
            if not c.isspace() and (c.isascii() or ord(c) % 5 != 0):
                tokens += [c, "##" + c]
    return list(dict.fromkeys(tokens))


def write_vocabulary(folder, vocabulary):
    text = "".join(token + "\n" for token in vocabulary)
    (folder / "vocab.txt").write_text(text, encoding="utf-8", newline="\n")


def make_tokenizers(vocabulary):
    tokenizers = {}
    for name, config in SETTINGS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "vocab.txt").write_text(
                "\n".join(vocabulary) + "\n", encoding="utf-8", newline="\n"
            )
            (path / "tokenizer_config.json").write_text(json.dumps(config))
            tokenizers[name] = BertTokenizer.from_pretrained(folder)
        assert tokenizers[name].get_vocab() == {t: i for i, t in enumerate(vocabulary)}
    return tokenizers


def random_text(rng):
    """Returns words of mixed scripts, some from all of Unicode."""
    pools = list(SCRIPTS.values())
    pieces = []
    for _ in range(rng.randint(1, 5)):
        kind = rng.random()
        if kind < 0.1:
            pieces.append(rng.choice(WORDS + ["[MASK]", "[SEP]"]))
        elif kind < 0.2:
            pieces.append(
                chr(rng.choice([rng.randrange(0x20, 0xD800), rng.randrange(0xE000, 0x20000)]))
            )
        else:
            pool = rng.choice(pools)
            pieces.append("".join(rng.choice(pool) for _ in range(rng.randint(1, 6))))
        pieces.append(rng.choice(["", "", " ", "\u0301", rng.choice(SCRIPTS["marks"]), "\u00a0"]))
    return "".join(pieces)


def ranges(predicate):
    """Returns the ranges [first, last] of code points for which `predicate` holds."""
    result = []
    for c in range(0x110000):
        if 0xD800 <= c <= 0xDFFF or not predicate(chr(c)):
            continue
        if result and result[-1][1] == c - 1:
            result[-1][1] = c
        else:
            result.append([c, c])
    return result


def block_hashes(normalizer):
    """Returns FNV-1a over the NUL-terminated normalized forms of each block of 4096 code points."""
    hashes = []
    for block in range(0, 0x110000, 0x1000):
        value = 0xCBF29CE484222325
        for c in range(block, block + 0x1000):
            form = b"" if 0xD800 <= c <= 0xDFFF else normalizer.normalize_str(chr(c)).encode()
            for byte in form + b"\0":
                value = (value ^ byte) * 0x100000001B3 % 2**64
        hashes.append(f"{value:016x}")
    return hashes


def make_characters():
    def one_step(step):
        names = ["clean_text", "handle_chinese_chars", "strip_accents", "lowercase"]
        return BertNormalizer(**{name: name == step for name in names})

    clean, cjk = one_step("clean_text"), one_step("handle_chinese_chars")
    strip, lower = one_step("strip_accents"), one_step("lowercase")
    split = BertPreTokenizer()
    split_bytes = ByteLevel(add_prefix_space=False)

    def pieces(c):
        return len(split.pre_tokenize_str("a" + c + "b"))

    single = Tokenizer(WordPiece({"u": 0}, unk_token="u"))
    single.add_tokens([AddedToken("QZ", single_word=True, normalized=False)])

    def joins(c, others):
        return len(split_bytes.pre_tokenize_str(others + c + others)) == 1

    return {
        "removed": ranges(lambda c: clean.normalize_str(c) == ""),
        "white_space": ranges(lambda c: pieces(c) == 2),
        "punctuation": ranges(lambda c: pieces(c) == 3),
        "cjk_ideograph": ranges(lambda c: len(cjk.normalize_str(c)) == 3),
        "letter": ranges(lambda c: joins(c, "a")),
        "number": ranges(lambda c: joins(c, "1")),
        "word": ranges(lambda c: single.encode("QZ" + c).ids[:1] != [1]),
        "nonspacing_mark": ranges(lambda c: strip.normalize_str(c) == ""),
        "strip_accents": block_hashes(strip),
        "lowercase": block_hashes(lower),
    }


def plain_tokens(vocabulary):
    """Returns ids without normalization: control characters, case and accents stay."""
    ids = {token: i for i, token in enumerate(vocabulary)}
    plain = Tokenizer(WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    plain.pre_tokenizer = BertPreTokenizer()
    plain.post_processor = BertProcessing(("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"]))
    plain.add_special_tokens(vocabulary[:5])
    return [[text, plain.encode(text).ids] for text in CHOSEN]


def write(name, value):
    rows = ",\n".join(
        f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False, separators=(',', ':'))}"
        for k, v in value.items()
    )
    (FOLDER / name).write_text("{\n" + rows + "\n}\n", encoding="utf-8", newline="\n")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    vocabulary = make_vocabulary()
    write_vocabulary(FOLDER, vocabulary)
    tokenizers = make_tokenizers(vocabulary)
    rng = random.Random(7)
    texts = [random_text(rng) for _ in range(1500)]

    def encode(name, text, **options):
        return tokenizers[name](text, truncation=True, max_length=options.get("max_length", 512))[
            "input_ids"
        ]

    def encode_pair(first, second, max_length):
        """Returns ids, and the number of them with type 0. Uses a batch, because a single call treats "" as no pair."""
        encoded = tokenizers["uncased"]([first], [second], truncation=True, max_length=max_length)
        types = encoded["token_type_ids"][0]
        assert types == sorted(types)
        return [encoded["input_ids"][0], types.count(0)]

    sides = ["", "hello", "unaffable world", CHOSEN[6], CHOSEN[7] + " [SEP] x"]
    write(
        "tokens.json",
        {
            "settings": SETTINGS,
            "chosen": [[text] + [encode(name, text) for name in SETTINGS] for text in CHOSEN],
            "random": [
                [text] + [encode(name, text) for name in ("uncased", "cased")] for text in texts
            ],
            "truncated": [
                [n, CHOSEN[6], encode("uncased", CHOSEN[6], max_length=n)] for n in range(2, 60)
            ],
            "pairs": [
                [n, first, second] + encode_pair(first, second, n)
                for first in sides
                for second in sides
                for n in [3, 4, 5, 6, 7, 8, 9, 12, 13, 20, 31, 40, 55, 56, 512]
            ],
        },
    )
    write("characters.json", make_characters())
    write("plain_tokens.json", {"chosen": plain_tokens(vocabulary)})


if __name__ == "__main__":
    main()
