"""Writes tiny random image classifiers as Hugging Face folders, with transformers' results.

    python tools/golden/images.py

Writes tests/frontends/golden_images/NAME/ with config.json, model.safetensors and golden.safetensors:
`pixel_values`, `labels`, and under `float64/` (the stored weights with all arithmetic in float64)

- `logits`: in evaluation mode, with running statistics;
- `loss`, `gradient/NAME` for each parameter NAME, and `after/NAME` for each running statistic after
  the step: in training mode, with the statistics of the batch.

`float32/logits` are the logits in float32. Every folder is checked by reading it back.
"""

import json
import pathlib
import shutil

import numpy
import torch
from safetensors.torch import save_file
from transformers import AutoModelForImageClassification, ResNetConfig, ResNetForImageClassification

FOLDER = pathlib.Path(__file__).parents[2] / "tests/frontends/golden_images"
IMAGE_SIZE = 21

CASES = {
    "resnet_basic": dict(embedding_size=6, hidden_sizes=[6, 10], depths=[2, 1], layer_type="basic",
                         num_labels=3),
    "resnet_bottleneck": dict(embedding_size=5, hidden_sizes=[8, 16], depths=[1, 2], hidden_act="gelu",
                              num_channels=2, downsample_in_first_stage=True,
                              id2label={0: "no", 1: "yes"}, label2id={"no": 0, "yes": 1}),
    "resnet_early_stride": dict(embedding_size=4, hidden_sizes=[8, 12], depths=[1, 1],
                                downsample_in_bottleneck=True, num_labels=2),
}


def draw(model, generator):
    """Randomizes every parameter and running statistic, so that none keeps its initial value."""
    for name, tensor in model.state_dict().items():
        if tensor.dtype != torch.float32:
            continue
        values = torch.from_numpy(generator.standard_normal(tuple(tensor.shape)).astype("float32"))
        if name.endswith("running_var") or name.endswith("normalization.weight"):
            values = 0.5 + values.abs()
        elif tensor.dim() > 1:
            values *= (2 / tensor[0].numel()) ** 0.5
        tensor.copy_(values)


def statistics(model):
    return {name: value for name, value in model.state_dict().items() if ".running_" in name}


def compute(folder, dtype, pixels, labels):
    model = AutoModelForImageClassification.from_pretrained(folder).to(dtype)
    pixels = pixels.to(dtype)
    with torch.no_grad():
        logits = model.eval()(pixels).logits
    loss = model.train()(pixels, labels=labels).loss
    loss.backward()
    return (
        {"logits": logits, "loss": loss.detach()}
        | {f"gradient/{name}": parameter.grad for name, parameter in model.named_parameters()}
        | {f"after/{name}": value.clone() for name, value in statistics(model).items()}
    )


def write(name, settings, seed):
    folder = FOLDER / name
    shutil.rmtree(folder, ignore_errors=True)
    generator = numpy.random.default_rng(seed)
    model = ResNetForImageClassification(ResNetConfig(**settings))
    with torch.no_grad():
        draw(model, generator)
    model.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    config["image_size"] = IMAGE_SIZE
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")
    channels = settings.get("num_channels", 3)
    shape = (5, channels, IMAGE_SIZE, IMAGE_SIZE)
    pixels = torch.from_numpy(generator.standard_normal(shape).astype("float32"))
    labels = torch.from_numpy(generator.integers(model.config.num_labels, size=5))
    exact = compute(folder, torch.float64, pixels, labels)
    rounded = compute(folder, torch.float32, pixels, labels)
    save_file(
        {"pixel_values": pixels, "labels": labels, "float32/logits": rounded["logits"]}
        | {f"float64/{key}": value.contiguous() for key, value in exact.items()},
        folder / "golden.safetensors",
    )
    apart = max((rounded[key] - value).abs().max().item() for key, value in exact.items())
    print(f"{name}: float32 within {apart:.1e} of float64")


def main():
    torch.set_num_threads(1)
    for seed, (name, settings) in enumerate(CASES.items(), start=201):
        write(name, settings, seed)


if __name__ == "__main__":
    main()
