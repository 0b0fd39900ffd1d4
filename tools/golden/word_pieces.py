"""Writes vocabularies that Hugging Face's WordPieceTrainer learns, for the tests in tests/text.

Usage: python tools/golden/word_pieces.py
Needs: tokenizers 0.23

File: tests/text/golden/word_pieces.json, a list of cases: texts, settings and the vocabulary in the order of its ids.

The trainer numbers the letters that continue a word in the order of a hash table, which differs from run to run, and
breaks ties by ids. To make its result deterministic, special tokens fix these ids: after BERT's five come all letters
by code point, then all letters that continue a word.
"""

import json
import pathlib
import random

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.trainers import WordPieceTrainer

FILE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "text" / "golden" / "word_pieces.json"

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
NORMALIZER = BertNormalizer()
SPLITTER = BertPreTokenizer()


def words_of(texts):
    return [
        word
        for text in texts
        for word, _ in SPLITTER.pre_tokenize_str(NORMALIZER.normalize_str(text))
    ]


def letters(texts, limit):
    """Returns the letters by code point, and those that continue a word."""
    counts = {}
    for word in words_of(texts):
        for c in word:
            counts[c] = counts.get(c, 0) + 1
    kept = sorted(counts, key=lambda c: -counts[c])
    if len(kept) > limit:
        assert counts[kept[limit - 1]] > counts[kept[limit]], "a tie at the limit is not defined"
    kept = set(kept[:limit])
    continuing = {c for word in words_of(texts) for c in word[1:]} & kept
    return sorted(kept) + ["##" + c for c in sorted(continuing)]


def vocabulary(texts, vocab_size, min_frequency, limit_alphabet):
    tokenizer = Tokenizer(WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = NORMALIZER
    tokenizer.pre_tokenizer = SPLITTER
    trainer = WordPieceTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        limit_alphabet=limit_alphabet,
        special_tokens=SPECIAL + letters(texts, limit_alphabet),
        continuing_subword_prefix="##",
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    ids = tokenizer.get_vocab()
    return sorted(ids, key=ids.get)


def case(texts, vocab_size, min_frequency=2, limit_alphabet=1000):
    return {
        "vocab_size": vocab_size,
        "min_frequency": min_frequency,
        "limit_alphabet": limit_alphabet,
        "texts": texts,
        "vocabulary": vocabulary(texts, vocab_size, min_frequency, limit_alphabet),
    }


def random_texts(rng, syllables, texts, words):
    """Returns words of a few syllables with very different frequencies, so that there are ties of all kinds."""
    lexicon = [
        "".join(rng.choice(syllables) for _ in range(rng.randint(1, 4))) for _ in range(words)
    ]
    return [
        " ".join(lexicon[int(len(lexicon) * rng.random() ** 3)] for _ in range(rng.randint(1, 20)))
        for _ in range(texts)
    ]


ENGLISH = [
    "The film is not bad at all; it's the best film I've seen this year.",
    "A dull, long-winded film that isn't as good as the first one.",
    "Unforgettable! The acting, the music, the editing: everything works.",
    "I forgot half of it on the way home, and I'd rather forget the rest.",
    "Nothing works: neither the acting nor the story. Forgettable.",
    "“Best of the year”, they say… I'd say it's the worst thing I've seen (10/10 bad).",
]
MIXED = [
    "Größe STRASSE straße résumé naïve ÉCOLE école façade",
    "中国人 看 电影, 漢字 and kana カタカナ ひらがな ひらがな",
    "привет мир, привет Мир! ΑΒΓ αβγ όσος ΌΣΟΣ",
    "한국어 텍스트 한국어 emoji \U0001f600\U0001f600 x\U0001f600y x\U0001f600y",
    "tab\there nul\x00char \u200bzero re\u0301sume\u0301 [SEP] [MASK] ##able",
]


def main():
    rng = random.Random(7)
    plain = random_texts(rng, ["ba", "be", "bi", "ka", "ko", "ne", "s", "t"], 40, 60)
    cases = [
        case(ENGLISH, 200),
        case(ENGLISH, 30522),
        case(ENGLISH, 30522, min_frequency=1),
        case(MIXED, 400, min_frequency=1),
        case(["aaaa aaaaa aaa aa a aaaaaaa", "abab ababab aabb aabbaabb abba", "a-a--a"], 60),
        case(plain, 150),
        case(plain, 30522, min_frequency=3),
        case(random_texts(rng, list("abc"), 30, 80), 200),
        case(random_texts(rng, list("ab"), 30, 80), 200),
        case(random_texts(rng, ["über", "e", "n", "ß", "д"], 30, 40), 120),
        case(["e" * 5 + " " + "t" * 4 + "e t x tet " * 3 + "eye exit"], 40, limit_alphabet=2),
    ]
    rows = ",\n".join(json.dumps(c, ensure_ascii=False, separators=(",", ":")) for c in cases)
    FILE.write_text("[\n" + rows + "\n]\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
