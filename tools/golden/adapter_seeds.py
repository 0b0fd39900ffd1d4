#!/usr/bin/env python3
"""Writes fuzz/seeds/adapter: adapter_config.json, a zero byte, base.json or nothing, a zero byte,
and adapter_model.safetensors, for the small model of fuzz/adapter_fuzz.cpp.

    tools/golden/adapter_seeds.py fuzz/seeds/adapter
"""
import json
import struct
import sys
from pathlib import Path

QUERY = "base_model.model.bert.encoder.layer.0.attention.self.query"
HEAD = "base_model.model.classifier"


def safetensors(tensors):
    header, data = {}, b""
    for name, (shape, values) in tensors.items():
        raw = struct.pack(f"<{len(values)}f", *values)
        header[name] = {
            "dtype": "F32",
            "shape": shape,
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def factors(module, rank, outputs=4, inputs=4):
    return {
        f"{module}.lora_A.weight": ([rank, inputs], [0.25] * (rank * inputs)),
        f"{module}.lora_B.weight": ([outputs, rank], [0.5] * (rank * outputs)),
    }


def seed(tensors, base=None, **config):
    config = {"peft_type": "LORA", "r": 2, "lora_alpha": 4} | config
    told = b"" if base is None else json.dumps(base).encode()
    return json.dumps(config).encode() + b"\0" + told + b"\0" + safetensors(tensors)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    head = {f"{HEAD}.weight": ([2, 4], [0.125] * 8), f"{HEAD}.bias": ([2], [0, 1])}
    base = {
        "fingerprint": "0",
        "labels": ["bad", "good"],
        "problem_type": "single_label_classification",
    }
    query = factors(QUERY, 2)
    seeds = {
        "query": seed(query),
        "with_head": seed(query | head, base, lora_dropout=0.1, modules_to_save=["classifier"]),
        "rank_stabilized": seed(factors(QUERY, 1), r=1, use_rslora=True, lora_alpha=1.5),
        "another_rank": seed(query, r=3),
        "half_an_adapter": seed({f"{QUERY}.lora_A.weight": query[f"{QUERY}.lora_A.weight"]}),
        "no_such_module": seed(factors(QUERY.replace("query", "gate"), 2)),
        "another_width": seed(factors(QUERY, 2, inputs=5)),
        "not_computed": seed(query, use_dora=True),
        "rank_of_nothing": seed(query, r=0),
        "huge_rank": seed(query, r=1 << 40),
        "alpha_too_large": seed(query, lora_alpha=1e308),
        "not_a_number": seed(query, base={"fingerprint": 0}),
    }
    for name, data in seeds.items():
        (folder / f"{name}.bin").write_bytes(data)


if __name__ == "__main__":
    main()
