"""Writes values of `int(group=…)` and `nf4` by torch, and checks 4 and 8 bits against ONNX Runtime.

    pip install torch==2.13.0 onnx==1.23.2 onnxruntime==1.31.1 && python tools/golden/groups.py

Writes tests/formats/golden/groups.json: a tensor, and its values in each format. For 4 and 8 bits ONNX Runtime
dequantizes the same codes and scales.
"""

import json
import pathlib

import onnx
import onnx.numpy_helper
import onnxruntime
import torch

ROWS, COLUMNS = 4, 72


def values():
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(ROWS, COLUMNS, generator=generator)
    x[0, :32] = 0  # a group of zeros
    x[0, 32:64] = 0.37  # a constant one
    x[1, :32] = x[1, :32].abs() + 1  # no negative values
    x[1, 32:] *= 1e-6  # scales below normal float16
    x[2] *= torch.exp2(torch.arange(COLUMNS) / 8 - 4)
    x[3, 0], x[3, 5] = 3.5, -3.5  # two values of the same largest magnitude
    x[3, 32:64] *= 4e5  # scales beyond float16
    return x


def grouped(x, size):
    """Returns (rows, groups, size). The last group is filled with zeros, which do not affect scales."""
    groups = -(-x.shape[1] // size)
    return torch.nn.functional.pad(x, (0, groups * size - x.shape[1])).reshape(x.shape[0], groups, size)


def float16_scale(scale):
    rounded = scale.abs().clamp(2**-24, 65504).to(torch.float16).to(torch.float32)
    return torch.where(torch.signbit(scale), -rounded, rounded)


def float16_scale_below(scale):
    rounded = float16_scale(scale)
    lower = torch.nextafter(rounded.to(torch.float16), torch.zeros((), dtype=torch.float16)).to(torch.float32)
    return torch.where((rounded > scale) & (rounded > 2**-24), lower, rounded)


def integers(x, bits, size, asymmetric):
    """Returns codes, scales and zero points of groups."""
    x = grouped(x, size)
    if asymmetric:
        low, high, top = x.amin(-1).clamp(max=0), x.amax(-1).clamp(min=0), 2**bits - 1
        scale = float16_scale_below(high / top - low / top)
        zero = torch.round(-low / scale).clamp(0, top)
        whole = torch.round(x * (1 / scale)[..., None])
        codes = torch.maximum(torch.minimum(whole, (top - zero)[..., None]), -zero[..., None]) + zero[..., None]
    else:
        half = 2 ** (bits - 1)
        extreme = torch.gather(x, -1, x.abs().argmax(-1, keepdim=True))[..., 0]
        scale, zero = float16_scale(extreme / -half), torch.zeros(x.shape[:-1])
        codes = torch.round(x * (1 / scale)[..., None]).clamp(-half, half - 1)
    return codes, scale, zero


def dequantized(codes, scale, zero):
    return ((codes - zero[..., None]) * scale[..., None]).reshape(codes.shape[0], -1)[:, :COLUMNS]


def by_onnx(codes, scale, zero, bits, size, asymmetric):
    """Runs DequantizeLinear of opset 21 with blocks along the last axis."""
    kind = {4: onnx.TensorProto.UINT4 if asymmetric else onnx.TensorProto.INT4,
            8: onnx.TensorProto.UINT8 if asymmetric else onnx.TensorProto.INT8}[bits]
    codes = codes.reshape(ROWS, -1)[:, :COLUMNS]
    whole = [onnx.helper.make_tensor(name, kind, list(value.shape), value.flatten().int().tolist())
             for name, value in (("codes", codes), ("zero", zero))]
    scales = onnx.numpy_helper.from_array(scale.to(torch.float16).float().numpy(), "scale")
    node = onnx.helper.make_node("DequantizeLinear", ["codes", "scale", "zero"], ["y"], axis=1, block_size=size)
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [ROWS, COLUMNS])
    graph = onnx.helper.make_graph([node], "groups", [], [y], whole + [scales])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10)
    return torch.from_numpy(onnxruntime.InferenceSession(model.SerializeToString()).run(None, {})[0])


# QLoRA, appendix E, as in bitsandbytes (functional.py, create_normal_map, and csrc/kernels.cu).
NF4_LEVELS = [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
              -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
              0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
              0.7229568362236023, 1.0]


def check_nf4_levels():
    """Checks that levels are quantiles of the normal distribution: 8 positive and 7 negative ones."""
    offset = 0.9677083
    positive = torch.special.ndtri(torch.linspace(offset, 0.5, 9, dtype=torch.float64)[:-1])
    negative = -torch.special.ndtri(torch.linspace(offset, 0.5, 8, dtype=torch.float64)[:-1])
    levels = torch.cat([positive, torch.zeros(1, dtype=torch.float64), negative]).sort().values
    assert (levels / levels.max() - torch.tensor(NF4_LEVELS, dtype=torch.float64)).abs().max() < 3e-7


def nf4(x, size):
    levels = torch.tensor(NF4_LEVELS, dtype=torch.float64)
    x = grouped(x, size)
    scale = float16_scale(x.abs().amax(-1))
    distance = ((x * (1 / scale)[..., None]).double()[..., None] - levels).abs()
    return (levels.float()[distance.argmin(-1)] * scale[..., None]).reshape(ROWS, -1)[:, :COLUMNS]


check_nf4_levels()
x = values()
cases = []
for bits, size in ((4, 32), (4, 16), (4, 128), (8, 32), (3, 64), (2, 16)):
    for asymmetric in (False, True):
        codes, scale, zero = integers(x, bits, size, asymmetric)
        y = dequantized(codes, scale, zero)
        if bits in (4, 8):
            assert torch.equal(by_onnx(codes, scale, zero, bits, min(size, COLUMNS), asymmetric), y), (bits, size)
        text = f"int(bits={bits},group={size}{',asymmetric=true' if asymmetric else ''})"
        cases.append({"format": text, "y": y.flatten().tolist()})
for size in (64, 16):
    cases.append({"format": f"nf4(block={size})", "y": nf4(x, size).flatten().tolist()})

file = pathlib.Path(__file__).parents[2] / "tests/formats/golden/groups.json"
file.parent.mkdir(exist_ok=True)
file.write_text(json.dumps({"shape": [ROWS, COLUMNS],
                            "x": x.flatten().tolist(), "cases": cases}) + "\n")
