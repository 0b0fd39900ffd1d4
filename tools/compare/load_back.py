"""Checks that transformers reads a folder written by hone, and prints its predictions.

    python tools/compare/load_back.py FOLDER [--text TEXT …] [--texts FILE] [--max-length N]

Prints one JSON object: `missing_keys` (in the model, not in the folder), `unexpected_keys` (in the
folder, not in the model), `mismatched_keys` (of another shape) and `predictions`, one per text, with
`input_ids`, float32 `logits` and `label`, the name of the largest. Texts are predicted one by one,
without padding. Exit code 1 if any key is missing, unexpected or mismatched.
"""

import argparse
import json
import pathlib
import sys

import torch
import transformers
from transformers import AutoModelForSequenceClassification, AutoTokenizer

TEXTS = ["The film was not good.", "A very dull plot, but great music!", ""]


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--text", action="append", default=[], help="a text; may be repeated")
    parser.add_argument("--texts", type=pathlib.Path, help="a file of texts, one per line")
    parser.add_argument("--max-length", type=int, default=512, help="tokens kept of a text")
    return parser.parse_args()


def chosen_texts(options):
    texts = list(options.text)
    if options.texts:
        texts += options.texts.read_text(encoding="utf-8").splitlines()
    return texts or TEXTS


@torch.no_grad()
def predict(model, tokenizer, text, max_length):
    longest = min(max_length, model.config.max_position_embeddings)
    inputs = tokenizer(text, truncation=True, max_length=longest, return_tensors="pt")
    logits = model(**inputs).logits[0]
    return {
        "text": text,
        "input_ids": inputs["input_ids"][0].tolist(),
        "logits": [float(f"{logit:.9g}") for logit in logits.tolist()],
        "label": model.config.id2label[logits.argmax().item()],
    }


def main():
    options = parse_options()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    model, report = AutoModelForSequenceClassification.from_pretrained(
        options.folder,
        attn_implementation="eager",
        dtype=torch.float32,
        output_loading_info=True,
    )
    tokenizer = AutoTokenizer.from_pretrained(options.folder)
    model.eval()
    kinds = ("missing_keys", "unexpected_keys", "mismatched_keys")
    result = {kind: sorted(map(str, report[kind])) for kind in kinds}
    is_whole = not any(result.values())
    result["predictions"] = [
        predict(model, tokenizer, text, options.max_length) for text in chosen_texts(options)
    ]
    print(json.dumps(result, ensure_ascii=False))
    sys.exit(0 if is_whole else 1)


if __name__ == "__main__":
    main()
