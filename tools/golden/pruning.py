"""Writes the masks of torch.nn.utils.prune for some weights.

    python tools/golden/pruning.py

Writes tests/passes/golden/pruning.safetensors: random `a` (6, 10) and `b` (5, 7) without ties, and masks as u8:
`l1.A.NAME` by l1_unstructured with the amount A for each tensor alone,
`global.A.NAME` by global_unstructured over both; and `random.A.NAME`, of which only the number of zeros is used.
"""

import pathlib

import torch
from safetensors.torch import save_file
from torch.nn.utils import prune

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "passes" / "golden"
AMOUNTS = (0.0, 0.05, 0.1, 0.25, 0.3, 0.5, 0.7, 0.9, 1.0)


class Weights(torch.nn.Module):
    def __init__(self, values):
        super().__init__()
        for name, value in values.items():
            setattr(self, name, torch.nn.Parameter(value.clone()))


def main():
    torch.manual_seed(7)
    values = {"a": torch.randn(6, 10), "b": 0.5 * torch.randn(5, 7)}
    tensors = dict(values)

    def keep(prefix, module):
        for name in values:
            tensors[f"{prefix}.{name}"] = getattr(module, name + "_mask").to(torch.uint8)

    for amount in AMOUNTS:
        for method in (prune.l1_unstructured, prune.random_unstructured):
            module = Weights(values)
            for name in values:
                method(module, name, amount)
            keep(f"{method.__name__.split('_')[0]}.{amount}", module)
        module = Weights(values)
        prune.global_unstructured(
            [(module, name) for name in values], pruning_method=prune.L1Unstructured, amount=amount
        )
        keep(f"global.{amount}", module)
    FOLDER.mkdir(parents=True, exist_ok=True)
    save_file(tensors, FOLDER / "pruning.safetensors")


if __name__ == "__main__":
    main()
