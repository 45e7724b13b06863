#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Executes the libraries' quantisers over fresh seeds and compares every byte with `fp4oracle quantize`.

usage: VENV/bin/python recipes_live.py FP4ORACLE [--seeds N] [--first SEED] [--recipe PART] [--microxcaling FOLDER]
           [--record FOLDER]

VENV is made by setup.sh. Inputs: normal numbers of many scales, boundaries between scale codes and midpoints between
elements with their neighbours, subnormal and huge blocks, zeros of both signs; no NaN, whose codes may depend on a
processor. --record writes what came out for tests/data/recipes. Exit status 1 if a byte differs.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
import numpy
import torch
from safetensors.torch import save_file

import libraries

ROWS, COLUMNS = 128, 512
DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def neighbours(x, steps):
    return (x.astype(numpy.float32).view(numpy.int32) + numpy.int32(steps)).view(numpy.float32)


def make_input(seed, dtype):
    random = numpy.random.default_rng(seed)
    x = random.standard_normal((ROWS, COLUMNS)).astype(numpy.float32)
    blocks = x.reshape(ROWS, COLUMNS // 16, 16)
    # A third of the blocks: few significant bits, scaled by powers of two.
    few = random.integers(-24, 25, blocks.shape) / 4.0
    powers = numpy.exp2(random.integers(-20, 12, blocks.shape[:2] + (1,)))
    chosen = random.integers(0, 3, blocks.shape[:2])[..., None]
    blocks = numpy.where(chosen == 1, few * powers, blocks * numpy.exp2(random.integers(-8, 8, blocks.shape[:2] + (1,))))
    # Block amax at boundaries between scale codes of 6 times e4m3, an ulp to both sides.
    codes = random.integers(1, 126, blocks.shape[:2])
    boundary = neighbours((6 * (e4m3(codes) + e4m3(codes + 1)) / 2 * 2.0 ** random.integers(-3, 3)), random.integers(-1, 2, codes.shape))
    blocks[..., 0] = numpy.where(chosen[..., 0] == 2, boundary, blocks[..., 0])
    kind = random.integers(0, 24, blocks.shape[:2])[..., None]
    blocks = numpy.where(kind == 0, 0.0, blocks)
    blocks = numpy.where(kind == 1, -0.0, blocks)
    blocks = numpy.where(kind == 2, blocks * 2.0 ** (-140 if seed % 3 == 0 else -9), blocks)
    if seed % 4 == 1 and dtype != "f16":
        blocks = blocks * 2.0 ** int(random.integers(60, 100))
    x = blocks.reshape(ROWS, COLUMNS).clip(-3e38, 3e38)
    x = numpy.where(abs(x) > 60000, numpy.sign(x) * 60000, x) if dtype == "f16" else x
    return torch.from_numpy(x.astype(numpy.float32)).to(DTYPES[dtype])


def e4m3(codes):
    exponent, mantissa = codes >> 3, codes & 7
    return numpy.where(exponent == 0, mantissa * 2.0 ** -9, (8 + mantissa) * 2.0 ** (exponent - 10.0))


def read_tensors(path):
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = numpy.frombuffer(data[begin:end], numpy.float32 if entry["dtype"] == "F32" else numpy.uint8)
    return tensors


def ours(program, recipe, path, output):
    run = subprocess.run([program, "quantize", f"{path}:x", "--recipe", recipe, "-o", str(output)], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"fp4oracle quantize --recipe {recipe}: {run.stderr}")
    tensors = read_tensors(output)
    return tensors["codes"], tensors["scale"]


def canonical(array, fp8):
    """Bytes of which NaN has one."""
    flat = numpy.ascontiguousarray(array).reshape(-1)
    if flat.dtype == numpy.float32:
        bits = flat.view(numpy.uint32).copy()
        bits[numpy.isnan(flat)] = 0x7FC00000
        return bits.view(numpy.uint8)
    flat = flat.copy()
    if fp8:
        flat[flat == 0xFF] = 0x7F
    return flat


def differing(theirs, mine, fp8):
    theirs, mine = canonical(theirs, fp8), canonical(mine, fp8)
    if theirs.size != mine.size:
        return theirs.size, theirs.size, f"{theirs.size} bytes, not {mine.size}"
    places = numpy.flatnonzero(theirs != mine)
    first = f"byte {places[0]}: {theirs[places[0]]:02X}, ours {mine[places[0]]:02X}" if places.size else ""
    return theirs.size, places.size, first


def compare(program, recipe, run, dtype, seeds, folder, record):
    total, different, first = 0, 0, ""
    for seed in seeds:
        x = make_input(seed, dtype)
        path, output = folder / "x.safetensors", folder / "q.safetensors"
        save_file({"x": x}, path)
        codes, scale = ours(program, recipe.partition(" ")[0], path, output)
        their_codes, their_scale = run(x.clone())
        record.update({f"q.s{seed}": torch.from_numpy(their_codes), f"sf.s{seed}": torch.from_numpy(their_scale)})
        for what, theirs, mine in (("codes", their_codes, codes), ("scales", their_scale, scale)):
            fp8 = what == "scales" or "fp8" in recipe
            size, count, place = differing(theirs, mine, fp8 and "ue8m0" not in recipe and "mx" not in recipe or "mxfp8" in recipe and what == "codes")
            total, different = total + size, different + count
            first = first or (f"seed {seed}, {what}, {place}" if count else "")
    return total, different, first


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=0, help="0: another one each time")
    parser.add_argument("--recipe", default="", help="those whose name has this part")
    parser.add_argument("--microxcaling", type=pathlib.Path)
    parser.add_argument("--record", type=pathlib.Path)
    options = parser.parse_args()
    if options.microxcaling:
        libraries.microxcaling(options.microxcaling)
    first = options.first or int.from_bytes(os.urandom(3), "little")
    seeds = range(first, first + options.seeds)
    torch.set_num_threads(1)
    bad = bytes_in_all = 0
    print(f"seeds {seeds[0]} to {seeds[-1]}, {ROWS} x {COLUMNS} numbers each")
    with tempfile.TemporaryDirectory() as folder:
        for recipe, (library, run) in libraries.RECIPES.items():
            if options.recipe not in recipe:
                continue
            for dtype in DTYPES:
                record = {}
                try:
                    total, different, place = compare(options.program, recipe, run, dtype, seeds, pathlib.Path(folder), record)
                except Exception as reason:
                    print(f"{recipe:42s} {dtype:5s} {library}: not run: {type(reason).__name__}: {str(reason)[:90]}")
                    continue
                if options.record:
                    about = {"library": library, "dtype_fed": dtype, "inputs": f"inputs.live.{dtype}.safetensors", "executed": "by the library on a CPU, torch " + torch.__version__}
                    save_file(record, options.record / f"live.{recipe}.{dtype}.safetensors", about)
                bad += different != 0
                bytes_in_all += total
                print(f"{recipe:42s} {dtype:5s} {library}: {different} of {total} bytes differ {place}", flush=True)
    for dtype in DTYPES if options.record else ():
        save_file({f"x.s{seed}": make_input(seed, dtype).float() for seed in seeds}, options.record / f"inputs.live.{dtype}.safetensors")
    for library, reason in libraries.MISSING.items():
        print(f"{library}: left out: {reason}")
    print(f"{bytes_in_all} bytes, {bad} comparisons with a difference")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
