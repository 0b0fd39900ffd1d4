"""Writes how Hugging Face splits texts at added tokens, for the tests in tests/text.

Usage: python tools/golden/added_tokens.py
Needs: transformers 5.23, tokenizers 0.23, and tests/text/golden/vocab.txt (tokens.py)

File in tests/text/golden:
  added_tokens.json  random tokens with random rules, as in tokenizer_config.json, and the ids of
                     random texts, truncated to 12 tokens from the right or the left, and of pairs
"""

import json
import pathlib
import random
import shutil
import tempfile

from tokenizers.normalizers import BertNormalizer
from transformers import BertTokenizer

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "text" / "golden"

WORDS = ["film", "Film", "fi", "the", "The", "é", "É", "e\u0301", "中", "中国", "a", "A", "ab"]
WORDS += ["a.b", ".", "_", "x_", "1", "##s", "[X]", "<url>", "user token", " film", "film ", "ß"]
WORDS += ["İ", "i", "Σ", "が", "か", "-", "don't", "\u00a0a", "①", "Ⓐ", "\u2168"]
BETWEEN = ["", "", " ", "  ", "\t", "\u00a0", "\u3000", "_", ".", "s", "é", "\u0301", "中", "\u200d"]
BETWEEN += ["3", "①", "Ⓐ", "\u00ad", "\x01", "\n", "[SEP]", "[sep]"]
MAX_LENGTH = 12


def random_tokens(rng, vocabulary):
    """Returns tokens with random rules, by id."""
    known = {token: i for i, token in enumerate(vocabulary)}
    tokens, forms = {}, set()
    for content in rng.sample(WORDS, rng.randint(1, 6)):
        # If two tokens normalize to the same text, the library may use either.
        if BertNormalizer().normalize_str(content) in forms:
            continue
        forms.add(BertNormalizer().normalize_str(content))
        rules = {rule: rng.random() < 0.3 for rule in ("lstrip", "rstrip", "single_word", "special")}
        rules["normalized"] = rng.random() < 0.6
        number = known.setdefault(content, len(known))
        tokens[str(number)] = {"content": content, **rules}
    return tokens


def random_text(rng, tokens):
    contents = [token["content"] for token in tokens.values()] * 2 + WORDS
    text = rng.choice(BETWEEN)
    for _ in range(rng.randint(1, 7)):
        word = rng.choice(contents)
        text += rng.choice([word, word, word.upper(), word.lower()]) + rng.choice(BETWEEN)
    return text


def make_case(rng, vocabulary):
    config = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": rng.random() < 0.7,
        "strip_accents": rng.choice([None, None, True, False]),
        "truncation_side": rng.choice(["left", "right"]),
        "added_tokens_decoder": random_tokens(rng, vocabulary),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        shutil.copyfile(FOLDER / "vocab.txt", path / "vocab.txt")
        (path / "tokenizer_config.json").write_text(json.dumps(config))
        tokenizer = BertTokenizer.from_pretrained(folder)
    for number, token in config["added_tokens_decoder"].items():
        assert tokenizer.get_vocab()[token["content"]] == int(number), token

    def ids(*sides):
        sides = [[side] for side in sides]
        return tokenizer(*sides, truncation=True, max_length=MAX_LENGTH)["input_ids"][0]

    texts = []
    for _ in range(40):
        text = random_text(rng, config["added_tokens_decoder"])
        try:
            ids(text)
        except BaseException as error:  # it panics on tokens that begin with text that another one strips
            assert "panic" in type(error).__name__.lower(), error
            continue
        texts.append(text)
    texts = texts[:10]

    return {
        "config": config,
        "texts": [[text, ids(text)] for text in texts],
        "pairs": [[a, b, ids(a, b)] for a, b in zip(texts[:3], texts[3:6])],
    }


def main():
    rng = random.Random(5)
    vocabulary = (FOLDER / "vocab.txt").read_text(encoding="utf-8").splitlines()
    cases = [make_case(rng, vocabulary) for _ in range(80)]
    rows = ",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases)
    text = "[\n" + rows + "\n]\n"
    (FOLDER / "added_tokens.json").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
