"""Writes the truncations of texts that are too long, for the tests in tests/text.

Usage: python tools/golden/truncation.py
Needs: transformers 5.23, and tests/text/golden/vocab.txt and byte_pair (tokens.py, byte_pairs.py)

File in tests/text/golden:
  truncation.json  per tokenizer rows of: the token limit, a text, a second one or null, and the ids
                   by --truncation head, tail and head_tail. The first two are by transformers
                   (truncation_side right and left), which has no head_tail. That keeps the first
                   quarter of a text's remaining tokens, rounded down, and the rest from its end.
                   Each text has as many tokens as transformers keeps (longest_first).
"""

import json
import pathlib
import shutil
import tempfile

from transformers import BertTokenizer, PreTrainedTokenizerFast

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "text" / "golden"

TEXTS = [
    "",
    "hello",
    "hello world the film's plot is unaffable, able new line return word zero width quoted single",
    "The plot: naïve [SEP] résumé of Zürich!",
]
LENGTHS = [4, 9, 14, 22, 31]


def bert_tokenizer():
    """Returns the tokenizer of a folder that hone wrote for head_tail. transformers reads truncation_side left."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(FOLDER / "vocab.txt", folder)
        config = {"truncation_side": "left", "hone_truncation": "head_tail"}
        (pathlib.Path(folder) / "tokenizer_config.json").write_text(json.dumps(config))
        tokenizer = BertTokenizer.from_pretrained(folder)
    assert tokenizer.truncation_side == "left"
    return tokenizer


def head_tail(pieces, count):
    first = count // 4
    return pieces if len(pieces) <= count else pieces[:first] + pieces[len(pieces) - count + first :]


def row(tokenizer, length, texts):
    # Uses a batch, because a single call treats "" as no pair.
    batch = [[text] for text in texts]
    ids = []
    for side in ("right", "left"):
        tokenizer.truncation_side = side
        encoded = tokenizer(*batch, truncation=True, max_length=length)
        ids.append(encoded["input_ids"][0])
    sequences = encoded.sequence_ids(0)
    kept = [
        head_tail(tokenizer(text, add_special_tokens=False)["input_ids"], sequences.count(i))
        for i, text in enumerate(texts)
    ]
    # The special tokens have the same places as for the other sides.
    ids.append([id if s is None else kept[s].pop(0) for id, s in zip(ids[1], sequences)])
    assert not any(kept)
    return [length, texts[0], texts[1] if len(texts) > 1 else None] + ids


def rows(tokenizer):
    single = [row(tokenizer, n, [text]) for text in TEXTS for n in LENGTHS]
    pairs = [row(tokenizer, n, [a, b]) for a in TEXTS[1:] for b in TEXTS[1:] for n in LENGTHS]
    return single + pairs


def main():
    byte_pairs = PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / "byte_pair/tokenizer.json"))
    golden = {"word_pieces": rows(bert_tokenizer()), "byte_pairs": rows(byte_pairs)}
    text = ",\n".join(
        json.dumps(name) + ": [\n" + ",\n".join(json.dumps(r, ensure_ascii=False) for r in each) + "\n]"
        for name, each in golden.items()
    )
    (FOLDER / "truncation.json").write_text("{\n" + text + "\n}\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
