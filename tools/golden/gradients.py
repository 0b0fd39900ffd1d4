"""Writes loss and gradients of all parameters for some of the folders of models.py and architectures.py.

    python tools/golden/gradients.py [NAME…]

Writes gradients.safetensors into tests/frontends/golden/NAME/: the padded batch as `input_ids`,
`attention_mask`, `token_type_ids` (if the model has them), `labels` (int64, or float32 for other
problem_types), then PyTorch's `float32/loss` and `float32/NAME` for each parameter NAME, without
dropout, and the same under `float64/` with all arithmetic in float64. The loss follows the model's
problem_type. No sentence contains [PAD]: PyTorch computes no gradient for that row of the embedding.
"""

import sys

import numpy
import torch
from safetensors.torch import save_file
from transformers import AutoModelForSequenceClassification

import architectures
import tiny_bert

SEEDS = {"safetensors": 101, "zip": 102, "distilbert": 103, "roberta": 104, "electra": 105,
         "electra_regression": 106, "roberta_labels": 107}


def gradients(model, batch):
    """Returns {"loss": …, NAME: gradient…} for the loss of the model's problem_type."""
    model.zero_grad()
    loss = model(**batch).loss
    loss.backward()
    named = {name: parameter.grad for name, parameter in model.named_parameters()}
    return {"loss": loss.detach()} | named


def write_gradients(name, seed):
    folder = tiny_bert.MODELS / name
    model = AutoModelForSequenceClassification.from_pretrained(
        folder, attn_implementation="eager"
    )
    model.eval()
    segments = getattr(model.config, "type_vocab_size", 1) > 1
    generator = numpy.random.default_rng(seed)
    batch = tiny_bert.random_batch(generator, model.config, [11, 5, 14, 8], segments)
    batch = architectures.with_padding(batch, model.config.pad_token_id)
    in_float32 = gradients(model, batch)
    in_float64 = gradients(tiny_bert.in_double(model), tiny_bert.labels_in_double(batch))
    result = dict(batch)
    result |= {f"float32/{key}": value for key, value in in_float32.items()}
    result |= {f"float64/{key}": value for key, value in in_float64.items()}
    save_file(result, folder / "gradients.safetensors")
    print_distance(name, in_float32, in_float64)


def print_distance(name, in_float32, in_float64):
    """Prints the distance relative to the norm of all gradients. Those of the key biases are 0 except for
    rounding, since a constant added to a row of scores does not change its softmax."""
    total = torch.stack([value.norm() for value in in_float64.values()]).norm()
    apart = max((in_float32[key] - in_float64[key]).abs().max() for key in in_float64)
    print(f"{name}: float32 gradients within {apart / total:.1e} of float64, their norm being 1")


def main():
    tiny_bert.prepare()
    for name in sys.argv[1:] or SEEDS:
        write_gradients(name, SEEDS[name])


if __name__ == "__main__":
    main()
