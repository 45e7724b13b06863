#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Makes rows that tell accumulators apart (docs/steps-format.md), for tools/steps_on_gpu.py to run.

    tools/steps_make.py --seed N --rows N OUT INSTRUCTION...     to OUT/INSTRUCTION.safetensors; patterns are allowed

Every set of operands is used four times, with different C. The sets are of these kinds, in turn: uniform codes, one
large product above many small ones, ladders, pairs that cancel almost or exactly, subnormal operands, zeros beside large
elements, C alone, overflow, NaN and infinity, ties of the result's rounding, results at the smallest subnormal, and those with a product where sums so
small are cut.
"""
import argparse
import fnmatch
import os
import sys
import zlib

import numpy as np

from steps_on_gpu import INSTRUCTIONS, write_safetensors


class Format:
    def __init__(self, bits, mantissa, bias, finite_max, special):
        self.bits, self.m, self.bias, self.max_code, self.special = bits, mantissa, bias, finite_max, special
        self.sign = 1 << (bits - 1)
        self.low = 1 - bias - mantissa  # exponent of the smallest subnormal number
        self.high = (finite_max >> mantissa) - bias

    def near(self, random, exponent, plain=False):
        """Codes of numbers of about 2^exponent, of any sign; plain: exactly 2^exponent."""
        e = np.clip(exponent, self.low, self.high)
        m = np.zeros(e.shape, np.int64) if plain else random.integers(0, 1 << self.m, e.shape)
        below = np.maximum(1 - self.bias - e, 0)
        code = np.where(below > 0, ((1 << self.m) | m) >> below, (np.maximum(e + self.bias, 0) << self.m) | m)
        sign = random.integers(0, 2, e.shape) * (0 if plain else self.sign)
        return np.minimum(code, self.max_code) | sign

    def value(self, code):
        magnitude = (code & (self.sign - 1)).astype(np.int64)
        field, m = magnitude >> self.m, magnitude & ((1 << self.m) - 1)
        x = np.where(field == 0, np.ldexp(m.astype(float), self.low),
                     np.ldexp((m | 1 << self.m).astype(float), np.maximum(field, 1) - self.bias - self.m))
        x = np.where(magnitude > self.max_code, np.nan, x)
        return np.where(code & self.sign, -x, x)

    def finite(self, random, shape):
        return random.integers(0, self.max_code + 1, shape) | random.integers(0, 2, shape) * self.sign


FORMATS = {
    "e2m1": Format(4, 1, 1, 7, ()),
    "e2m3": Format(6, 3, 1, 31, ()),
    "e3m2": Format(6, 2, 3, 31, ()),
    "e4m3": Format(8, 3, 7, 0x7E, (0x7F, 0xFF)),
    "e5m2": Format(8, 2, 15, 0x7B, (0x7C, 0xFC, 0x7D, 0xFE)),
    "f16": Format(16, 10, 15, 0x7BFF, (0x7C00, 0xFC00, 0x7C01, 0xFE00)),
    "bf16": Format(16, 7, 127, 0x7F7F, (0x7F80, 0xFF80, 0x7F81, 0xFFC0)),
    "f32": Format(32, 23, 127, 0x7F7FFFFF, (0x7F800000, 0xFF800000, 0x7F800001, 0xFFC00000)),
}
KINDS = ("uniform", "far", "ladder", "cancel", "exactly", "subnormal", "zeros", "alone", "huge", "special", "tie", "tiny",
         "floor")
SAME_C = 4  # rows with one set of operands


class Maker:
    def __init__(self, instruction, random):
        self.i, self.random = instruction, random
        self.a, self.b, self.acc = FORMATS[instruction.a], FORMATS[instruction.b], FORMATS[instruction.d]
        self.bottom = self.a.low + self.b.low                       # of products
        self.top = min(self.a.high, 14) + min(self.b.high, 14) - 1  # of use: wide formats reach further

    def products(self, exponent):
        """Codes of a and b whose products are of about 2^exponent."""
        a = np.clip(exponent // 2 + self.random.integers(-1, 2, exponent.shape), self.a.low, self.a.high - 1)
        b = np.clip(exponent - a, self.b.low, self.b.high - 1)
        a = np.clip(exponent - b, self.a.low, self.a.high - 1)
        return self.a.near(self.random, a), self.b.near(self.random, b)

    def random_exponent(self, low, high):
        return int(self.random.integers(low, high + 1))

    def places(self):
        """Any order of k; half the time those with the same k % 4 first: FP8 mma.sync can be two instructions."""
        order = self.random.permutation(self.i.k)
        together = order[np.argsort(order % 4 != order[0] % 4, kind="stable")]
        return together if self.random.integers(2) else order

    def powers(self, exponents, places):
        """Zeros but for products 2^exponent of any sign, as far as the formats reach."""
        a, b = np.zeros(self.i.k, np.int64), np.zeros(self.i.k, np.int64)
        for place, exponent in zip(places, exponents):
            x = min(max(exponent // 2, self.a.low), self.a.high)
            y = min(max(exponent - x, self.b.low), self.b.high)
            x = min(max(exponent - y, self.a.low), self.a.high)
            a[place] = self.a.near(self.random, np.array(x), plain=True) | int(self.random.integers(2)) * self.a.sign
            b[place] = self.b.near(self.random, np.array(y), plain=True)
        return a, b

    def operands(self, kind, number):
        """Set number `number`: a[K], b[K]."""
        r, k = self.random, self.i.k
        a, b = self.products(r.integers(-8, 5, k))
        first = int(r.integers(k))
        if kind == "uniform":
            a, b = self.a.finite(r, k), self.b.finite(r, k)
        elif kind == "far":
            apart = self.random_exponent(6, 30)
            a, b = self.products(self.top - apart + r.integers(-2, 2, k))
            x, y = self.products(np.full(1, self.top))
            a[first], b[first] = x[0], y[0]
            if r.integers(2):
                a, b = a & (self.a.sign - 1), b & (self.b.sign - 1)
        elif kind == "ladder":
            step = self.random_exponent(1, 3)
            a, b = self.products(self.top - self.random_exponent(0, 6) - step * ((np.arange(k) + first) % k))
        elif kind in ("cancel", "exactly"):
            a, b = self.products(r.integers(-6, self.top + 1, k))
            half = k // 2
            order = r.permutation(k) if r.integers(2) else np.arange(k).reshape(-1, 2).T.ravel()
            x, y = order[:half], order[half:]
            a[y], b[y] = a[x] ^ self.a.sign, b[x]
            if kind == "cancel":
                a[y] ^= r.integers(0, 3, half) == 0
                a = np.where((a & (self.a.sign - 1)) > self.a.max_code, a ^ 1, a)
            else:
                s, t = self.products(np.full(1, self.random_exponent(self.bottom, 0) if self.bottom > -60 else
                                             self.random_exponent(-60, 0)))
                a[first], b[first] = s[0], t[0]
        elif kind == "subnormal":
            few = r.integers(0, 4, k) == 0
            a = np.where(few, r.integers(0, 1 << self.a.m, k) | r.integers(0, 2, k) * self.a.sign, 0)
            b = r.integers(0, 2 << self.b.m, k) | r.integers(0, 2, k) * self.b.sign
            if r.integers(2):  # one large element makes a subnormal one count
                b[first], a[first] = self.b.near(r, np.array(self.b.high)), 1
        elif kind == "zeros":
            zero = r.integers(0, 2, k) == 0
            x, y = self.products(np.full(k, self.random_exponent(self.bottom // 2, 0)))
            large = self.b.near(r, np.full(k, min(self.b.high, 15))), self.a.near(r, np.full(k, min(self.a.high, 15)))
            nought = r.integers(0, 2, k)
            a, b = np.where(zero, nought * self.a.sign, large[1]), np.where(zero, large[0], nought * self.b.sign)
            a[first], b[first] = x[first], y[first]
        elif kind == "alone":
            a, b = r.integers(0, 2, k) * self.a.sign, self.b.finite(r, k)
        elif kind == "huge":
            high = min(16 if self.i.d == "f16" else 128, self.a.high + self.b.high)
            a, b = self.products(np.where(r.integers(0, 3, k) == 0, high - r.integers(0, 4, k), high - 16))
            if r.integers(4):
                a, b = a & (self.a.sign - 1), b & (self.b.sign - 1)
        elif kind == "special":
            for _ in range(self.random_exponent(1, 2)):
                x, codes, format_ = (a, b, self.a) if r.integers(2) else (b, a, self.b)
                place = int(r.integers(k))
                if format_.special:
                    x[place] = r.choice(format_.special)
                    codes[place] = 0 if r.integers(4) == 0 else codes[place]
        elif kind == "tie":
            top = self.random_exponent(-2, min(8, self.a.high + self.b.high - 2))
            kept = 10 if self.i.d == "f16" else int(r.choice((13, 23)))
            deep = top - kept - 1
            less = deep - self.random_exponent(*((12, 17) if r.integers(2) else (1, 14)))
            a, b = self.powers((top, deep, less), self.places())
        elif kind == "floor":
            a, b = np.zeros(k, np.int64), np.zeros(k, np.int64)
            depth = 20 if self.i.d == "f16" else 8  # e_zero - F is 21 or 9 below the result on all known GPUs but a few
            least = self.acc.low - (self.i.d == "f16")
            if self.bottom <= least - depth - 3:
                a, b = self.powers((least, least - depth - number // len(KINDS) % 4), self.places())
        elif kind == "tiny":
            least = self.acc.low
            a, b = self.products(max(least, self.bottom) + r.integers(-14, 12, k))
            a = np.where(r.integers(0, 3, k) == 0, a, 0)
        return a, b

    def accumulators(self, kind, total, largest):
        """Four C for a set, given the exact sum and the largest product."""
        r, half, acc = self.random, self.i.d == "f16", self.acc
        wide, integer = (np.float16, np.uint16) if half else (np.float32, np.uint32)
        code = lambda x: int(np.array(np.nan_to_num(x, nan=1.0, posinf=2.0, neginf=-2.0)).astype(wide).view(integer))
        signed = lambda x: int(x) | int(r.integers(2)) * acc.sign
        scale = int(np.floor(np.log2(abs(largest)))) if np.isfinite(largest) and largest != 0 else 0
        c = [signed(0), code(-total), code(-largest), int(acc.near(r, np.array(scale + self.random_exponent(-30, 10))))]
        if kind in ("alone", "subnormal", "tiny", "zeros", "floor"):
            c[1] = signed(r.integers(0, 1 << acc.m))
            c[3] = int(acc.near(r, np.array(self.random_exponent(acc.low, acc.low + 40))))
        if kind == "alone":
            c[2] = int(r.choice((acc.max_code, acc.max_code | acc.sign) + acc.special))
        elif kind == "huge":
            c[1] = code((65504 if half else 2.0**127 * (2 - 2.0**-23)) - total + self.random_exponent(-40, 40) * bool(half))
            c[2] = signed(acc.max_code - int(r.integers(0, 3)))
            c[3] = signed(acc.max_code - int(r.integers(0, 1 << (acc.m + 1))))
        elif kind == "special":
            c[2] = int(r.choice(acc.special))
        elif kind == "cancel" and c[1] & (acc.sign - 1) not in (0, acc.max_code):
            c[1] += int(r.integers(-1, 2))
        if kind == "tie":
            c[3] = int(acc.near(r, np.array(self.random_exponent(-12, 4))))
        return c


def scales(random, instruction, rows):
    """Scale codes of one side: near 1, far apart, now and then 0, the largest or NaN."""
    shape, chance = (rows, instruction.k // instruction.block), random.random((rows, 1))
    if instruction.scale == "ue8m0":
        code = np.where(chance < 0.5, random.integers(124, 131, shape), random.integers(107, 136, shape))
        special = (0, 254, 255)
    else:
        code = np.where(chance < 0.5, random.integers(0x30, 0x40, shape), random.integers(0, 0x7F, shape))
        special = (0, 0x7E, 0x7F, 0x80, 0xFF)
    return np.where(random.random(shape) < 0.02, random.choice(special, shape), code).astype(np.uint8)


def make(name, seed, rows, path):
    instruction = INSTRUCTIONS[name]
    random = np.random.Generator(np.random.PCG64([seed, zlib.crc32(name.encode())]))
    maker = Maker(instruction, random)
    sets, a, b, c = rows // SAME_C, [], [], []
    for s in range(sets):
        kind = KINDS[s % len(KINDS)]
        x, y = maker.operands(kind, s)
        with np.errstate(all="ignore"):
            products = maker.a.value(x) * maker.b.value(y)
            largest = products[np.argmax(np.abs(np.nan_to_num(products)))]
            c += maker.accumulators(kind, products.sum(), largest)
        a.append(x)
        b.append(y)
    cell = lambda bits: np.uint8 if bits <= 8 else np.uint16 if bits == 16 else np.uint32
    tensors = {"a": np.repeat(np.array(a).astype(cell(maker.a.bits)), SAME_C, axis=0),
               "b": np.repeat(np.array(b).astype(cell(maker.b.bits)), SAME_C, axis=0), "c": np.array(c, np.uint32)}
    metadata = {"instruction": name, "a_type": instruction.a, "b_type": instruction.b, "d_type": instruction.d,
                "scale_type": instruction.scale, "rows": f"tools/steps_make.py --seed {seed} --rows {rows}"}
    if instruction.block:
        metadata["block_size"] = str(instruction.block)
        tensors["sa"], tensors["sb"] = scales(random, instruction, rows), scales(random, instruction, rows)
    write_safetensors(path, metadata, tensors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("out")
    parser.add_argument("instructions", nargs="+")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    names = [n for n in INSTRUCTIONS if any(fnmatch.fnmatchcase(n, p) for p in options.instructions)]
    for name in names:
        make(name, options.seed, options.rows, os.path.join(options.out, name + ".safetensors"))
    print(f"{len(names)} files")
    return 0 if names else 1


if __name__ == "__main__":
    sys.exit(main())
