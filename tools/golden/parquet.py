#!/usr/bin/env python3
"""Writes tests/data/golden/parquet: small Parquet files by pyarrow, one per feature of the format.

    pip install pyarrow==26.0.1
    python tools/golden/parquet.py

Most files contain the table of `table()`; tests/data/parquet_test.cpp has formulas of its columns.
"""
import json
import pathlib
import shutil

import pyarrow as pa
import pyarrow.parquet as pq

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "golden" / "parquet"
ROWS = 300


def text(i):
    """Returns texts of lengths 0 to 66 with every UTF-8 byte length. Neighbours share prefixes."""
    return "" if i % 50 == 0 else "row " * (i % 16) + "é漢😀"[: i % 4] + str(i // 3)


def table(rows=ROWS):
    index = range(rows)
    return pa.table({
        "text": pa.array([text(i) for i in index], pa.string()),
        "label": pa.array([i % 3 - 1 for i in index], pa.int64()),
        "small": pa.array([-i for i in index], pa.int32()),
        "byte": pa.array([i % 256 for i in index], pa.uint8()),
        "unsigned": pa.array([2**32 - 1 - i for i in index], pa.uint32()),
        "flag": pa.array([i % 5 == 0 for i in index], pa.bool_()),
        "score": pa.array([i / 4 for i in index], pa.float32()),
        "real": pa.array([i / 10 for i in index], pa.float64()),
    })


def lists(rows=100):
    """Returns lists of 0 to 4 values, in all forms of lists."""
    index = range(rows)
    numbers = [[(i + k) % 7 for k in range(i % 5)] for i in index]
    return pa.table({
        "text": pa.array([text(i) for i in index], pa.string()),
        "labels": pa.array(numbers, pa.list_(pa.int64())),
        "names": pa.array([[f"name {v}" for v in row] for row in numbers], pa.list_(pa.string())),
        "flags": pa.array([[i % 2 == 0, i % 3 == 0, i % 5 == 0] for i in index], pa.list_(pa.bool_())),
        "scores": pa.array([[i / 4, i / 8] for i in index], pa.list_(pa.float32())),
        "required": pa.array(numbers, pa.list_(pa.field("element", pa.int64(), nullable=False))),
        "large": pa.array(numbers, pa.large_list(pa.int8())),
        "empty": pa.array([[] for i in index], pa.list_(pa.int64())),
    })


def required(data):
    return data.cast(pa.schema([field.with_nullable(False) for field in data.schema]))


def write(name, data, **options):
    options = {"compression": "none", "store_schema": False, "write_statistics": False} | options
    pq.write_table(data, FOLDER / f"{name}.parquet", **options)


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    for codec in ["none", "snappy", "gzip", "zstd"]:
        for version in ["1.0", "2.0"]:
            write(f"{codec}_v{version[0]}", table(), compression=codec, data_page_version=version,
                  use_dictionary=["label", "small"])
    write("plain", required(table()), use_dictionary=False)
    write("dictionary", table(), use_dictionary=True)
    # Overflowing dictionaries: only the first pages refer to them.
    write("dictionary_overflow", table(), use_dictionary=True, dictionary_pagesize_limit=256,
          data_page_size=256, write_batch_size=16)
    write("row_groups", table(), row_group_size=70, compression="snappy")
    write("pages", table(), data_page_size=256, write_batch_size=16, use_dictionary=False,
          compression="zstd", data_page_version="2.0")
    write("check_sums", table(), write_page_checksum=True, compression="snappy")
    write("statistics", table(), write_statistics=True, write_page_index=True, store_schema=True)
    delta = {"text": "DELTA_BYTE_ARRAY", "label": "DELTA_BINARY_PACKED",
             "small": "DELTA_BINARY_PACKED", "unsigned": "DELTA_BINARY_PACKED", "flag": "RLE"}
    write("delta", table(), use_dictionary=False, column_encoding=delta, data_page_version="2.0")
    write("delta_length", table(), use_dictionary=False,
          column_encoding={"text": "DELTA_LENGTH_BYTE_ARRAY", "label": "DELTA_BINARY_PACKED"})
    write("split", table(), use_dictionary=False,
          column_encoding={name: "BYTE_STREAM_SPLIT" for name in ["label", "small", "score", "real"]})
    write("empty", table(0))
    for codec in ["brotli", "lz4"]:
        write(codec, table(10), compression=codec)
    large = pa.schema([("text", pa.large_string()), ("kind", pa.dictionary(pa.int8(), pa.string())),
                       ("bytes", pa.binary()), ("long", pa.uint64())])
    write("arrow_types", pa.table([[text(i) for i in range(20)], ["good" if i % 2 else "bad" for i in range(20)],
                                   [bytes([i, 255]) for i in range(20)], [2**63 - 10 + i for i in range(20)]],
                                  schema=large), store_schema=True)
    write("nulls", pa.table({"text": ["a", "b", None, "d", None], "label": pa.array([0, 1, 2, 3, None], pa.int32()),
                             "all": pa.array([None] * 5, pa.string()), "none": pa.nulls(5)}), row_group_size=2)
    write("nested", pa.table({
        "before": [1, 2],
        "tokens": [["a", "b"], []],
        "answers": pa.array([{"text": ["x"], "start": 3}] * 2),
        "pairs": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
        "after": ["x", "y"],
        "when": pa.array([0, 1], pa.timestamp("ms")),
        "price": pa.array([1, 2], pa.decimal128(5)),
        "half": pa.array([1.5, 2], pa.float16()),
    }))
    # Lists: both page versions, pages that begin within a row, row groups, and old names of the intermediate groups.
    write("lists_v1", lists())
    write("lists_v2", lists(), data_page_version="2.0", compression="zstd")
    write("lists_plain", required(lists()), use_dictionary=False, compression="snappy")
    write("lists_pages", lists(), data_page_size=64, write_batch_size=7, use_dictionary=False, row_group_size=30)
    write("lists_legacy", lists(), use_compliant_nested_type=False)
    write("lists_nulls", pa.table({"gone": [[1], None, []], "within": [[1], [], [2, None]],
                                   "deep": [[[1]], [], [[2]]], "structs": [[{"a": 1}], [], []]}))
    write("bomb_lists", pa.table({"labels": pa.array([[]] * 10_000_000, pa.list_(pa.int32()))}), compression="zstd")
    # Files of a few kB that expand to hundreds of megabytes, each in a different way.
    write("bomb_rows", pa.table({"label": pa.array([7] * 10_000_000, pa.int32())}), compression="zstd")
    write("bomb_dictionary", pa.table({"text": ["x" * 20_000] * 20_000}), compression="zstd")
    write("bomb_page", pa.table({"text": ["x" * 1_000_000] * 80}), compression="zstd", use_dictionary=False)
    write("bomb_prefix", pa.table({"text": ["x" * 20_000] * 20_000}), compression="zstd", use_dictionary=False,
          column_encoding={"text": "DELTA_BYTE_ARRAY"}, data_page_size=1 << 30)
    # Files as `datasets` uploads them to the hub.
    features = {"info": {"features": {"text": {"dtype": "string", "_type": "Value"},
                                      "label": {"names": ["neg", "pos"], "_type": "ClassLabel"}}}}
    hub = pa.table({"text": ["a fine film", "dull"], "label": pa.array([1, 0], pa.int64())})
    write("hub", hub.replace_schema_metadata({"huggingface": json.dumps(features)}), compression="snappy",
          write_statistics=True, store_schema=True)
    # A missing label is -1.
    hub = pa.table({"text": ["a fine film", "odd", "dull"], "label": pa.array([1, -1, 0], pa.int64())})
    write("hub_missing", hub.replace_schema_metadata({"huggingface": json.dumps(features)}), compression="snappy",
          store_schema=True)
    names = {"names": ["joy", "fear", "rage"], "_type": "ClassLabel"}
    for name, feature in {"list": {"feature": names, "_type": "List"}, "sequence": {"feature": names, "length": -1, "_type": "Sequence"},
                          "array": [names]}.items():
        features = {"info": {"features": {"text": {"dtype": "string", "_type": "Value"}, "labels": feature}}}
        hub = pa.table({"text": ["a", "b", "c"], "labels": pa.array([[2, 0], [], [1]], pa.list_(pa.int64()))})
        write(f"hub_{name}", hub.replace_schema_metadata({"huggingface": json.dumps(features)}), compression="snappy",
              store_schema=True)


if __name__ == "__main__":
    main()
