#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Runs mmaemu live on whole FP8 GEMMs, split-K included, and compares its accumulators with fpo_gemm's.

usage: crosscheck_mmaemu.py --build FOLDER [--gemms N] [--seed S]
Run with the python of crosscheck_setup.sh. FOLDER is a build of fp4oracle (lib/libfp4oracle.so); a C compiler is needed
for crosscheck/gemm.c. Exit status 1 if any accumulator differs.
"""
import argparse
import collections
import ctypes
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
from mmaemu.model import chain, plan

HERE = pathlib.Path(__file__).resolve().parent
FORMATS = ("e4m3", "e5m2")
# preset, fast accumulation: our model. Splits are fields of its schedule.
MODELS = {("ada", True): "sm89_mma_fp8", ("ada", False): "sm89_fp8_promote128",
          ("hopper", True): "sm90_wgmma_fp8", ("hopper", False): "sm90_fp8_promote128"}
# scheme: (fpo_split_kind, tile of K, fpo_reduction)
SCHEMES = {"serial": (3, 64, 0), "pairwise": (3, 64, 2), "contiguous": (1, 128, 0), "none": (0, 0, 0)}


def build_shim(folder, build):
    shim = pathlib.Path(folder) / "crosscheck_gemm.so"
    subprocess.run(["cc", "-std=c11", "-O1", "-shared", "-fPIC", "-I", str(HERE.parent / "include"),
                    str(HERE / "crosscheck" / "gemm.c"), "-o", str(shim), "-L", f"{build}/lib", "-lfp4oracle",
                    f"-Wl,-rpath,{build}/lib"], check=True)
    function = ctypes.CDLL(str(shim)).crosscheck_gemm
    function.argtypes = [ctypes.c_char_p] + [ctypes.c_int] * 6 + [ctypes.c_long] * 3 + [ctypes.c_void_p] * 3
    return function


def codes(random, rows, k, name, kind, other=None):
    """Finite codes with NaN and infinities now and then; ladders; a second half of K that undoes the first."""
    code = random.integers(0, 256, (rows, k), dtype=np.uint8)
    special = 0x7F if name == "e4m3" else 0x7C
    finite = (code & 0x7F) >= special
    code[finite] = code[finite] & 0xB7 if name == "e4m3" else code[finite] & 0xBB
    if kind == 1:
        mantissa = 3 if name == "e4m3" else 2
        field = (np.arange(k)[None, :] * 3 + np.arange(rows)[:, None]) % (15 if name == "e4m3" else 30)
        code = (field.astype(np.uint8) << mantissa) | (code & (2 ** mantissa - 1)) | (code & 0x80)
        code[(code & 0x7F) == 0x7F] ^= 1
    if kind == 2 and k > 1:
        code[:, k // 2:2 * (k // 2)] = code[:, :k // 2] ^ (0x80 if other == "a" else 0)
    if kind == 3:
        code[random.integers(0, 4000, code.shape) == 0] = special
    return code


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--gemms", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    random = np.random.default_rng(arguments.seed)
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        gemm = build_shim(folder, pathlib.Path(arguments.build).resolve())
        for number in range(arguments.gemms):
            preset = ("ada", "hopper")[number % 2]
            fast, parts = bool(number // 2 % 2), int(random.choice([1, 1, 2, 3, 4, 5, 8, 16]))
            scheme = "none" if parts == 1 else "contiguous" if preset == "hopper" else ("serial", "pairwise")[number // 4 % 2]
            m, n = (int(random.integers(1, 40)) for _ in range(2))
            k = int(random.choice([random.integers(1, 300), random.integers(300, 5000), 128 * random.integers(1, 33)]))
            kind = number // 8 % 4
            a_name, b_name = FORMATS[number // 16 % 2], FORMATS[number // 32 % 2]
            a = codes(random, m, k, a_name, kind, "a")
            b = codes(random, n, k, b_name, kind)
            expected = plan.execute_plan(
                plan.make_plan(k, fast=fast, S=parts, scheme=scheme, preset=preset), torch.from_numpy(a),
                torch.from_numpy(b), fmt_a=a_name, fmt_b=b_name,
                chain_fn=lambda x, y: chain.chain_gemm(x, y, fmt_a=a_name, fmt_b=b_name, preset=preset)).numpy()
            d = np.empty((m, n), np.float32)
            split, tile, reduction = SCHEMES[scheme]
            status = gemm(MODELS[preset, fast].encode(), a_name == "e5m2", b_name == "e5m2", split, parts, tile, reduction,
                          m, n, k, a.ctypes.data, b.ctypes.data, d.ctypes.data)
            if status:
                sys.exit(f"fp4oracle: status {status}")
            different = int((d.view(np.uint32) != np.ascontiguousarray(expected).view(np.uint32)).sum())
            key = f"{preset} {'fast' if fast else 'promoted'} {scheme}"
            counts[key, "gemms"] += 1
            counts[key, "outputs"] += m * n
            counts[key, "different"] += different
            if different:
                print(f"{key}, {parts} parts, {m}x{n}x{k}, {a_name} x {b_name}, data {kind}: {different} differ", flush=True)
    keys = sorted({key for key, _ in counts})
    for key in keys:
        print(f"{key}: {counts[key, 'different']} of {counts[key, 'outputs']} outputs of {counts[key, 'gemms']} GEMMs differ")
    sys.exit(1 if sum(counts[key, "different"] for key in keys) else 0)


if __name__ == "__main__":
    main()
