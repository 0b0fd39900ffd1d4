"""Writes two hundred AdamW steps of PyTorch on a tiny classifier, which our trainer must reproduce.

    python tools/golden/training.py

Writes tests/train/golden/:
  checkpoint/          the classifier at the start (config.json, vocab.txt, model.safetensors)
  batches.safetensors  `input_ids`, `attention_mask` (steps, B, S) and `labels` (steps, B), int64,
                       in the order of training; `final/…` is one more batch for the last logits
  curve.json           the settings, the `learning_rates` of all steps, and for `float32` and
                       `float64`: `loss` and `gradient_norm` (before clipping) of each step, the
                       L2 norm of all parameters at the end, and `final_logits`

No dropout. The label is whether words with even or odd ids are the majority in the sentence. Both runs
start from the same float32 weights, so they differ only by rounding.
"""

import numpy
import torch
from safetensors.torch import save_file

import tiny_bert

STEPS = 200
BATCH = 8
SETTINGS = {
    "learning_rate": 5e-4,
    "beta1": 0.9,
    "beta2": 0.999,
    "epsilon": 1e-8,
    "weight_decay": 0.0,
    "maximum_gradient_norm": 1.0,
}


def learnable_batch(generator, config):
    """Returns sentences of 3, 5, … 11 words, an odd number to avoid ties. A word votes for label 1 if its
    id is even; four of five vote for the random label. All batches have the same width, for stacking.
    """
    words = generator.integers(1, 6, size=BATCH) * 2 + 1
    words[0] = 11
    lengths = (words + 2).tolist()  # with [CLS] and [SEP]
    batch = tiny_bert.random_batch(generator, config, lengths, segments=False)
    ids = batch["input_ids"].numpy()
    wished = generator.integers(0, 2, size=(BATCH, 1)) ^ (generator.random(ids.shape) < 0.2)
    is_word = ids >= tiny_bert.FIRST_WORD
    pair = (ids - tiny_bert.FIRST_WORD) % 94 // 2
    ids[is_word] = (tiny_bert.FIRST_WORD + 2 * pair + wished)[is_word]
    votes = numpy.where(is_word, 1 - ids % 2 * 2, 0).sum(axis=1)
    return batch | {"labels": torch.from_numpy((votes > 0).astype(numpy.int64))}


def training_batches(config, seed):
    generator = numpy.random.default_rng(seed)
    batches = [learnable_batch(generator, config) for _ in range(STEPS + 1)]
    return batches[:-1], batches[-1]


def learning_rate(step):
    """Returns the learning rate with linear decay to 0 and no warm-up; `step` counts from 0."""
    return SETTINGS["learning_rate"] * (1.0 - step / STEPS)


def train(model, batches, final):
    """Trains `model` in place and returns its curve."""
    optimizer = torch.optim.AdamW(
        model.parameters(),
        lr=SETTINGS["learning_rate"],
        betas=(SETTINGS["beta1"], SETTINGS["beta2"]),
        eps=SETTINGS["epsilon"],
        weight_decay=SETTINGS["weight_decay"],
        foreach=False,
    )
    losses, norms = [], []
    for step, batch in enumerate(batches):
        optimizer.param_groups[0]["lr"] = learning_rate(step)
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        limit = SETTINGS["maximum_gradient_norm"]
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), limit, foreach=False)
        optimizer.step()
        losses.append(loss.item())
        norms.append(norm.item())
    with torch.no_grad():
        logits = model(**final).logits
        squares = sum(parameter.double().square().sum() for parameter in model.parameters())
    return {
        "loss": losses,
        "gradient_norm": norms,
        "parameter_norm": squares.sqrt().item(),
        "final_logits": logits.double().tolist(),
    }


def write_batches(batches, final):
    stacked = {name: torch.stack([batch[name] for batch in batches]) for name in final}
    last = {f"final/{name}": values for name, values in final.items()}
    save_file(stacked | last, tiny_bert.TRAINING / "batches.safetensors")


def print_summary(curve):
    single, double = curve["float32"], curve["float64"]
    for name in ("loss", "gradient_norm", "final_logits"):
        apart = (torch.tensor(single[name]) - torch.tensor(double[name])).abs().max().item()
        print(f"{name}: float32 within {apart:.1e} of float64")
    start, end = sum(double["loss"][:20]) / 20, sum(double["loss"][-20:]) / 20
    clipped = sum(norm > 1.0 for norm in double["gradient_norm"])
    print(
        f"mean loss of the first 20 steps {start:.3f}, of the last 20 {end:.3f}; {clipped} clipped"
    )


def main():
    tiny_bert.prepare()
    model = tiny_bert.classifier(
        seed=200,
        scale=0.1,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        vocab_size=100,
        max_position_embeddings=16,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    tiny_bert.TRAINING.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(tiny_bert.TRAINING / "checkpoint")
    tiny_bert.write_vocabulary(tiny_bert.TRAINING / "checkpoint", model.config.vocab_size)
    batches, final = training_batches(model.config, seed=201)
    write_batches(batches, final)
    curve = SETTINGS | {"steps": STEPS, "learning_rates": [learning_rate(s) for s in range(STEPS)]}
    double = tiny_bert.in_double(model)
    curve["float32"] = train(model, batches, final)
    curve["float64"] = train(double, batches, final)
    tiny_bert.write_json(tiny_bert.TRAINING / "curve.json", curve)
    print_summary(curve)


if __name__ == "__main__":
    main()
