#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Executes CUTLASS's MXFP8 GEMM with an MXFP8 output (tests/vgpu/cutlass_output_mxfp8.cu) on the virtual SM120, and compares
every byte with the recipe cutlass_output_mxfp8 or cutlass_output_mxfp8_e5m2.

usage: fp4oracle vgpu -- cutlass_output_mxfp8.py FP4ORACLE KERNEL FOLDER --format e4m3|e5m2 [--recipe NAME] [--first SEED]
           [--record]

KERNEL is what tests/vgpu/build_cutlass.sh 1 (e4m3) or 2 (e5m2) cutlass_output_mxfp8 prints. A is zeros, so that D is beta * C:
any numbers. The last case has numbers of A and B, whose products are exact, and C. FOLDER gets what was quantised, and with
--record what came out, for tests/data/recipes. Exit status 1 if a byte differs."""
import argparse
import ctypes
import math
import os
import random
import struct
import sys

from virtual_device import INF, K as N, NAN, Device, difference, mixed, ours, rounded, write

BLOCK, DEPTH = 32, 128
LARGEST = {"e4m3": 448.0, "e5m2": 57344.0}
MANTISSA_BITS = {"e4m3": 3, "e5m2": 2}
SMALLEST_POWER = {"e4m3": -6, "e5m2": -14}
# beta, norm constant
CASES = ((1.0, 1.0), (1.0, 0.37), (1 + 2.0 ** -23, 1 - 2.0 ** -24), (0.7, 1e-30), (1.0, 1e30), (1.0, 3e-42), (1.0, 3e38), (-1.0, -2.0), (1.0, 0.0),
         (1.0, INF), (1.0, NAN))


def f32(x):
    return ctypes.c_float(x).value


def packed(values):
    return rounded(values, "f32")


def tops(form, norm):
    """Blocks whose scale is about to change: the largest number, its neighbours above and below, others below it. Then
    powers of two and theirs, subnormals, and what is no number."""
    largest, data = LARGEST[form], b""
    factor = norm if norm != 0 and abs(norm) < INF else 1.0
    for power in range(-160, 140, 2):
        for top in (largest * 2.0 ** power / factor, 2.0 ** power):
            if not 2.0 ** -149 <= abs(top) < 3e38:
                continue
            for step in (-1, 0, 1):
                rest = [top * ((j * 7 + power) % 25 - 12) / 48 for j in range(BLOCK - 1)]
                data += rounded([top], "f32", step) + packed(rest)
    ends = [2.0 ** -149, 2.0 ** -126 - 2.0 ** -149, 2.0 ** -126, 3.4028234663852886e38]
    for special in ([0.0] * BLOCK, [-0.0] * BLOCK, [NAN] * BLOCK, [INF] * BLOCK, [NAN] + [1.0] * 31, [1.0] * 31 + [NAN], [1.0] * 17 + [INF] + [-0.5] * 14,
                    [-INF] + [0.0] * 31, [INF, -INF, NAN, 0.0] * 8, *([end, -end / 2, end / 4, 0.0] * 8 for end in ends)):
        data += struct.pack(f"<{BLOCK}f", *special)
    return data


def midpoints(form, source):
    """Numbers halfway between two codes, and their neighbours, under scales that the block's first number decides."""
    bits, low, data = MANTISSA_BITS[form], SMALLEST_POWER[form], b""
    high = round(math.log2(LARGEST[form]) - 0.5)
    for _ in range(256):
        scale = 2.0 ** source.randint(-100, 90)
        values = [LARGEST[form] * scale]
        steps = [0]
        while len(values) < BLOCK:
            power = source.randint(low - 1, high)
            step = 2.0 ** (max(power, low) - bits)
            number = source.randrange(0, 1 << bits) * step + step / 2 + (2.0 ** power if power >= low else 0)
            values.append(number * scale * source.choice((1, -1)))
            steps.append(source.choice((-1, 0, 1)))
        data += b"".join(rounded([v], "f32", up) for v, up in zip(values, steps))
    return data


def of_c(form, norm, seed):
    source = random.Random(seed)
    data = tops(form, norm) + midpoints(form, source) + mixed(seed, "f32", BLOCK)
    data += packed([source.gauss(0, 1) for _ in range(32 * N)])
    return data + bytes(-len(data) % (128 * N * 4))


class Gemm:
    def __init__(self, path):
        self.device, self.function = Device(), ctypes.CDLL(path).cutlass_gemm

    def run(self, m, operands, c, beta, norm):
        """Codes, and scales row by row. `operands`: e4m3 codes of A and B."""
        up, groups = self.device.upload, N // BLOCK
        ones = [b"\x7F" * (rows // 128 * (DEPTH // 128) * 512) for rows in (m, N)]  # 2^0
        size = m // 128 * (groups // 4) * 512
        a, b, sa, sb, c, g, d, s = addresses = [up(x) for x in (*operands, *ones, c, struct.pack("<f", norm), b"\xA5" * (m * N), b"\xA5" * size)]
        status = self.function(m, N, DEPTH, a, b, sa, sb, c, ctypes.c_float(1.0), ctypes.c_float(beta), g, d, s)
        if status != 0:
            sys.exit(f"the kernel's host code answers {status}")
        codes, memory = self.device.download(d, m * N), self.device.download(s, size)
        self.device.free(*addresses)
        return codes, bytes(memory[(r // 128 * (groups // 4) + i // 4) * 512 + r % 32 * 16 + r % 128 // 32 * 4 + i % 4] for r in range(m) for i in range(groups))


def product(seed, m):
    """A and B of small whole numbers (e4m3), and their products, which no accumulator rounds."""
    source = random.Random(seed)
    codes = {0: 0, 1: 0x38, 2: 0x40, 3: 0x44, -1: 0xB8, -2: 0xC0, -3: 0xC4}
    a, b = ([[source.randint(-3, 3) for _ in range(DEPTH)] for _ in range(rows)] for rows in (m, N))
    sums = [sum(map(int.__mul__, x, y)) for x in a for y in b]
    return tuple(bytes(codes[v] for row in x for v in row) for x in (a, b)), sums


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("kernel")
    parser.add_argument("folder")
    parser.add_argument("--format", choices=LARGEST, required=True)
    parser.add_argument("--recipe")
    parser.add_argument("--first", type=int, default=0, help="0: another one each time")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    seed = options.first or int.from_bytes(os.urandom(3), "little")
    recipe = options.recipe or "cutlass_output_mxfp8" + ("_e5m2" if options.format == "e5m2" else "")
    print(f"seed {seed}")
    gemm, total, bad, record = Gemm(options.kernel), 0, 0, {}
    for i, (beta, norm) in enumerate(CASES + ((0.37, 0.7),)):
        if i < len(CASES):
            c = of_c(options.format, norm, seed + i)
            m = len(c) // (4 * N)
            operands, sums = (bytes(m * DEPTH), bytes(N * DEPTH)), [0.0] * (m * N)
        else:
            m, source = 128, random.Random(seed)
            c = packed([round(source.gauss(0, 20) * 64) / 64 for _ in range(m * N)])
            operands, sums = product(seed, m)
        # beta * C + A * B^T, rounded once: f64 has the product of two f32 exactly, and beside sums those of C's few bits.
        x = struct.pack(f"<{m * N}f", *(f32(v * f32(beta) + s) for v, s in zip(struct.unpack(f"<{m * N}f", c), sums)))
        theirs = gemm.run(m, operands, c, beta, norm)
        count, wrong, place = difference(theirs, ours(options.program, options.folder, recipe, x, "f32", m, norm))
        total, bad = total + count, bad + wrong
        print(f"{recipe}, beta {beta:.9g}, norm constant {norm:g}: {wrong} of {count} bytes differ {place}", flush=True)
        kept = m if i == 0 else 128  # rows are independent; the first ones have the scales' boundaries
        record.update({f"x.{i}": ("F32", [kept, N], x[:4 * kept * N]), f"g.{i}": ("F32", [1], struct.pack("<f", norm)),
                       f"q.{i}": ("U8", [kept, N], theirs[0][:kept * N]), f"sf.{i}": ("U8", [kept, N // BLOCK], theirs[1][:kept * N // BLOCK])})
    print(f"{total} bytes, {bad} differ")
    if options.record:
        write(f"{options.folder}/cutlass_cuda.output_mxfp8_{options.format}.f32.safetensors", record,
              {"library": "nvidia-cutlass", "version": "4.2.0", "kernel": f"LinCombBlockScaleFactor<32>, {options.format} and ue8m0, sm_120a",
               "dtype_fed": "f32", "arguments": "g: the norm constant",
               "executed": "compiled by nvcc 13.0.88 and executed on the virtual GPU (no GPU); rcp.approx as an H200's"})
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
