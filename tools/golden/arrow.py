#!/usr/bin/env python3
"""Writes tests/data/golden/arrow: small Arrow files by pyarrow and `datasets`, one per feature of the format.

    pip install pyarrow==26.0.1 datasets
    python tools/golden/arrow.py

tests/data/arrow_test.cpp has formulas of their columns. Some files are also seeds of the fuzzer.
"""
import pathlib
import shutil

import datasets
import pyarrow as pa

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "data" / "golden" / "arrow"
SEEDS = ROOT / "fuzz" / "seeds" / "arrow"
ROWS = 40
SEED_NAMES = ["stream", "file", "zstd", "lists", "dictionary", "other_types", "nulls"]


def text(i):
    return "" if i % 10 == 0 else "row " * (i % 4) + "é漢😀"[: i % 4] + str(i // 3)


def table(rows=ROWS):
    index = range(rows)
    columns = {"text": pa.array([text(i) for i in index], pa.string()),
               "large": pa.array([text(i) for i in index], pa.large_string())}
    for bits in [8, 16, 32, 64]:
        columns[f"int{bits}"] = pa.array([i - 20 for i in index], getattr(pa, f"int{bits}")())
        columns[f"uint{bits}"] = pa.array([i for i in index], getattr(pa, f"uint{bits}")())
    columns["half"] = pa.array([i / 4 for i in index], pa.float16())
    columns["single"] = pa.array([i / 4 for i in index], pa.float32())
    columns["double"] = pa.array([i / 10 for i in index], pa.float64())
    columns["flag"] = pa.array([i % 5 == 0 for i in index], pa.bool_())
    return pa.table(columns)


def lists(rows=ROWS):
    numbers = [[(i + k) % 7 for k in range(i % 5)] for i in range(rows)]
    names = [[f"name {v}" for v in row] for row in numbers]
    return pa.table({
        "labels": pa.array(numbers, pa.list_(pa.int64())),
        "names": pa.array(names, pa.large_list(pa.string())),
        "scores": pa.array([[v / 4 for v in row] for row in numbers], pa.list_(pa.float32())),
        "kinds": pa.array(names, pa.list_(pa.dictionary(pa.int8(), pa.string()))),
        "text": pa.array([text(i) for i in range(rows)]),
    })


def dictionary(rows=ROWS):
    values = [f"value {i % 7}" for i in range(rows)]
    return pa.table({"text": [text(i) for i in range(rows)],
                     "kind": pa.array(values).dictionary_encode(),
                     "small": pa.DictionaryArray.from_arrays(pa.array([i % 3 for i in range(rows)], pa.uint8()),
                                                             pa.array(["a", "b", "c"], pa.large_string())),
                     "number": pa.array([i % 5 for i in range(rows)]).dictionary_encode()})


def other_types():
    """Writes columns that are not read, before one that is."""
    return pa.table({
        "nothing": pa.nulls(3),
        "bytes": pa.array([b"a", b"", b"c"]),
        "view": pa.array(["short", "long enough to be stored in a buffer", "x"], pa.string_view()),
        "fixed": pa.array([b"ab"] * 3, pa.binary(2)),
        "when": pa.array([0, 1, 2], pa.timestamp("ms")),
        "price": pa.array([1, 2, 3], pa.decimal128(5)),
        "answer": pa.array([{"text": "x", "start": [3]}] * 3),
        "pairs": pa.array([[("k", 1)], [], []], pa.map_(pa.string(), pa.int64())),
        "box": pa.array([[1, 2]] * 3, pa.list_(pa.int64(), 2)),
        "sparse": pa.UnionArray.from_sparse(pa.array([0, 0, 0], pa.int8()), [pa.array([1, 2, 3])]),
        "dense": pa.UnionArray.from_dense(pa.array([0, 0, 0], pa.int8()), pa.array([0, 1, 2], pa.int32()), [pa.array([1, 2, 3])]),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["a", "b"])),
        "deep": pa.array([[["a"]], [], []]),
        "text": pa.array(["first", "second", "third"]),
    })


def write(name, data, batch=1000, kind=pa.ipc.new_stream, **options):
    with kind(str(FOLDER / f"{name}.arrow"), data.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(data, max_chunksize=batch)


def saved():
    features = datasets.Features({"text": datasets.Value("string"), "label": datasets.ClassLabel(names=["ham", "spam"]),
                                  "tags": datasets.Sequence(datasets.ClassLabel(names=["a", "b"]))})

    def rows(first, count):
        index = range(first, first + count)
        columns = pa.table({"text": [f"text {i}" for i in index], "label": [i % 2 for i in index],
                            "tags": [[i % 2] for i in index]}, schema=features.arrow_schema)
        return datasets.Dataset(datasets.table.InMemoryTable(columns), fingerprint=f"{first:016}",
                                info=datasets.DatasetInfo(features=features))
    rows(0, 6).save_to_disk(str(FOLDER / "saved"), num_shards=2)
    datasets.DatasetDict({"train": rows(0, 4), "validation_matched": rows(4, 2), "validation_mismatched": rows(6, 3),
                          "extra": rows(9, 1)}).save_to_disk(str(FOLDER / "saved_splits"))


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    shutil.rmtree(SEEDS, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    SEEDS.mkdir(parents=True)
    write("stream", table())
    write("batches", table(), batch=7)
    write("file", table(), batch=15, kind=pa.ipc.new_file)
    write("zstd", table(), batch=15, compression="zstd")
    write("lz4", table(4), compression="lz4")
    write("legacy", table(), use_legacy_format=True)
    write("empty", table(0))
    write("lists", lists())
    write("lists_slice", lists(60).slice(13, 20), batch=6)
    write("dictionary", dictionary(), batch=15)
    # Growing dictionaries, and a replaced one.
    schema = pa.schema([("kind", pa.dictionary(pa.int8(), pa.string()))])
    for name, deltas in [("dictionary_delta", True), ("dictionary_replaced", False)]:
        with pa.ipc.new_stream(str(FOLDER / f"{name}.arrow"), schema,
                               options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=deltas)) as writer:
            for values in [["a", "b"], ["a", "b", "c"], ["a", "b", "c", "d"]]:
                array = pa.DictionaryArray.from_arrays(pa.array(range(len(values)), pa.int8()), values)
                writer.write_batch(pa.record_batch([array], schema=schema))
    write("other_types", other_types())
    write("nulls", pa.table({"text": ["a", None, "c"], "list": [[1], [2, None], []], "gone": [[1], None, []],
                             "nothing": pa.nulls(3)}))
    write("large_number", pa.table({"label": pa.array([1, 2**64 - 1], pa.uint64())}))
    write("bomb", pa.table({"text": ["x" * 20_000] * 4_000}), compression="zstd", batch=4_000)
    kinds = pa.DictionaryArray.from_arrays(pa.array([0] * 20_000, pa.int8()), pa.array(["x" * 20_000]))
    write("bomb_dictionary", pa.table({"text": kinds}), compression="zstd")
    saved()
    for name in SEED_NAMES:
        shutil.copy(FOLDER / f"{name}.arrow", SEEDS / f"{name}.arrow")


if __name__ == "__main__":
    main()
