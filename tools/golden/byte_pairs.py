"""Writes the results of Hugging Face's byte-level BPE for difficult texts, for the tests in tests/text.

Usage: python tools/golden/byte_pairs.py
Needs: transformers 5.23, tokenizers 0.23

Files in tests/text/golden:
  byte_pair/vocab.json, merges.txt   a small vocabulary learned from the sentences below
  byte_pair/tokenizer.json           the same for the fast tokenizer, with RoBERTa's <mask>
  byte_pairs.json                    ids of chosen and of random texts, for several tokenizer.json
"""

import json
import pathlib
import random
import tempfile

import tokens
from tokenizers import ByteLevelBPETokenizer, Tokenizer
from transformers import RobertaTokenizer

FOLDER = tokens.FOLDER
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
VOCABULARY = 640


def special(name):
    return {"SpecialToken": {"id": name, "type_id": 0}}


def sequence(name, type_id=0):
    return {"Sequence": {"id": name, "type_id": type_id}}


# Names of columns of ids: JSON pointers into tokenizer.json and new values.
SETTINGS = {
    "plain": {},
    "prefix_space": {"/pre_tokenizer/add_prefix_space": True},
    "one_word": {"/pre_tokenizer/use_regex": False},
    "template": {
        "/post_processor": {
            "type": "TemplateProcessing",
            "single": [special("<s>"), sequence("A"), special("</s>")],
            "pair": [special("<s>"), sequence("A"), special("</s>"), sequence("B", 1)]
            + [{"SpecialToken": {"id": "</s>", "type_id": 1}}],
            "special_tokens": {
                name: {"id": name, "ids": [i], "tokens": [name]}
                for i, name in [(0, "<s>"), (2, "</s>")]
            },
        }
    },
    "other_rules": {
        "/added_tokens/0/normalized": True,
        "/added_tokens/1/rstrip": True,
        "/added_tokens/2/lstrip": True,
        "/added_tokens/2/normalized": True,
        "/added_tokens/4/lstrip": False,
    },
}

SENTENCES = [
    "The film was not what I had hoped for, but it's a fine one all the same.",
    "I don't think we'll see anything like this again; they've said so, and I'd agree.",
    "She's the heart of the story, and the story isn't half as clever as she is.",
    "You're going to laugh, you're going to cry, and then you will go home happy.",
    "In 1999 it cost $12.50 to see, in 2024 it costs 15 or 16, with popcorn 23.75.",
    "A dull, slow, unaffable mess: nothing happens for 90 minutes, then it ends.",
    "I'm told the second half is better. I wouldn't know. I left.",
    "Das Café an der Straße war für uns ein schöner Ort, très élégant, naïve résumé.",
    "Привет мир, это хороший фильм. Привет!",
    "日本語の文と中国人の映画 👍 👍🏽 😀",
    "  two spaces,   three spaces,\ta tab\nand\n\nnew lines",
    "http://www.example.com/path_to/file.html?x=1&y=2 -- --- ... !!! ??",
]

CHOSEN = [
    "",
    " ",
    "  ",
    "\n",
    "\t\n \u00a0 ",
    "Hello, world!",
    " Hello, world! ",
    "  two  spaces   three    four ",
    "tab\ttabs\t\tnew\nline\n\nlines\r\nreturn \n mixed \t x",
    "I'm you're he's she'd we'll they've don't isn't",
    "I'M YOU'RE HE'S SHE'D WE'LL THEY'VE DON'T",
    "'s 's' ''s 'sx x's' 'll'll 're've'm'd'tt rock'n'roll '' ' I' 'v 'l",
    "it\u2019s don\u2019t \u2018quoted\u2019 \u201cdouble\u201d",
    "abc123def 1999 3.14 1,000,000 $12.50 50% x2 2x H2O",
    "\u00bd \u2167 \u00b2 x\u00b2 \u0663\u0664 1\u0663a \u3007 \u4e00\u4e8c\u4e09 \u2460",
    "caf\u00e9 cafe\u0301 na\u00efve r\u00e9sum\u00e9 Stra\u00dfe \u0130stanbul",
    "e\u0301\u0323 \u0301 \u0301a a\u0301b \u20dd \u302e x\u034fy",
    "日本語の文 中国人，映画。カタカナ 한국어",
    "مرحبا بالعالم، שָׁלוֹם עולם",
    "नमस्ते दुनिया। ก็กำ",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f \U0001f44d\U0001f3fd"
    "\U0001f1e9\U0001f1ea a\U0001f600b",
    "nbsp\u00a0here \u00a0two\u00a0\u00a0three thin\u2009space ideographic\u3000space\u3000\u3000x",
    "line\u2028para\u2029nel\u0085end ogham\u1680x \u205f\u202f",
    "zero\u200bwidth joi\u200dner soft\u00adhyphen bom\ufeff \u2060word mongolian\u180ex",
    "nul\x00char bell\x07 esc\x1b[0m del\x7f c1\x9b unit\x1f \x1c\x1d",
    "replacement \ufffd char\ufffdjoined \ue000 \ufdd0 \U0010ffff \u0378",
    "\U00010d4a\U00010d6f1\U00010d40 \u1c89\ua7cb\U0002ebf0",
    "a<mask>b a <mask> b  <mask>  \n<mask>\u3000<mask><mask>",
    "<mask> film <mask>.",
    "</s> a </s>b<s> <pad>  <unk> <s><pad></s>",
    "<mask <mas k> < mask> <MASK> <<mask>> <s</s>>",
    "snake_case CamelCase kebab-case a.b.c a/b @user #tag user@example.com",
    "http://www.example.com/path_to/file.html?x=1&y=2#z",
    "...!!!??? -- --- ''' \"\"\" (((a))) [b] {c} \\ | ~ ^ `",
    "a" * 39,
    "a" * 40,
    "a" * 41,
    "the" * 200,
    "-" * 333,
    " " * 77,
    " " * 77 + "x",
    "\u6f22" * 60,
    "ab" * 50 + "c" + "ba" * 50,
    "The film was not what I had hoped for, but it's a fine one.",
    '<br /><br />The film\'s "plot"&amp; more',
]


def make_vocabulary(folder):
    trainer = ByteLevelBPETokenizer()
    trainer.train_from_iterator(
        SENTENCES * 2,
        vocab_size=VOCABULARY,
        min_frequency=2,
        special_tokens=SPECIAL,
        show_progress=False,
    )
    trainer.save_model(str(folder))


def make_tokenizer_json(folder):
    backend = RobertaTokenizer.from_pretrained(folder)._tokenizer
    file = json.loads(backend.to_str())
    file["added_tokens"][4]["lstrip"] = True
    text = json.dumps(file, ensure_ascii=False, separators=(",", ":"))
    (folder / "tokenizer.json").write_text(text + "\n", encoding="utf-8", newline="\n")
    return file


def changed(file, changes):
    file = json.loads(json.dumps(file))
    for pointer, value in changes.items():
        *path, last = [int(k) if k.isdigit() else k for k in pointer.split("/")[1:]]
        place = file
        for key in path:
            place = place[key]
        place[last] = value
    return Tokenizer.from_str(json.dumps(file))


def random_text(rng):
    """Returns pieces of sentences with random text between them."""
    text = []
    for _ in range(rng.randint(1, 4)):
        if rng.random() < 0.5:
            words = rng.choice(SENTENCES).split(" ")
            begin = rng.randrange(len(words))
            text.append(" ".join(words[begin : begin + rng.randint(1, 4)]))
        else:
            text.append(tokens.random_text(rng))
        text.append(rng.choice(["", " ", "  ", "\n", "\u00a0", "'s", "<mask>", " <mask> ", "</s>"]))
    return "".join(text)


def main():
    folder = FOLDER / "byte_pair"
    folder.mkdir(parents=True, exist_ok=True)
    make_vocabulary(folder)
    file = make_tokenizer_json(folder)
    columns = {name: changed(file, changes) for name, changes in SETTINGS.items()}
    with tempfile.TemporaryDirectory() as empty:
        for name in ["vocab.json", "merges.txt"]:
            (pathlib.Path(empty) / name).write_bytes((folder / name).read_bytes())
        alone = RobertaTokenizer.from_pretrained(empty)
    rng = random.Random(11)
    texts = [random_text(rng) for _ in range(250)]

    def truncated(name, n, first, second=None):
        """Returns ids, and the number of them with type 0."""
        columns[name].enable_truncation(n, strategy="longest_first")
        encoded = columns[name].encode(first, second)
        columns[name].no_truncation()
        assert encoded.type_ids == sorted(encoded.type_ids)
        return [encoded.ids, encoded.type_ids.count(0)]

    long = CHOSEN[-2]
    sides = ["", "film", "the unaffable story", long, CHOSEN[9] + " </s> x"]
    tokens.write(
        "byte_pairs.json",
        {
            "settings": SETTINGS,
            "chosen": [[t] + [c.encode(t).ids for c in columns.values()] for t in CHOSEN],
            "random": [
                [t] + [columns[name].encode(t).ids for name in ["plain", "prefix_space"]]
                for t in texts
            ],
            "without_json": [[t, alone(t)["input_ids"]] for t in CHOSEN],
            "truncated": [[n, long, truncated("plain", n, long)[0]] for n in range(2, 30)],
            "pairs": [
                [name, n, first, second] + truncated(name, n, first, second)
                for name, lengths in [
                    ("plain", [4, 5, 6, 7, 8, 9, 12, 13, 20, 31, 40, 55, 56, 512]),
                    ("template", [3, 4, 5, 8, 21, 512]),
                ]
                for n in lengths
                for first in sides
                for second in sides
            ],
        },
    )


if __name__ == "__main__":
    main()
