#!/usr/bin/env python3
"""Writes fuzz/seeds/packed: graph.hone, a zero byte, and parameters.safetensors, of one packed weight each.

    tools/golden/packed_seeds.py fuzz/seeds/packed

Codes are bytes that are valid in every format; their values do not matter.
"""
import json
import struct
import sys
from pathlib import Path


def planes(bits):
    return [width for width in (16, 8, 4, 2, 1) if bits & width]


def code_bytes(rows, columns, bits, panels):
    if not panels:
        return rows * sum((columns * width + 7) // 8 for width in planes(bits))
    unit = 32 // planes(bits)[-1]
    return (rows + 31) // 32 * 32 * ((columns + unit - 1) // unit * unit) * bits // 8


def seed(text, rows, columns, bits, arrangement, shared, states=(), code=0x5A, scale=120):
    """Writes a seed. `shared` is the number of bytes of shared codes, `states` are pairs of a name and fp32 values."""
    tensors = {"w.codes": ("U8", [code_bytes(rows, columns, bits, arrangement == "panels")], None),
               "w.shared": ("U8", [shared], bytes([scale]) * shared)}
    tensors["w.codes"] = ("U8", tensors["w.codes"][1], bytes([code]) * tensors["w.codes"][1][0])
    lines = [f"%w.codes = parameter codes frozen : u8[{tensors['w.codes'][1][0]}]",
             f"%w.shared = parameter codes frozen : u8[{shared}]"]
    operands = ["%w.codes", "%w.shared"]
    for name, values in states:
        shape = [len(values)] if len(values) > 1 else []
        lines.append(f"%w.{name} = parameter format_state frozen : f32{shape}")
        operands.append(f"%w.{name}")
        tensors[f"w.{name}"] = ("F32", shape, struct.pack(f"<{len(values)}f", *values))
    lines.append(f"%q = unpack({', '.join(operands)}) {{arrangement=\"{arrangement}\", format={text}, "
                 f"packing=1, role=\"weight\", shape=[{rows}, {columns}]}} : f32[{rows}, {columns}]")
    lines.append("output w = %q")
    header, data = {}, b""
    for name, (dtype, shape, raw) in sorted(tensors.items(), key=lambda item: item[1][0] != "F32"):
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(header, separators=(",", ":")).encode()
    graph = "hone graph 1\n" + "\n".join(lines) + "\n"
    return graph.encode() + b"\0" + struct.pack("<Q", len(head)) + head + data


FOUR_FLOATS = 16  # bytes
SEEDS = {
    "mxint8": seed("mxint(bits=8,block=16)", 3, 16, 8, "panels", 32),
    "mxint4": seed("mxint(bits=4,block=16)", 2, 32, 4, "panels", 64),
    "mxint6_rows": seed("mxint(bits=6,block=16)", 2, 16, 6, "rows", 2),
    "mxint_axis": seed("mxint(bits=4,block=2,axis=0)", 4, 4, 4, "rows", 8),
    "mxfp4": seed("mxfp(element=e2m1,block=16)", 2, 16, 4, "panels", 32),
    "int8": seed("int(bits=8,per=row)", 2, 8, 8, "panels", 0, [("scale", [0.5, 0.25])]),
    "int3_rows": seed("int(bits=3,per=row,scale=dynamic)", 4, 8, 3, "rows", FOUR_FLOATS, scale=60),
    "affine": seed("int(bits=4,per=row,range=affine)", 2, 8, 4, "panels", 0,
                   [("scale", [0.5, 0.25]), ("zero_point", [3, 7])]),
    "affine_dynamic": seed("int(bits=4,range=affine,scale=dynamic)", 2, 8, 4, "rows", 8, scale=60),
    "int_mase": seed("int(bits=4,mode=mase)", 2, 8, 4, "rows", 8, scale=60),
    "integer": seed("integer(width=5,frac=2)", 2, 8, 5, "rows", 0),
    "integer_calibrated": seed("integer(width=4)", 2, 8, 4, "panels", 0, [("frac", [2])]),
    "ternary": seed("ternary(per=row)", 4, 16, 2, "panels", FOUR_FLOATS, code=0xFF, scale=60),
    "binary": seed("binary", 4, 32, 1, "panels", FOUR_FLOATS, scale=60),
    "minifloat": seed("minifloat_ieee(width=6,exponent_width=3,exponent_bias=3)", 2, 8, 6, "rows", 0, code=0x11),
    "log": seed("log(width=5,exponent_bias=3)", 2, 8, 5, "rows", 0, code=0x11),
    "bf16": seed("bf16", 2, 8, 16, "panels", 0, code=0x3C),
    "bf16_rows": seed("bf16", 2, 5, 16, "rows", 0, code=0x3C),
    "fp16": seed("fp16", 2, 8, 16, "panels", 0, code=0x3C),
    "int12": seed("int(bits=12,per=row)", 2, 8, 12, "panels", 0, [("scale", [0.5, 0.25])]),
    "mxint16": seed("mxint(bits=16,block=16)", 2, 16, 16, "panels", 32),
    "affine_dynamic_panels": seed("int(bits=4,per=row,range=affine,scale=dynamic)", 2, 8, 4, "panels", 16, scale=60),
    "int4_groups": seed("int(bits=4,group=16)", 2, 24, 4, "panels", 128, scale=60),
    "int4_groups_rows": seed("int(bits=4,group=16,range=affine)", 2, 24, 4, "rows", 12, scale=9),
    "int4_groups_affine": seed("int(bits=4,group=16,range=affine)", 2, 24, 4, "panels", 192, scale=9),
    "nf4": seed("nf4(block=16)", 2, 24, 4, "panels", 128, scale=60),
    "mxint_mase": seed("mxint(bits=8,block=16,mode=mase)", 2, 32, 8, "panels", 4),
    "block_fp": seed("block_fp(width=6,exponent_width=8,block=8)", 2, 16, 6, "panels", 64),
}

folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for name, content in SEEDS.items():
    (folder / f"{name}.bin").write_bytes(content)
