#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Runs mmasim live on fresh steps, and `fp4oracle steps` on what comes out.

usage: crosscheck_mmasim.py --fp4oracle PROGRAM [--steps N] [--seed S] [--only ARCH] [--record FOLDER]
Run with the python of crosscheck_setup.sh. --steps: for each of sm120 and sm100, over all instructions and type pairs
(default 1,000,000); the other architectures get a tenth. --record FOLDER instead writes 600 rows of each f16, bf16 and
tf32 instruction there, MODEL.safetensors: how vectors/data/steps/mmasim_wide was made.
Exit status 1 if any row differs.
"""
import argparse
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
import torch
from mmasim import nv_ptx

ARCHITECTURES = {"sm70": "Volta", "sm75": "Turing", "sm80": "Ampere", "sm89": "Ada Lovelace", "sm90": "Hopper",
                 "sm100": "Blackwell", "sm120": "RTX Blackwell"}
F8F6F4 = ["e2m1", "e2m3", "e3m2", "e4m3", "e5m2"]
FP8 = ["e4m3", "e5m2"]
# exponent bits, mantissa bits, code of infinity or NaN (None: every code is finite)
FORMATS = {"e2m1": (2, 1, None), "e2m3": (2, 3, None), "e3m2": (3, 2, None), "e4m3": (4, 3, 0x7F), "e5m2": (5, 2, 0x7C),
           "f16": (5, 10, 0x7C00), "bf16": (8, 7, 0x7F80), "tf32": (8, 23, 0x7F800000), "f32": (8, 23, 0x7F800000)}
TORCH = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2, "f16": torch.float16, "bf16": torch.bfloat16,
         "tf32": torch.float32, "f32": torch.float32, "ue8m0": torch.float8_e8m0fnu, "ue4m3": torch.float8_e4m3fn}


def instructions():
    """(architecture, model, class, qualifier, a, b, accumulator, scale, block)"""
    for a in F8F6F4:
        for b in F8F6F4:
            for d in ("f32", "f16"):
                suffix = "_f16acc" if d == "f16" else ""
                yield "sm120", "sm120_f8f6f4" + suffix, "MMA", f"m16n8k32.kind::f8f6f4.{d}.{a}.{b}.{d}", a, b, d, None, 0
                yield ("sm100", "sm100_f8f6f4" + suffix, "TCGen05MMA", f"m128n8k32.kind::f8f6f4.{d}.{a}.{b}", a, b, d,
                       None, 0)
            yield ("sm120", "sm120_mxf8f6f4", "MMABlockScale",
                   f"m16n8k32.kind::mxf8f6f4.block32.f32.{a}.{b}.f32.ue8m0", a, b, "f32", "ue8m0", 32)
            yield ("sm100", "sm100_mxf8f6f4", "TCGen05MMABlockScale",
                   f"m128n8k32.kind::mxf8f6f4.block32.f32.{a}.{b}.ue8m0", a, b, "f32", "ue8m0", 32)
    for kind, block, scale in (("mxf4", 32, "ue8m0"), ("mxf4nvf4", 32, "ue8m0"), ("mxf4nvf4", 16, "ue8m0"),
                               ("mxf4nvf4", 16, "ue4m3")):
        for _ in range(10 if scale == "ue4m3" else 4):  # their share of the steps
            yield ("sm120", f"sm120_{kind}", "MMABlockScale",
                   f"m16n8k64.kind::{kind}.block{block}.f32.e2m1.e2m1.f32.{scale}", "e2m1", "e2m1", "f32", scale, block)
            yield ("sm100", f"sm100_{kind}", "TCGen05MMABlockScale",
                   f"m128n8k64.kind::{kind}.block{block}.f32.e2m1.e2m1.{scale}", "e2m1", "e2m1", "f32", scale, block)
    for d in ("f32", "f16"):
        suffix = "_f16acc" if d == "f16" else ""
        for a in FP8:
            for b in FP8:
                for k in (16, 32):
                    short = "_k16" if k == 16 else ""
                    yield "sm89", f"sm89_mma_fp8{short}{suffix}", "MMA", f"m16n8k{k}.{d}.{a}.{b}.{d}", a, b, d, None, 0
                yield "sm120", "sm120_mma_fp8_k16" + suffix, "MMA", f"m16n8k16.{d}.{a}.{b}.{d}", a, b, d, None, 0
                yield "sm90", "sm90_wgmma_fp8" + suffix, "WGMMA", f"m64n8k32.{d}.{a}.{b}", a, b, d, None, 0
        yield "sm70", "sm70_mma_f16" + suffix, "MMA", f"m8n8k4.{d}.f16.f16.{d}", "f16", "f16", d, None, 0
        yield "sm75", "sm75_mma_f16" + suffix, "MMA", f"m16n8k8.{d}.f16.f16.{d}", "f16", "f16", d, None, 0
        for arch in ("sm80", "sm90", "sm100", "sm120"):
            name = f"{arch}_f16" if arch == "sm100" else f"{arch}_mma_f16"
            yield arch, name + suffix, "MMA", f"m16n8k16.{d}.f16.f16.{d}", "f16", "f16", d, None, 0
        yield "sm90", "sm90_wgmma_f16" + suffix, "WGMMA", f"m64n8k16.{d}.f16.f16", "f16", "f16", d, None, 0
    for arch in ("sm80", "sm90", "sm100", "sm120"):
        infix = "" if arch == "sm100" else "mma_"
        yield arch, f"{arch}_{infix}bf16", "MMA", "m16n8k16.f32.bf16.bf16.f32", "bf16", "bf16", "f32", None, 0
        yield arch, f"{arch}_{infix}tf32", "MMA", "m16n8k8.f32.tf32.tf32.f32", "tf32", "tf32", "f32", None, 0
    yield "sm90", "sm90_mma_bf16_k8", "MMA", "m16n8k8.f32.bf16.bf16.f32", "bf16", "bf16", "f32", None, 0
    yield "sm90", "sm90_mma_f16_k8", "MMA", "m16n8k8.f32.f16.f16.f32", "f16", "f16", "f32", None, 0


class Maker:
    """Codes by exponent and mantissa, so that every kind of row is easy to say."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def codes(self, name, exponent):
        """Codes of about 2^exponent (an array), of either sign, subnormals below the smallest, the largest above."""
        bits, mantissa, special = FORMATS[name]
        bias = 2 ** (bits - 1) - 1
        top = 2 ** bits - (1 if special is None or name == "e4m3" else 2)
        field = np.clip(exponent + bias, 0, top)
        fraction = self.random.integers(0, 2 ** mantissa, field.shape)
        code = (field << mantissa) | fraction
        if name == "e4m3":
            code = np.minimum(code, 0x7E)
        return (code | self.random.integers(0, 2, field.shape) << (bits + mantissa)).astype(np.int64)

    def uniform(self, name, shape):
        bits, mantissa, special = FORMATS[name]
        code = self.random.integers(0, 2 ** (bits + mantissa), shape)
        if special is not None:
            code = np.where(code >= special, special - 1 - code % 16, code)
        return code | self.random.integers(0, 2, shape) << (bits + mantissa)

    def scales(self, name, shape, low, high):
        exponent = self.random.integers(low, high + 1, shape)
        if name == "ue8m0":
            return np.clip(exponent + 127, 0, 254)
        return np.clip((np.clip(exponent, -7, 8) + 7) << 3 | self.random.integers(0, 8, shape), 0, 0x7E)

    def rows(self, n, k, a_type, b_type, accumulator, scale, block):
        pick = self.random.integers
        wide = a_type in ("bf16", "tf32")
        reach = 30 if wide else 10
        a = self.codes(a_type, pick(-reach, 8, (n, k)))
        b = self.codes(b_type, pick(-reach, 8, (n, k)))
        c = self.codes(accumulator, pick(-20, 14, n))
        scales = [self.scales(scale, (n, k // block), -4, 4) for _ in range(2)] if scale else []
        sign_a = 1 << (FORMATS[a_type][0] + FORMATS[a_type][1])
        kind = np.arange(n) % 8
        for side, name in ((a, a_type), (b, b_type)):
            side[kind == 0] = self.uniform(name, side[kind == 0].shape)
        # Ladders and cancellation: the odd products undo the even ones, but for a unit now and then.
        rows = np.isin(kind, (1, 2, 3))
        a[rows, 1::2] = a[rows, 0:k - k % 2:2] ^ sign_a ^ (pick(0, 4, a[rows, 1::2].shape) == 0)
        b[rows, 1::2] = b[rows, 0:k - k % 2:2]
        # C undoes nearly everything it can: the sign and exponent of a large product.
        c[kind == 2] = 0
        # Zeros under large factors, groups of zeros under large scales.
        rows = kind == 4
        zero = pick(0, 4, a[rows].shape) != 0
        a[rows] = np.where(zero, 0, a[rows])
        b[rows] = np.where(zero, self.codes(b_type, np.full(b[rows].shape, 7)), b[rows])
        if wide or a_type == "f16":  # as far apart as these formats go
            small, large = (-11, 126) if wide else (-13, 14)
            for side, name, cleared in ((a, a_type, 0), (b, b_type, None)):
                few = self.codes(name, pick(small, small + 3, side[rows].shape))
                many = self.codes(name, np.full(side[rows].shape, large)) if cleared is None else 0
                side[rows] = np.where(zero, many, few)
            c[rows] = np.where(pick(0, 2, c[rows].shape) == 0, 0, c[rows])
        for s in scales:  # far apart, and at the ends
            far = np.isin(kind, (1, 3, 4, 5))
            s[far] = self.scales(scale, s[far].shape, -40, 20)
            ends = kind == 6
            s[ends] = self.scales(scale, s[ends].shape, -127, -60) if scale == "ue8m0" else pick(0, 0x7F, s[ends].shape)
        if wide:  # results about the smallest and the largest numbers
            for side, name in ((a, a_type), (b, b_type)):
                side[kind == 5] = self.codes(name, pick(-90, -55, side[kind == 5].shape))
                side[kind == 6] = self.codes(name, pick(55, 64, side[kind == 6].shape))
        c[kind == 5] = self.codes(accumulator, pick(-150, -100, c[kind == 5].shape))
        c[kind == 6] = self.codes(accumulator, pick(100, 128, c[kind == 6].shape))
        c[pick(0, 6, n) == 0] = 0
        # NaN and infinity.
        rows = np.flatnonzero(kind == 7)
        for side, name in ((a, a_type), (b, b_type), (c[:, None], accumulator)):
            special = FORMATS[name][2]
            some = rows[pick(0, 3, rows.shape) == 0]
            if special is not None:
                sign = pick(0, 2, some.shape) << (FORMATS[name][0] + FORMATS[name][1])
                nan = pick(0, 2, some.shape) if name != "e4m3" else 0
                side[some, pick(0, side.shape[1], some.shape)] = special | sign | nan
        for s in scales:
            some = rows[pick(0, 6, rows.shape) == 0]
            s[some, pick(0, s.shape[1], some.shape)] = 0xFF if scale == "ue8m0" else pick(0x7F, 0x100, some.shape)
        return a, b, c, scales


def tensor(name, codes, k):
    """Codes as mmasim takes them."""
    if name in ("e2m1", "e2m3", "e3m2"):
        if k == 64:
            return torch.from_numpy((codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8))
        return torch.from_numpy((codes << 2 if name == "e2m1" else codes).astype(np.uint8))
    width = {1: np.uint8, 2: np.uint16, 4: np.uint32}[TORCH[name].itemsize]
    return torch.from_numpy(np.ascontiguousarray(codes.astype(width))).view(TORCH[name])


def simulate(architecture, family, qualifier, a_type, b_type, accumulator, scale, rows, k):
    a, b, c, scales = rows
    operation = getattr(nv_ptx, family)(ARCHITECTURES[architecture], qualifier)
    operands = [tensor(a_type, a, k), tensor(b_type, b, k), tensor(accumulator, c[:, None], 0)[:, 0]]
    operands += [tensor(scale, s, 0) for s in scales]
    d = operation.dpa(*operands)
    return d.view(torch.uint16 if accumulator == "f16" else torch.uint32).numpy().astype(np.uint32)


def write(path, tensors, metadata):
    names = {np.dtype(np.uint8): "U8", np.dtype(np.uint16): "U16", np.dtype(np.uint32): "U32"}
    header, data = {"__metadata__": metadata}, b""
    for name, array in sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header, separators=(",", ":"))
    text += " " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text.encode() + data)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fp4oracle", required=True)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    parser.add_argument("--record", type=pathlib.Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    wide = {"f16": np.uint16, "bf16": np.uint16, "tf32": np.uint32}  # cells of operand codes
    todo = [i for i in instructions() if arguments.only in (None, i[0]) and (not arguments.record or i[4] in wide)]
    shares = {arch: sum(i[0] == arch for i in todo) for arch in ARCHITECTURES}
    totals, wrong = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (arch, model, family, qualifier, a_type, b_type, accumulator, scale, block) in enumerate(todo):
            k = int(qualifier.split(".")[0].split("k")[1])
            n = 600 if arguments.record else (arguments.steps if arch in ("sm100", "sm120") else arguments.steps // 10) // shares[arch] + 1
            rows = Maker([arguments.seed, number]).rows(n, k, a_type, b_type, accumulator, scale, block)
            a, b, c, scales = rows
            d = simulate(arch, family, qualifier, a_type, b_type, accumulator, scale, rows, k)
            tensors = {"a": a.astype(wide.get(a_type, np.uint8)), "b": b.astype(wide.get(b_type, np.uint8)),
                       "c": c.astype(np.uint32), "d": d}
            tensors.update(zip(("sa", "sb"), (s.astype(np.uint8) for s in scales)))
            as_read = {"tf32": "f32"}  # a tf32 operand is an f32 register
            metadata = {"source": "mmasim 2.1.1 simulation, not hardware", "arch": f"{arch} ({ARCHITECTURES[arch]})",
                        "instruction": f"{family} {qualifier}", "a_type": as_read.get(a_type, a_type),
                        "b_type": as_read.get(b_type, b_type), "c_type": accumulator, "d_type": accumulator,
                        "scale_type": scale or "none", "block_size": str(block), "K": str(k), "rows": str(n),
                        "seed": f"{arguments.seed} {number}"}
            path = (arguments.record or pathlib.Path(folder)) / f"{model}.safetensors"
            write(path, tensors, metadata)
            run = subprocess.run([arguments.fp4oracle, "steps", str(path), "--model", model, "--json"],
                                 capture_output=True, text=True)
            if run.returncode not in (0, 1):
                sys.exit(f"{model}, {qualifier}: {run.stderr}")
            result = json.loads(run.stdout)["results"][0]["models"][0]
            totals[arch] = totals.get(arch, 0) + n
            wrong[arch] = wrong.get(arch, 0) + result["different"]
            if result["different"]:
                print(f"{model}, {qualifier}: {result['different']} of {n} differ, first {result['first'][0]}", flush=True)
    for arch, total in totals.items():
        print(f"{arch}: {wrong[arch]} of {total} steps differ")
    sys.exit(1 if any(wrong.values()) else 0)


if __name__ == "__main__":
    main()
