"""Writes malicious and malformed weight files; each must be rejected with an error.

    python tools/golden/hostile.py

Writes tests/frontends/golden/hostile/, with the error of each file in expected.json. The pickles are
built from opcodes (see Python's pickletools), so nothing is executed here; all commands in them are
`echo`. Needs Python's standard library only.
"""

import io
import json
import pathlib
import pickle
import struct
import zipfile

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests" / "frontends" / "golden" / "hostile"
COMMAND = "echo a weight file ran a command"
FOUR_FLOATS = struct.pack("<4f", 1.0, 2.0, 3.0, 4.0)

# Pickle opcodes, named as in pickletools.
PROTO_2, PROTO_4, STOP, MARK, REDUCE = b"\x80\x02", b"\x80\x04", b".", b"(", b"R"
EMPTY_DICT, SETITEM, EMPTY_TUPLE = b"}", b"s", b")"
TUPLE, TUPLE1, TUPLE2, NEWFALSE, BINPERSID = b"t", b"\x85", b"\x86", b"\x89", b"Q"
STACK_GLOBAL, NONE = b"\x93", b"N"


def text(value):
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def integer(value):
    data = value.to_bytes(9, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def tuple_of(*items):
    return MARK + b"".join(items) + TUPLE


def name(module, attribute):
    return f"c{module}\n{attribute}\n".encode()


def call(module, attribute, *arguments):
    return name(module, attribute) + tuple_of(*arguments) + REDUCE


def dictionary(key, value):
    return EMPTY_DICT + text(key) + value + SETITEM


def storage(numel, key="0", kind="FloatStorage", tail=b""):
    kind_of_storage = name("torch", kind)
    place = text(key) + text("cpu") + integer(numel) + tail
    return tuple_of(text("storage"), kind_of_storage, place) + BINPERSID


def tensor(numel=4, offset=0, shape=(4,), strides=(1,), **others):
    return call(
        "torch._utils",
        "_rebuild_tensor_v2",
        storage(numel, **others),
        integer(offset),
        tuple_of(*map(integer, shape)),
        tuple_of(*map(integer, strides)),
        NEWFALSE,
        call("collections", "OrderedDict"),
    )


def state(value):
    """Returns a pickle of {"classifier.bias": value}."""
    return PROTO_2 + dictionary("classifier.bias", value) + STOP


def archive(data, storages=None, compression=zipfile.ZIP_STORED):
    """Returns one pickle in the zip layout of torch.save."""
    buffer = io.BytesIO()
    records = {"data.pkl": data, "byteorder": b"little", "version": b"3\n"}
    for key, values in ({"0": FOUR_FLOATS} if storages is None else storages).items():
        records[f"data/{key}"] = values
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for record, content in records.items():
            file.writestr(zipfile.ZipInfo(f"archive/{record}"), content, compression)
    return buffer.getvalue()


def legacy(data, numel=4, values=FOUR_FLOATS):
    """Returns the older layout: magic number, version, machine, the pickle, storage keys, storages.

    Storages have one more field for views (`tail`), which is always None.
    """
    head = [0x1950A86A20F9469CFC6C, 1001, {"protocol_version": 1001, "little_endian": True}]
    parts = [pickle.dumps(part, protocol=2) for part in head]
    keys = pickle.dumps(["0"], protocol=2)
    return b"".join(parts) + data + keys + struct.pack("<q", numel) + values


def doubling(levels):
    """Returns nested pairs that share their elements: 2^levels tuples for a reader that copies."""
    pairs = (b"q%ch%c" % (level, level) + TUPLE2 for level in range(levels))
    return EMPTY_TUPLE + b"".join(pairs)


def safetensors(header, data=FOUR_FLOATS, length=None):
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(content) if length is None else length) + content + data


def floats(shape, begin, end, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


SYSTEM = call("os", "system", text(COMMAND))

PICKLES = {
    "system_zip.bin": ("calls os.system", archive(state(SYSTEM))),
    "system_legacy.bin": ("calls os.system", legacy(state(SYSTEM))),
    "system_posix.bin": ("calls posix.system", archive(state(call("posix", "system", text("ls"))))),
    "eval_stack_global.bin": (
        "calls builtins.eval by the opcode STACK_GLOBAL",
        archive(
            PROTO_4
            + text("builtins")
            + text("eval")
            + STACK_GLOBAL
            + tuple_of(text("1 + 1"))
            + REDUCE
            + STOP
        ),
    ),
    "system_inst.bin": (
        "calls os.system by the opcode INST",
        archive(PROTO_2 + MARK + text(COMMAND) + b"ios\nsystem\n" + STOP),
    ),
    "system_obj.bin": (
        "calls os.system by the opcode OBJ",
        archive(PROTO_2 + MARK + name("os", "system") + text(COMMAND) + b"o" + STOP),
    ),
    "torch_function.bin": (
        "calls a function of torch that does not rebuild tensors",
        archive(state(call("torch.hub", "load", text("a/b"), text("c")))),
    ),
    "tensor_past_storage.bin": (
        "a tensor of 1000 elements over a storage of 4",
        archive(state(tensor(shape=(1000,)))),
    ),
    "offset_past_storage.bin": (
        "a tensor of 4 elements from element 1 of a storage of 4",
        archive(state(tensor(offset=1))),
    ),
    "offset_negative.bin": (
        "a tensor that begins before its storage",
        archive(state(tensor(offset=-2))),
    ),
    "shape_negative.bin": ("a negative dimension", archive(state(tensor(shape=(-4,))))),
    "shape_overflow.bin": (
        "2^32 by 2^32 elements, 0 in 64 bits",
        archive(state(tensor(shape=(2**32, 2**32), strides=(0, 0)))),
    ),
    "strides_overflow.bin": (
        "a last element at 3 · 2^62, negative in 64 bits",
        archive(state(tensor(shape=(4,), strides=(2**62,)))),
    ),
    "strides_short.bin": (
        "two dimensions, one stride",
        archive(state(tensor(shape=(2, 2), strides=(1,)))),
    ),
    "storage_missing.bin": (
        "a storage that the archive does not hold",
        archive(state(tensor(key="7"))),
    ),
    "storage_short_zip.bin": (
        "a storage said to hold 2^40 floats, of 16 bytes",
        archive(state(tensor(numel=2**40))),
    ),
    "storage_short_legacy.bin": (
        "a storage said to hold 2^40 floats, of 16 bytes",
        legacy(state(tensor(numel=2**40, tail=NONE)), numel=2**40),
    ),
    "storage_kind.bin": (
        "a storage of a kind that does not exist",
        archive(state(tensor(kind="FileStorage"))),
    ),
    "stack_underflow.bin": ("takes from an empty stack", archive(PROTO_2 + REDUCE + STOP)),
    "mark_missing.bin": ("a tuple without its mark", archive(PROTO_2 + TUPLE + STOP)),
    "memo_missing.bin": ("reads a memo never written", archive(PROTO_2 + b"h\x05" + STOP)),
    "no_stop.bin": ("a pickle that ends early", archive(PROTO_2 + EMPTY_DICT + text("a"))),
    "string_long.bin": ("a string longer than the file", archive(PROTO_2 + b"X\xff\xff\xff\xffa.")),
    "not_a_dictionary.bin": ("holds a number", archive(PROTO_2 + integer(5) + STOP)),
    "cycle.bin": (
        "a dictionary that holds itself",
        archive(PROTO_2 + EMPTY_DICT + b"q\x00" + text("self") + b"h\x00" + SETITEM + STOP),
    ),
    "nested.bin": (
        "100 000 nested tuples",
        archive(state(EMPTY_TUPLE + TUPLE1 * 100_000), compression=zipfile.ZIP_DEFLATED),
    ),
    "doubling.bin": ("2^64 tuples in 400 bytes", archive(state(doubling(64)))),
    "truncated_zip.bin": ("an archive cut in half", archive(state(tensor()))[:200]),
    "truncated_legacy.bin": ("no storages", legacy(state(tensor(tail=NONE)), values=b"")),
    "empty.bin": ("an empty file", b""),
    "text.bin": ("a page of text", b"<!DOCTYPE html>\n<title>404</title>\n"),
}

SAFETENSORS = {
    "header_long.safetensors": (
        "a header longer than the file",
        safetensors({"a": floats([4], 0, 16)}, length=2**62),
    ),
    "header_cut.safetensors": ("fewer than eight bytes", b"\x10\x00\x00"),
    "header_not_json.safetensors": ("a header that is no JSON", safetensors(b"{'a': 1}")),
    "header_list.safetensors": ("a header that is no object", safetensors([1, 2, 3])),
    "data_past_end.safetensors": (
        "a tensor that ends after the file",
        safetensors({"a": floats([1000], 0, 4000)}),
    ),
    "data_reversed.safetensors": (
        "a tensor that ends before it begins",
        safetensors({"a": floats([4], 16, 0)}),
    ),
    "data_overlapping.safetensors": (
        "two tensors over the same bytes",
        safetensors({"a": floats([4], 0, 16), "b": floats([2], 4, 12)}),
    ),
    "shape_mismatch.safetensors": (
        "a shape of 5 over 16 bytes of floats",
        safetensors({"a": floats([5], 0, 16)}),
    ),
    "shape_overflow.safetensors": (
        "2^32 by 2^32 elements, 0 in 64 bits",
        safetensors({"a": floats([2**32, 2**32], 0, 0)}, data=b""),
    ),
    "shape_negative.safetensors": (
        "two negative dimensions",
        safetensors({"a": floats([-2, -2], 0, 16)}),
    ),
    "dtype_unknown.safetensors": (
        "a number type that does not exist",
        safetensors({"a": floats([4], 0, 16, dtype="F33")}),
    ),
}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    files = PICKLES | SAFETENSORS
    for file, (_, content) in files.items():
        (FOLDER / file).write_bytes(content)
    faults = {file: fault for file, (fault, _) in files.items()}
    expected = json.dumps(faults, indent=1, ensure_ascii=False)
    (FOLDER / "expected.json").write_text(expected + "\n", encoding="utf-8")
    print(f"{len(files)} files")


if __name__ == "__main__":
    main()
