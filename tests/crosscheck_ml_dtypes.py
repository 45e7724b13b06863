#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Decoding and the presets ml_dtypes, ml_dtypes_e8m0 against the package ml_dtypes itself, run here.

    tests/crosscheck_ml_dtypes.py [LIBRARY]      default: build/lib/libfp4oracle.so, or $FPO_LIBRARY

From float64 the package goes through float32 (errata: 0x1.0000000000001p-2 becomes 0 in e2m1, not 0.5), and is compared
with that.

Makes a virtual environment with the pinned package in $XDG_CACHE_HOME/fp4oracle. Exit status 77 (skipped) if PyPI cannot
be reached; CTest runs it with FPO_LONG=1 alone, since it needs the network.
"""
import ctypes
import os
import struct
import subprocess
import sys

PACKAGES = ["ml_dtypes==0.6.0", "numpy==2.4.6"]
TARGETS = [  # numpy's type, our format, our preset
    ("float4_e2m1fn", "e2m1", "ml_dtypes"),
    ("float6_e2m3fn", "e2m3", "ml_dtypes"),
    ("float6_e3m2fn", "e3m2", "ml_dtypes"),
    ("float8_e4m3fn", "e4m3", "ml_dtypes"),
    ("float8_e5m2", "e5m2", "ml_dtypes"),
    ("float8_e8m0fnu", "ue8m0", "ml_dtypes_e8m0"),
    ("bfloat16", "bf16", "ml_dtypes"),
]
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "support"))
import peer_environment  # noqa: E402


class Library:
    def __init__(self, path):
        lib = ctypes.CDLL(path)
        lib.fpo_cast_describe.restype = ctypes.c_void_p
        lib.fpo_encode_double.restype = ctypes.c_uint32
        lib.fpo_encode_double.argtypes = [ctypes.c_int, ctypes.c_double, ctypes.c_void_p]
        lib.fpo_decode_double.restype = ctypes.c_double
        lib.fpo_decode_double.argtypes = [ctypes.c_int, ctypes.c_uint32]
        lib.fpo_format_by_name.argtypes = lib.fpo_cast_by_name.argtypes = [ctypes.c_char_p]
        self.lib = lib

    def format(self, name):
        return self.lib.fpo_format_by_name(name.encode())

    def preset(self, name):
        return self.lib.fpo_cast_describe(self.lib.fpo_cast_by_name(name.encode()))


def inputs(np, dtype, codes):
    """f64 numbers: all f16 and bf16, all numbers of the type and midpoints, with neighbours, and any f32 patterns."""
    import ml_dtypes
    all16 = np.arange(65536, dtype=np.uint32).astype(np.uint16)
    parts = [all16.view(np.float16).astype(np.float64), all16.view(ml_dtypes.bfloat16).astype(np.float64)]
    numbers = codes.view(dtype).astype(np.float64)
    numbers = np.unique(numbers[np.isfinite(numbers)])
    middles = (numbers[1:] + numbers[:-1]) / 2
    for x in (numbers, middles):
        single = x.astype(np.float32)
        parts += [x, np.nextafter(x, np.inf), np.nextafter(x, -np.inf)]
        parts += [np.nextafter(single, np.float32(np.inf)), np.nextafter(single, np.float32(-np.inf))]
    patterns = (np.arange(150000, dtype=np.uint64) * 2654435761 + 99).astype(np.uint32)
    parts.append(patterns.view(np.float32))
    with np.errstate(all="ignore"):
        return np.concatenate([p.astype(np.float64) for p in parts])


def main():
    peer_environment.enter(PACKAGES)
    import ml_dtypes
    import numpy as np
    path = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("FPO_LIBRARY")
    library = Library(path or os.path.join(HERE, "..", "build", "lib", "libfp4oracle.so"))
    failed = 0
    np.seterr(all="ignore")
    for name, format_name, preset_name in TARGETS:
        dtype, fmt = getattr(ml_dtypes, name), library.format(format_name)
        preset = library.preset(preset_name)
        unsigned = np.dtype("u%d" % np.dtype(dtype).itemsize)
        count = {"e2m1": 16, "e2m3": 64, "e3m2": 64, "bf16": 65536}.get(format_name, 256)
        codes = np.arange(count, dtype=np.uint32).astype(unsigned)
        decoded = codes.view(dtype).astype(np.float64)
        for code in range(count):
            ours, theirs = library.lib.fpo_decode_double(fmt, code), decoded[code]
            if struct.pack("d", ours) != struct.pack("d", theirs) and not (ours != ours and theirs != theirs):
                print("%s 0x%X: %r, ml_dtypes has %r" % (format_name, code, ours, float(theirs)))
                failed += 1
        x = inputs(np, dtype, codes)
        for source in (np.float64, np.float32, np.float16, ml_dtypes.bfloat16):
            fed = x.astype(source)
            theirs = fed.astype(dtype).view(unsigned)
            # From float64 the package rounds twice: through float32.
            wide = fed.astype(np.float32).astype(np.float64)
            encode, different = library.lib.fpo_encode_double, 0
            for i, value in enumerate(wide.tolist()):
                code = encode(fmt, value, preset)
                if code != theirs[i]:
                    if different < 5:
                        print("%s of %s: 0x%X, ml_dtypes has 0x%X" % (format_name, value.hex(), code, theirs[i]))
                    different += 1
            failed += different
            print("%-14s from %-8s %7d numbers, %d differ" % (name, np.dtype(source).name, len(wide), different))
    print("ml_dtypes %s: %s" % (ml_dtypes.__version__, "all agree" if failed == 0 else "%d differ" % failed))
    sys.exit(0 if failed == 0 else 1)


if __name__ == "__main__":
    main()
