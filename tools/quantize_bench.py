#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Quantising: fp4oracle beside ml_dtypes and torch on the same numbers, in turn, in the same run.

usage: quantize_bench.py FP4ORACLE [--rows 1024] [--columns 4096] [--repeat 5] [--threads 1] [--json]

Needs numpy and ml_dtypes; torch and torchao are timed where they can be imported (tools/recipes_live_setup.sh makes an
environment that has them). ml_dtypes' and torch's casts do less than a recipe: no amax, no scale, no packing; they are the
floor of what a library built from them takes. Of each the fastest run counts: what others do to the machine only adds.
"""
import argparse
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import time

import numpy


def write_safetensors(path, x):
    header = json.dumps({"x": {"dtype": "F32", "shape": list(x.shape), "data_offsets": [0, x.nbytes]}}).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + x.tobytes())


def ml_dtypes_jobs(x):
    import ml_dtypes

    def cast(dtype):
        return lambda: x.astype(dtype)

    version = "ml_dtypes " + ml_dtypes.__version__
    return [(version, "cast to e4m3", "ocp_floor_mxfp8_e4m3", cast(ml_dtypes.float8_e4m3fn)),
            (version, "cast to e5m2", "ocp_floor_mxfp8_e5m2", cast(ml_dtypes.float8_e5m2)),
            (version, "cast to e2m3", "ocp_floor_mxfp6_e2m3", cast(ml_dtypes.float6_e2m3fn)),
            (version, "cast to e2m1", "ocp_floor_mxfp4", cast(ml_dtypes.float4_e2m1fn))]


def torch_jobs(x, threads):
    try:
        import torch
    except ImportError:
        return []
    torch.set_num_threads(threads)
    t = torch.from_numpy(x)

    def per_row():
        scale = t.abs().amax(dim=1, keepdim=True) / 448
        return (t / scale).to(torch.float8_e4m3fn), scale

    version = "torch " + torch.__version__.split("+")[0]
    jobs = [(version, "cast to e4m3", "ocp_floor_mxfp8_e4m3", lambda: t.to(torch.float8_e4m3fn)),
            (version, "scale per row, e4m3", "fp8_row_divide", per_row)]
    return jobs + torchao_jobs(torch, t)


def torchao_jobs(torch, t):
    try:
        import torchao
        from torchao.prototype.mx_formats.config import ScaleCalculationMode
        from torchao.prototype.mx_formats.mx_tensor import to_mx
        from torchao.prototype.mx_formats.nvfp4_tensor import nvfp4_quantize, per_tensor_amax_to_scale
    except ImportError as reason:
        print(f"torchao is left out: {reason}")
        return []

    def nvfp4():
        scale = per_tensor_amax_to_scale(t.abs().max())
        return nvfp4_quantize(t, 16, scale)

    version = "torchao " + torchao.__version__.split("+")[0]
    return [(version, "to_mx e4m3 floor", "torchao_mxfp8_e4m3_floor",
             lambda: to_mx(t, torch.float8_e4m3fn, 32, ScaleCalculationMode.FLOOR)),
            (version, "to_mx e2m1 floor", "torchao_mxfp4_floor",
             lambda: to_mx(t, torch.float4_e2m1fn_x2, 32, ScaleCalculationMode.FLOOR)),
            (version, "nvfp4_quantize", "torchao_nvfp4", nvfp4)]


def ours(program, recipe, path, threads):
    run = subprocess.run([program, "bench", "--recipe", recipe, "--input", f"{path}:x", "--threads", str(threads),
                          "--repeat", "3", "--json"], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)["recipes"][recipe]["seconds"]


def measure(program, jobs, path, threads, repeat):
    rows = []
    for library, what, recipe, job in jobs:
        job()
        mine, theirs = [], []
        for _ in range(repeat):
            mine.append(ours(program, recipe, path, threads))
            start = time.perf_counter()
            job()
            theirs.append(time.perf_counter() - start)
        rows.append((library, what, recipe, min(theirs), min(mine)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--rows", type=int, default=1024)
    parser.add_argument("--columns", type=int, default=4096)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    x = numpy.random.default_rng(20261130).standard_normal((options.rows, options.columns), dtype=numpy.float32)
    x = (x.view(numpy.uint32) & 0xFFFF0000).view(numpy.float32)  # exact in bf16, as activations are
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.safetensors"
        write_safetensors(path, x)
        jobs = ml_dtypes_jobs(x) + torch_jobs(x, options.threads)
        rows = measure(options.program, jobs, path, options.threads, options.repeat)
    if options.json:
        print(json.dumps([dict(zip(("library", "does", "recipe", "seconds", "fp4oracle_seconds"), row)) for row in rows]))
        return
    print(f"{options.rows} x {options.columns} numbers, {options.threads} threads, fastest of {options.repeat}; Gelem/s")
    print(f"{'library':20s} {'does':22s} {'theirs':>8s} {'ours':>8s} {'ratio':>7s}  our recipe")
    for library, what, recipe, theirs, mine in rows:
        print(f"{library:20s} {what:22s} {x.size / theirs * 1e-9:8.3f} {x.size / mine * 1e-9:8.3f} {theirs / mine:7.1f}  {recipe}")


if __name__ == "__main__":
    main()
