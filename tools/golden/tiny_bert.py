"""Helpers of the golden scripts: tiny BERT classifiers with reproducible weights, a vocabulary,
batches and compact JSON.

Weights come from numpy's PCG64 and not from torch's generator, whose normal samples depend on the
vector width of the machine: checkpoints are the same bytes on every machine.
"""

import copy
import json
import pathlib
import re
import string
import warnings

import numpy
import torch
import transformers
from transformers import BertConfig, BertForSequenceClassification

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "tests" / "frontends" / "golden"
TRAINING = ROOT / "tests" / "train" / "golden"

SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = (
    "the a film was is not and but very good bad great awful plot acting story slow fast fine dull "
    "bright it this that of in to with never always hardly really quite end start scene music cast"
).split()
PAD, CLS, SEP = 0, 2, 3
FIRST_WORD = len(SPECIAL_TOKENS)


def prepare():
    """Uses one thread, so that float32 sums have a fixed order, and silences transformers."""
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    warnings.filterwarnings("ignore")


def vocabulary(size):
    """Returns `size` entries: special tokens, letters, continuations, words, digits, then [unusedN]."""
    letters = list(string.ascii_lowercase)
    pieces = [f"##{letter}" for letter in letters]
    tokens = SPECIAL_TOKENS + letters + pieces + WORDS + list(string.digits)
    tokens = list(dict.fromkeys(tokens))
    return (tokens + [f"[unused{number}]" for number in range(size)])[:size]


def write_vocabulary(folder, size):
    (folder / "vocab.txt").write_text("\n".join(vocabulary(size)) + "\n", encoding="utf-8")


def set_weights(model, seed, scale):
    """Sets every parameter randomly: matrices N(0, scale), layer-norm weights around 1, biases around 0.

    Biases, layer-norm parameters and the padding row are random too, so that tests notice if a reader
    drops or swaps one of them.
    """
    generator = numpy.random.default_rng(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            draw = torch.from_numpy(generator.standard_normal(tuple(parameter.shape)) * scale)
            is_norm_weight = name.lower().endswith(("layernorm.weight", "layer_norm.weight"))
            parameter.copy_(1.0 + draw if is_norm_weight else draw)


def classifier(seed, scale=0.4, dtype=torch.float32, **settings):
    """Returns a BertForSequenceClassification with eager attention, in evaluation mode.

    Weights are rounded to `dtype` and kept as float32, like the values that a reader widens.
    """
    config = BertConfig(**settings)
    config.architectures = ["BertForSequenceClassification"]
    model = BertForSequenceClassification._from_config(config, attn_implementation="eager")
    set_weights(model, seed, scale)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(parameter.to(dtype))
    return model.eval()


def in_double(model):
    """Returns the same model with all parameters and all arithmetic in float64."""
    return copy.deepcopy(model).double()


def random_labels(generator, config, rows):
    """Returns classes, int64 (rows), or for other problem_types float32 (rows, labels): multiples of
    1/2, or 1 for each label of a row."""
    shape = (rows, config.num_labels)
    if config.problem_type == "regression":
        return generator.integers(-8, 9, size=shape).astype(numpy.float32) / 2
    if config.problem_type == "multi_label_classification":
        return generator.integers(0, 2, size=shape).astype(numpy.float32)
    return generator.integers(0, config.num_labels, size=rows).astype(numpy.int64)


def labels_in_double(batch):
    """Returns the same batch for a float64 model, whose loss requires float64 numbers as labels."""
    labels = batch["labels"]
    return batch | {"labels": labels.double() if labels.is_floating_point() else labels}


def random_batch(generator, config, lengths, segments=True, pad_left=False):
    """Returns a batch of random sentences [CLS] … [SEP], padded to the longest: int64 tensors by name."""
    width = max(lengths)
    shape = (len(lengths), width)
    ids = numpy.full(shape, PAD, dtype=numpy.int64)
    mask = numpy.zeros(shape, dtype=numpy.int64)
    types = numpy.zeros(shape, dtype=numpy.int64)
    for row, length in enumerate(lengths):
        sentence = generator.integers(FIRST_WORD, config.vocab_size, size=length)
        sentence[0] = CLS
        if length > 1:
            sentence[-1] = SEP
        place = slice(width - length, width) if pad_left else slice(0, length)
        ids[row, place] = sentence
        mask[row, place] = 1
        if segments and config.type_vocab_size > 1:
            types[row, width - length // 2 :] = 1
    batch = {"input_ids": ids, "attention_mask": mask}
    if segments:
        batch["token_type_ids"] = types
    batch["labels"] = random_labels(generator, config, len(lengths))
    return {name: torch.from_numpy(values) for name, values in batch.items()}


def float32_list(tensor):
    """Returns nested lists of the shortest decimals that read back as the same float32."""
    if tensor.dim() == 0:
        return float(f"{tensor.item():.9g}")
    return [float32_list(part) for part in tensor]


def write_json(path, value):
    """Writes indented JSON with each list of numbers on one line, so that diffs are readable."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    compact = re.sub(r"\[[^\[\]{}\"]*\]", lambda match: " ".join(match[0].split()), text)
    path.write_text(compact.replace("[ ", "[").replace(" ]", "]") + "\n", encoding="utf-8")
