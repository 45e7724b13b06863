#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Our reader and writer of safetensors files against the reference implementation (the package safetensors).

    FPO_VECTOR_TOOL=build/bin/fpo_vector_tool tests/crosscheck_safetensors.py

- Files that the package writes are read, and written again with the same bytes.
- Files that we write are read by the package, with the same content.
- Hostile headers are refused by both, or are on a list of known differences.

Makes a virtual environment with the pinned package in $XDG_CACHE_HOME/fp4oracle. Exit status 77 (skipped) if PyPI cannot
be reached; CTest runs it with FPO_LONG=1 alone, since it needs the network.
"""
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "support"))
import peer_environment  # noqa: E402

PACKAGES = ["safetensors==0.8.0", "numpy==2.4.6"]
BITS = {"BOOL": 8, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "U8": 8, "I8": 8, "F8_E5M2": 8, "F8_E4M3": 8, "F8_E8M0": 8,
        "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8, "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32,
        "C64": 64, "F64": 64, "I64": 64, "U64": 64}
# What the package's writer calls them; it has no name for the 6-bit ones.
WRITABLE = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "F8_E5M2": "float8_e5m2", "F8_E4M3": "float8_e4m3fn",
            "F8_E8M0": "float8_e8m0fnu", "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz",
            "I16": "int16", "U16": "uint16", "F16": "float16", "BF16": "bfloat16", "I32": "int32", "U32": "uint32",
            "F32": "float32", "C64": "complex64", "F64": "float64", "I64": "int64", "U64": "uint64",
            "F4": "float4_e2m1fn_x2"}
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def tool(*arguments):
    return subprocess.run([os.environ["FPO_VECTOR_TOOL"], *arguments], capture_output=True, text=True)


def by_package(rust, path):
    """Name -> (dtype, shape, bytes) as the package reads the file; None if it refuses."""
    try:
        tensors = rust.deserialize(open(path, "rb").read())
    except rust.SafetensorError:
        return None
    return {name: (t["dtype"], list(t["shape"]), bytes(t["data"])) for name, t in tensors}


def file_bytes(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def round_trips(rust, folder, numpy):
    rng = random.Random(7)
    for turn in range(60):
        specs, kept = {}, []
        for name in rng.sample(["a", "b", "weight_é", "x.y.z", "\U0001F600", "a_scale", "z\"q\\\n", ""], rng.randint(0, 6)):
            dtype = rng.choice(sorted(WRITABLE))
            shape = [rng.randint(0, 5) for _ in range(rng.randint(0, 3))]
            if dtype == "F4":
                shape.append(rng.randint(0, 4))  # the package doubles the last dimension
            count = 1
            for dimension in shape:
                count *= dimension
            size = count if dtype == "F4" else count * BITS[dtype] // 8
            raw = numpy.frombuffer(rng.randbytes(size + 1), dtype=numpy.uint8)
            kept.append(raw)
            specs[name] = rust.TensorSpec(dtype=WRITABLE[dtype], shape=shape, data_ptr=raw.ctypes.data, data_len=size)
        metadata = {"k": "välue \"%d\"" % turn} if rng.random() < 0.5 else None
        theirs, ours = os.path.join(folder, "theirs"), os.path.join(folder, "ours")
        written = bytes(rust.serialize(specs, metadata))
        open(theirs, "wb").write(written)
        result = tool("copy", theirs, ours)
        expect(result.returncode == 0, "turn %d: %s" % (turn, result.stderr.strip()))
        if result.returncode == 0:
            expect(open(ours, "rb").read() == written, "turn %d: other bytes than the package writes" % turn)
            expect(by_package(rust, ours) == by_package(rust, theirs), "turn %d: the package reads other tensors" % turn)


def vectors(rust, folder):
    """Vectors, which have every tensor kind of ours, are read by the package as our header says."""
    for a, b, d in (("nvfp4", "nvfp4", "bf16"), ("mxfp8_e4m3", "mxfp4", "e4m3"), ("fp8_1x128", "fp8_128x128", "f32"),
                    ("mxfp6_e2m3", "mxfp6_e3m2", "f16"), ("nvfp4", "nvfp4", "e2m1"), ("tf32", "bf16", "f32")):
        path = os.path.join(folder, "vector")
        result = tool("vector", "uniform", a, b, d, "5x18x130", "1", "exact", path)
        expect(result.returncode == 0, "%s: %s" % (a, result.stderr.strip()))
        raw = open(path, "rb").read()
        length = struct.unpack("<Q", raw[:8])[0]
        header = json.loads(raw[8:8 + length])
        header.pop("__metadata__")
        expected = {name: (t["dtype"], t["shape"], raw[8 + length + t["data_offsets"][0]:8 + length + t["data_offsets"][1]])
                    for name, t in header.items()}
        expect(by_package(rust, path) == expected and length % 8 == 0, "%s: the package reads another vector" % a)


def headers():
    """Hostile and odd files: (what, bytes)."""
    def entry(dtype="U8", shape=(4,), offsets=(0, 4), **more):
        return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}
    yield "good", file_bytes({"a": entry()}, b"1234")
    yield "padding", file_bytes(json.dumps({"a": entry()}).encode() + b"   ", b"1234")
    yield "empty", file_bytes({}, b"")
    yield "no tensors, data", file_bytes({}, b"1")
    yield "hole at the start", file_bytes({"a": entry(offsets=(1, 5))}, b"12345")
    yield "hole in the middle", file_bytes({"a": entry(), "b": entry(offsets=(5, 9))}, b"123456789")
    yield "hole at the end", file_bytes({"a": entry()}, b"12345")
    yield "overlap", file_bytes({"a": entry(), "b": entry(offsets=(2, 6))}, b"123456")
    yield "same place", file_bytes({"a": entry(), "b": entry()}, b"1234")
    yield "beyond the end", file_bytes({"a": entry()}, b"123")
    yield "backwards", file_bytes({"a": entry(offsets=(4, 0))}, b"1234")
    yield "negative", file_bytes({"a": entry(offsets=(-4, 0))}, b"1234")
    yield "wrong size", file_bytes({"a": entry("F32")}, b"1234")
    yield "overflow", file_bytes({"a": entry(shape=(1 << 32, 1 << 32), offsets=(0, 0))}, b"")
    yield "overflow of bits", file_bytes({"a": entry("F64", (1 << 30, 1 << 30), (0, 0))}, b"")
    yield "zero times huge", file_bytes({"a": entry(shape=(0, 1 << 62), offsets=(0, 0))}, b"")
    yield "huge then zero", file_bytes({"a": entry(shape=(1 << 40, 1 << 40, 0), offsets=(0, 0))}, b"")
    yield "half a byte", file_bytes({"a": entry("F4", (3,), (0, 2))}, b"12")
    yield "packed", file_bytes({"a": entry("F4", (3, 2), (0, 3)), "b": entry("F6_E2M3", (4,), (3, 6))}, b"123456")
    yield "unknown dtype", file_bytes({"a": entry("F3")}, b"1234")
    yield "unknown member", file_bytes({"a": entry(note=[1, {}])}, b"1234")
    yield "string dimension", file_bytes({"a": entry(shape=("4",))}, b"1234")
    yield "fraction", file_bytes({"a": entry(offsets=(0, 4.0))}, b"1234")
    yield "three offsets", file_bytes({"a": entry(offsets=(0, 4, 4))}, b"1234")
    yield "no shape", file_bytes({"a": {"dtype": "U8", "data_offsets": [0, 4]}}, b"1234")
    yield "entry no object", file_bytes({"a": 3}, b"")
    yield "metadata number", file_bytes({"__metadata__": {"k": 1}}, b"")
    yield "metadata list", file_bytes({"__metadata__": []}, b"")
    yield "list", file_bytes(b"[]", b"")
    yield "no JSON", file_bytes(b"{", b"")
    yield "text behind", file_bytes(b"{} x", b"")
    yield "no UTF-8", file_bytes(b'{"\xff":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}', b"")
    yield "lone surrogate", file_bytes(b'{"\\ud800":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}', b"")
    yield "duplicate tensor", file_bytes(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'
                                         b'"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}', b"")
    yield "duplicate member", file_bytes(b'{"a":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}}', b"")
    yield "NUL in a name", file_bytes(b'{"a\\u0000":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}', b"")
    yield "space first", file_bytes(b' {}', b"")
    yield "17 dimensions", file_bytes({"a": entry(shape=(1,) * 17, offsets=(0, 1))}, b"1")
    yield "nested 200 deep", file_bytes(b'{"a":' + b"[" * 200, b"")
    yield "header too long", struct.pack("<Q", 100) + b"{}"
    yield "header absurd", struct.pack("<Q", 1 << 63) + b"{}"
    yield "seven bytes", b"1234567"
    yield "nothing", b""
    for cut in range(8, 66, 3):
        yield "cut at %d" % cut, file_bytes({"a": entry()}, b"1234")[:cut]


# We refuse, the package does not: the format's text forbids the first two; the others are limits of ours.
STRICTER = {"duplicate tensor", "space first", "NUL in a name", "17 dimensions"}


def refusals(rust, folder):
    names, paths = [], []
    for i, (what, content) in enumerate(headers()):
        names.append(what)
        paths.append(os.path.join(folder, "h%d" % i))
        open(paths[-1], "wb").write(content)
    for what, path, line in zip(names, paths, tool("check", *paths).stdout.splitlines(), strict=True):
        ours, theirs = line == "ok", by_package(rust, path) is not None
        if what in STRICTER:
            expect(theirs and not ours, "%s: ours %s, theirs %s: no longer a known difference" % (what, ours, theirs))
        else:
            expect(ours == theirs, "%s: ours: %s; theirs: %s" % (what, line, "ok" if theirs else "refused"))
    print("%d odd files, %d of them refused by us alone" % (len(names), len(STRICTER)))


def main():
    peer_environment.enter(PACKAGES)
    import numpy
    from safetensors import _safetensors_rust as rust
    with tempfile.TemporaryDirectory() as folder:
        round_trips(rust, folder, numpy)
        vectors(rust, folder)
        refusals(rust, folder)
    print("%d failures" % len(failures))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
