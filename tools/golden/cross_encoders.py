"""Writes a tiny random cross-encoder with several labels in sentence-transformers' format, with its scores.

    python tools/golden/cross_encoders.py

Writes tests/models/golden/cross_encoders/three_labels/ as CrossEncoder.save_pretrained does, with a
sigmoid as its activation, weights and a vocab.txt, and expected.json: `pairs` and their `scores`
(float32, eager attention, one thread).
"""

import json
import shutil

import tiny_bert
import torch
import transformers
from embeddings import BERT
from sentence_transformers import CrossEncoder

FOLDER = tiny_bert.ROOT / "tests" / "models" / "golden" / "cross_encoders" / "three_labels"
PAIRS = [
    ["a film", "The film was not bad, and the acting is really fine in it!"],
    ["dull", ""],
    ["AWFUL Music", "very good"],
]


def write_model(folder):
    """Writes the classifier that CrossEncoder loads."""
    config = transformers.BertConfig(**BERT, num_labels=3)
    model = transformers.BertForSequenceClassification._from_config(config)
    tiny_bert.set_weights(model, 90, scale=0.4)
    model.save_pretrained(folder)
    tiny_bert.write_vocabulary(folder, config.vocab_size)
    tokenizer = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 20}
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer, indent=2) + "\n")


def opened(folder, **more):
    return CrossEncoder(
        str(folder), device="cpu", model_kwargs=dict(attn_implementation="eager"), **more
    )


def main():
    tiny_bert.prepare()
    shutil.rmtree(FOLDER, ignore_errors=True)
    plain = FOLDER / "plain"
    plain.mkdir(parents=True)
    write_model(plain)
    opened(plain, activation_fn=torch.nn.Sigmoid()).save_pretrained(
        str(FOLDER), create_model_card=False
    )
    (FOLDER / "tokenizer.json").unlink()
    for name in ("vocab.txt", "tokenizer_config.json"):
        shutil.copy(plain / name, FOLDER / name)
    shutil.rmtree(plain)
    scores = opened(FOLDER).predict(PAIRS, convert_to_tensor=True)
    assert (scores.sum(dim=1) - 1).abs().min() > 0.01, "a softmax would do"
    expected = {"pairs": PAIRS, "scores": tiny_bert.float32_list(scores)}
    tiny_bert.write_json(FOLDER / "expected.json", expected)
    print(scores)


if __name__ == "__main__":
    main()
