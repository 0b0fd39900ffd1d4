"""Writes tiny random BERT classifiers as Hugging Face folders, with transformers' outputs.

    python tools/golden/models.py [NAME…]

Writes tests/frontends/golden/NAME/ with config.json, vocab.txt, the weights in one of the layouts
in use, and expected.json: batches with `logits` (float32, eager attention, one thread),
`logits_f64` and `pooled_f64` (the same weights, all arithmetic in float64) and the mean
cross-entropy against `labels` as `loss` and `loss_f64`. Folders without a classifier have
`pooled_f64` only. The first batch of each folder comes from `texts` through BertTokenizer,
truncated to the positions of the model.
Every folder is checked by reading it back with transformers.
The folders are emptied first, so run gradients.py afterwards.
"""

import dataclasses
import shutil
import sys
from collections.abc import Callable

import numpy
import torch
from transformers import BertForSequenceClassification, BertModel, BertTokenizer

import layouts
import tiny_bert

TEXTS = ["The film was not good.", "a very dull plot, but great music", "Awful"]


@dataclasses.dataclass
class Case:
    """One folder: its name, its layout and its model."""

    name: str
    save: Callable
    settings: dict
    dtype: torch.dtype = torch.float32
    has_classifier: bool = True
    has_segments: bool = True


def sizes(hidden, heads, layers, intermediate, vocabulary, positions, **others):
    return dict(
        hidden_size=hidden,
        num_attention_heads=heads,
        num_hidden_layers=layers,
        intermediate_size=intermediate,
        vocab_size=vocabulary,
        max_position_embeddings=positions,
        **others,
    )


SENTIMENT = dict(
    id2label={0: "negative", 1: "neutral", 2: "positive"},
    label2id={"negative": 0, "neutral": 1, "positive": 2},
)

CASES = [
    Case("safetensors", layouts.save_safetensors, sizes(24, 2, 2, 48, 80, 32)),
    Case(
        "safetensors_sharded",
        layouts.save_sharded_safetensors,
        sizes(36, 3, 4, 72, 110, 24, hidden_act="gelu_new", layer_norm_eps=1e-5, **SENTIMENT),
    ),
    Case(
        "zip",
        layouts.save_zip,
        sizes(12, 3, 2, 20, 64, 40, hidden_act="relu", num_labels=3),
    ),
    Case(
        "legacy",
        layouts.save_legacy,
        sizes(40, 5, 1, 96, 70, 28, hidden_act="gelu_pytorch_tanh", layer_norm_eps=1e-5),
    ),
    Case(
        "zip_sharded",
        layouts.save_sharded_zip,
        sizes(24, 1, 3, 40, 60, 24, hidden_act="tanh", type_vocab_size=1),
        has_segments=False,
    ),
    Case("gamma_beta", layouts.save_gamma_beta, sizes(20, 4, 1, 33, 90, 25)),
    Case("base_model", layouts.save_base_model, sizes(16, 2, 2, 32, 75, 24), has_classifier=False),
    Case(
        "pretraining",
        layouts.save_pretraining,
        sizes(24, 3, 1, 36, 120, 24),
        has_classifier=False,
    ),
    Case(
        "minimal_config",
        layouts.save_pretraining_legacy,
        sizes(32, 2, 2, 64, 100, 32),
        has_classifier=False,
    ),
    Case("views", layouts.save_views, sizes(18, 3, 1, 30, 61, 26, layer_norm_eps=1e-5)),
    Case("float16", layouts.save_safetensors, sizes(24, 6, 2, 56, 85, 30), dtype=torch.float16),
    Case(
        "bfloat16",
        layouts.save_zip,
        sizes(48, 3, 1, 64, 65, 24, hidden_act="gelu_new", num_labels=3),
        dtype=torch.bfloat16,
    ),
]


def batches(case, folder, config, generator):
    """Returns batches with padding on the right, left and none; the longest sentence; one token; two segments."""
    segments = case.has_segments
    tokenizer = BertTokenizer.from_pretrained(folder)
    longest = config.max_position_embeddings
    words = dict(
        tokenizer(TEXTS, padding=True, truncation=True, max_length=longest, return_tensors="pt")
    )
    if not segments:
        del words["token_type_ids"]
    words["labels"] = torch.from_numpy(generator.integers(0, config.num_labels, size=len(TEXTS)))
    yield words
    yield tiny_bert.random_batch(generator, config, [9, 4, 13, 7], segments)
    yield tiny_bert.random_batch(generator, config, [3, 8, 5], segments, pad_left=True)
    yield tiny_bert.random_batch(generator, config, [longest], segments)
    yield tiny_bert.random_batch(generator, config, [1], segments)


@torch.no_grad()
def outputs(model, batch):
    """Returns (loss, logits, output of the pooler) of one batch."""
    result = model(**batch)
    inputs = {name: values for name, values in batch.items() if name != "labels"}
    return result.loss, result.logits, model.bert(**inputs).pooler_output


def expected(case, model, batch):
    """Returns one entry of expected.json, and the distance of float32 and float64 logits."""
    loss, logits, _ = outputs(model, batch)
    loss_f64, logits_f64, pooled_f64 = outputs(tiny_bert.in_double(model), batch)
    entry = {name: values.tolist() for name, values in batch.items()}
    if case.has_classifier:
        entry["loss"] = tiny_bert.float32_list(loss)
        entry["loss_f64"] = loss_f64.item()
        entry["logits"] = tiny_bert.float32_list(logits)
        entry["logits_f64"] = logits_f64.tolist()
    else:
        del entry["labels"]
    entry["pooled_f64"] = pooled_f64.tolist()
    return entry, (logits - logits_f64).abs().max().item()


@torch.no_grad()
def check_read_back(case, model, folder, batch):
    """Checks that transformers reads the same model from the folder (up to sums with other alignments)."""
    reader = BertForSequenceClassification if case.has_classifier else BertModel
    read = reader.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    inputs = {name: values for name, values in batch.items() if name != "labels"}
    if case.has_classifier:
        torch.testing.assert_close(read(**inputs).logits, model(**inputs).logits)
    else:
        torch.testing.assert_close(read(**inputs).pooler_output, model.bert(**inputs).pooler_output)


def write_case(case, seed):
    folder = tiny_bert.MODELS / case.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    model = tiny_bert.classifier(seed, dtype=case.dtype, **case.settings)
    write_config(case, model.config, folder)
    tiny_bert.write_vocabulary(folder, model.config.vocab_size)
    case.save(model, folder, case.dtype)
    write_expected(case, model, folder, seed)


def write_config(case, config, folder):
    config.dtype = case.dtype
    if not case.has_classifier:
        config.architectures = ["BertModel" if case.name == "base_model" else "BertForPreTraining"]
    config.save_pretrained(folder)


def write_expected(case, model, folder, seed):
    generator = numpy.random.default_rng([seed, 1])
    entries, distances = [], []
    for batch in batches(case, folder, model.config, generator):
        check_read_back(case, model, folder, batch)
        entry, distance = expected(case, model, batch)
        entries.append(entry)
        distances.append(distance)
    entries[0] = {"texts": TEXTS} | entries[0]
    tiny_bert.write_json(folder / "expected.json", {"inputs": entries})
    print(f"{case.name:20} float32 logits within {max(distances):.1e} of float64")


def main():
    tiny_bert.prepare()
    wanted = sys.argv[1:] or [case.name for case in CASES]
    for seed, case in enumerate(CASES):
        if case.name in wanted:
            write_case(case, seed)


if __name__ == "__main__":
    main()
