"""Writes small tensors of every element type in every layout of weight files.

    python tools/golden/checkpoints.py

Writes tests/frontends/golden/tensors/: the same tensors by torch.save as a zip archive, in the
older layout, by pickle protocol 4, nested in a dict, in a deflated archive, and by the safetensors
library. Element i of a tensor is i (booleans: i % 2), so no file of expected values is needed. The
views are of such a tensor with 12 elements.
"""

import pathlib
import zipfile

import safetensors.torch
import torch

from layouts import torch_save_legacy

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "frontends" / "golden" / "tensors"

DTYPES = {
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f64": torch.float64,
    "i64": torch.int64,
    "i32": torch.int32,
    "i8": torch.int8,
    "u8": torch.uint8,
}


def plain_tensors():
    """Returns one tensor of each element type, a scalar, and one without elements."""
    tensors = {name: torch.arange(6).to(dtype).reshape(2, 3) for name, dtype in DTYPES.items()}
    tensors["bool"] = (torch.arange(6) % 2).bool().reshape(2, 3)
    tensors["scalar"] = torch.tensor(3.5)
    tensors["empty"] = torch.empty(0, 4)
    return tensors


def views():
    """Returns tensors over one storage of 12 elements."""
    base = torch.arange(12.0)
    return {
        "whole": base.reshape(3, 4),
        "transposed": base.reshape(3, 4).T,
        "corner": base.reshape(3, 4)[1:, 2:],
        "strided": base[1::3],
        "expanded": base[5].expand(2, 2),
        "parameter": torch.nn.Parameter(base[4:8]),
    }


def deflate(path, source):
    """Compresses the entries of the archive `source`. PyTorch does not do so, but tools that repack
    archives do."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            new.writestr(zipfile.ZipInfo(entry.filename), old.read(entry), zipfile.ZIP_DEFLATED)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    weights = plain_tensors() | views()
    torch.save(weights, FOLDER / "zip.bin")
    torch_save_legacy(weights, FOLDER / "legacy.bin")
    torch.save(weights, FOLDER / "protocol_4.bin", pickle_protocol=4)
    torch.save({"epoch": 3, "best": 0.5, "state_dict": weights}, FOLDER / "nested.bin")
    deflate(FOLDER / "deflated.bin", FOLDER / "zip.bin")
    path = FOLDER / "plain.safetensors"
    safetensors.torch.save_file(plain_tensors(), path, metadata={"format": "pt"})


if __name__ == "__main__":
    main()
