#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Executes the output quantiser of CUTLASS's NVFP4 GEMM (example 79b, plug-in cutlass_sm120) on the virtual SM120, and compares
every byte with the recipe cutlass_output_nvfp4.

usage: cutlass_output.py FP4ORACLE FOLDER [--recipe NAME] [--first SEED] [--record]

A and B are zeros, so that D is beta * C: any numbers. The norm constant is the vector's `d_scale`. FOLDER gets the vectors, and
with --record what came out, for tests/data/recipes. Exit status 1 if a byte differs."""
import argparse
import ctypes
import ctypes.util
import glob
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

from virtual_device import K, boundaries, difference, mixed, ours, widened, write

KERNEL = "cutlass_sm120:cutlass/nvfp4/nvfp4/pingpong"
MODEL = "sm120_mxf4nvf4"
CASES = ((1.0, 1.0), (1 - 2.0 ** -24, 1.0), (1 + 2.0 ** -23, 0.37), (0.7, 1e-30), (1.0, 1e30), (1.0, 3e-42))  # beta, norm constant


class Hash(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def digest(data):
    library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    library.XXH3_128bits.restype = Hash
    h = library.XXH3_128bits(data, ctypes.c_size_t(len(data)))
    return f"{h.high:016x}{h.low:016x}"


def tensors_of(path):
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + length])
    about = header.pop("__metadata__")
    return about, {name: (t["dtype"], t["shape"], data[slice(*(8 + length + o for o in t["data_offsets"]))]) for name, t in header.items()}


def f32(x):
    return ctypes.c_float(x).value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--recipe", default="cutlass_output_nvfp4")
    parser.add_argument("--first", type=int, default=0, help="0: another one each time")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    program, folder, seed = options.program, options.folder, options.first or int.from_bytes(os.urandom(3), "little")
    c = boundaries("bf16", 16, 2) + mixed(seed, "bf16", 16)
    c += bytes(-len(c) % (128 * K * 2))
    rows = len(c) // (2 * K)
    write(f"{folder}/c.safetensors", {"a": ("BF16", [rows, 128], bytes(256 * rows)), "b": ("BF16", [K, 128], bytes(256 * K)), "c": ("BF16", [rows, K], c)}, {})
    numbers = struct.unpack(f"<{rows * K}f", widened(c, "bf16"))
    print(f"seed {seed}")
    total = bad = 0
    record = {}
    for i, (beta, norm) in enumerate(CASES):
        operands = [f"--{name}={folder}/c.safetensors:{name}" for name in "abc"]
        subprocess.run([program, "gen", "--format", "nvfp4", *operands, "--beta", repr(beta), "--d", "nvfp4", "--model", MODEL, "-o", f"{folder}/v.safetensors"],
                       check=True, stdout=subprocess.DEVNULL)
        about, tensors = tensors_of(f"{folder}/v.safetensors")
        document = json.loads(about["fp4oracle"])
        tensors = {name: t for name, t in tensors.items() if not name.startswith("d")}
        tensors["d_scale"] = "F32", [1], struct.pack("<f", norm)
        document["digests"]["d_scale"] = digest(tensors["d_scale"][2])
        write(f"{folder}/v.safetensors", tensors, {"fp4oracle": json.dumps(document, separators=(",", ":"))})
        shutil.rmtree(f"{folder}/recorded", ignore_errors=True)
        subprocess.run([program, "run", "--once", "--no-diagnosis", "--record", f"{folder}/recorded", "--kernel", KERNEL, "--device", "virtual:sm120",
                        f"{folder}/v.safetensors"], stdout=subprocess.DEVNULL)  # its own model of the output is another one
        [path] = glob.glob(f"{folder}/recorded/*.safetensors")
        _, out = tensors_of(path)
        theirs = out[f"d.{MODEL}"][2], out[f"d_scale.{MODEL}"][2]
        # beta * C + 0, each rounded to f32.
        x = struct.pack(f"<{rows * K}f", *(f32(v * f32(beta)) + 0.0 for v in numbers))
        count, wrong, place = difference(theirs, ours(program, folder, options.recipe, x, "f32", rows, norm))
        total, bad = total + count, bad + wrong
        print(f"{options.recipe}, beta {beta:.9g}, norm constant {norm:g}: {wrong} of {count} bytes differ {place}", flush=True)
        record.update({f"x.{i}": ("F32", [rows, K], x), f"g.{i}": ("F32", [1], struct.pack("<f", norm)), f"q.{i}": ("U8", [rows, K // 2], theirs[0]),
                       f"sf.{i}": ("U8", [rows, K // 16], theirs[1])})
    print(f"{total} bytes, {bad} differ")
    if options.record:
        write(f"{folder}/cutlass_cuda.output_nvfp4.f32.safetensors", record,
              {"library": "nvidia-cutlass", "version": "4.2.0", "kernel": "example 79b: LinCombBlockScaleFactor<16>, sm_120a, pingpong", "dtype_fed": "f32",
               "arguments": "g: the norm constant", "executed": "compiled by nvcc 13.0.88 and executed on the virtual GPU (no GPU); rcp.approx as an H200's"})
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
