#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Makes emu/mufu_h200.inc of the results that mufu_on_gpu wrote: integer coefficients that give every one of them.

usage: mufu_fit.py FOLDER > emu/mufu_h200.inc      (numpy and scipy; a minute)

A segment's results leave c0 + c1 d + c2 d^2 an interval for each d. Linear programming finds a quadratic in the middle of
all of them, whose c1 and c2 turn out to be whole numbers in the units of mufu.c; what remains free in c0 is then known
exactly. c0 is a multiple of 2^-25 (lg2: 2^-26) and a bias that all segments of a function share. Exit status 1 if a segment
has no solution.
"""
import pathlib
import sys

import numpy
from scipy.optimize import linprog

ONE = 1 << 17  # values of d
FRACTION = 40  # binary places of the sum
UNIT_OF_C0 = 14  # c0 is in 2^(14 - 40)


def square(d):
    """d^2 without the columns below 2^19 of the products of two bits, in 2^18."""
    low, total = d & 0x3FF, d * d
    total = total - low * low
    for j in range(10, 17):
        total = total - ((d >> j & 1) * (d & ((1 << (18 - j)) - 1)) << (j + 1))
    return total >> 18


def bounds(words, unit):
    """The smallest and largest sums, in 2^-FRACTION of 2^unit, that are cut to these results."""
    y = words.view(numpy.float32)
    scale = 2.0 ** (FRACTION - unit)
    low = numpy.rint(y.astype(numpy.float64) * scale).astype(numpy.int64)
    step = numpy.rint(numpy.spacing(y).astype(numpy.float64) * scale).astype(numpy.int64)
    return low, low + numpy.maximum(step, 1) - 1


def middle(low, high, terms):
    """The coefficients that stay furthest from all bounds. Bounds join the problem where they are crossed."""
    chosen = numpy.arange(0, len(low), max(1, len(low) // 200))
    while True:
        a = terms[chosen]
        far = -numpy.ones((len(chosen), 1))
        found = linprog([0, 0, 0, 1], A_ub=numpy.vstack([numpy.hstack([a, far]), numpy.hstack([-a, far])]),
                        b_ub=numpy.concatenate([high[chosen], -low[chosen]]), bounds=[(None, None)] * 4)
        values = terms @ found.x[:3]
        beyond = numpy.maximum(values - high, low - values)
        more = numpy.unique(numpy.concatenate([chosen, numpy.argsort(beyond)[-50:]]))
        if beyond.max() <= found.x[3] + 1e-9 or len(more) == len(chosen):
            return found.x[:3]
        chosen = more


def fit(low, high, d):
    """First and last c0 in 2^-FRACTION, c1, c2."""
    s = square(d)
    terms = numpy.stack([numpy.ones(len(d)), d / ONE, s / 2.0**16], 1)
    c = middle((low - low[0]) / 2.0**17, (high + 1 - low[0]) / 2.0**17, terms)
    c1, c2 = int(numpy.rint(c[1])), int(numpy.rint(2 * c[2]))
    rest = c1 * d + c2 * s
    return int((low - rest).max()), int((high - rest).min()), c1, c2


def shared_bias(intervals, grain):
    """The number nearest zero that every interval has modulo grain."""
    possible = numpy.ones(grain, bool)
    for first, last in intervals:
        here = numpy.zeros(grain, bool)
        here[numpy.arange(first, min(last, first + grain - 1) + 1) % grain] = True
        possible &= here
    biases = numpy.nonzero(possible)[0]
    biases = numpy.where(biases > grain // 2, biases - grain, biases)
    return int(biases[numpy.argmin(abs(biases))]) if len(biases) else None


def write(name, segments):
    bias = None
    for grain in (1 << 15, 1 << 14):
        if bias is None:
            bias = shared_bias([s[:2] for s in segments], grain)
    if bias is None:
        sys.exit(f"{name}: no bias fits all segments")
    print(f"enum {{ {name}_bias = {bias} }};\nstatic const segment {name}_segments[{len(segments)}] = {{")
    line = "   "
    for first, last, c1, c2 in segments:
        c0 = -((bias - first) >> UNIT_OF_C0)
        if not first <= (c0 << UNIT_OF_C0) + bias <= last:
            sys.exit(f"{name}: a segment has no solution")
        text = f" {{{c0}, {c1}, {c2}}},"
        if len(line + text) > 120:
            print(line)
            line = "   "
        line += text
    print(line + "\n};")


def of_mantissa(folder, name, exponents, unit, bits, exact_first=False):
    """Segments are the leading `bits` of the mantissa, for each of the exponents; the unit is the result's at 1.0 = 0."""
    segments = []
    size = 1 << (23 - bits)
    d = numpy.arange(size, dtype=numpy.int64) << (bits - 6)
    for number, exponent in enumerate(exponents):
        words = numpy.fromfile(folder / f"{name}.{exponent:02x}.u32", numpy.uint32)
        low, high = bounds(words, unit)
        if name == "lg2":  # of 2 to 4: without the exponent
            low, high = low - (1 << FRACTION), high - (1 << FRACTION)
        for s in range(1 << bits):
            skip = int(exact_first and number == 0 and s == 0)  # 1 is no result of the quadratic
            part = slice(s * size + skip, (s + 1) * size)
            segments.append(fit(low[part], high[part], d[skip:]))
    return segments


def of_sine(folder):
    """The first quadrant, by 23 bits of x / 2 pi."""
    words = numpy.zeros(1 << 23, numpy.uint32)
    known = numpy.zeros(1 << 23, bool)
    mantissa = numpy.arange(1 << 23, 1 << 24, dtype=numpy.uint64)
    turns = mantissa * numpy.uint64(0xA2F983)
    turns &= numpy.where(turns >> numpy.uint64(47) != 0, ~numpy.uint64(0xFFFFFF), ~numpy.uint64(0x7FFFFF))
    for exponent in range(116, 128):
        angle = (turns >> numpy.uint64(151 - exponent)).astype(numpy.int64)
        y = numpy.fromfile(folder / f"sin.{exponent:02x}.u32", numpy.uint32)
        inside = angle < 1 << 23
        words[angle[inside]], known[angle[inside]] = y[inside], True
    low, high = bounds(words, 0)
    segments = []
    for s in range(64):
        d = numpy.nonzero(known[s * ONE:(s + 1) * ONE])[0]
        d = d[1:] if s == 0 else d  # sin 0
        segments.append(fit(low[s * ONE + d], high[s * ONE + d], d))
    return segments


def of_tanh(folder):
    """Segments in each exponent: 2^n."""
    segments = []
    for exponent, n in zip(range(119, 130), (0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3)):
        words = numpy.fromfile(folder / f"tanh.{exponent:02x}.u32", numpy.uint32).reshape(-1, 1 << (6 - n))
        if (words != words[:, :1]).any():
            sys.exit(f"tanh: exponent field {exponent} has more than {17 + n} bits")
        low, high = bounds(words[:, 0].copy(), min(exponent - 127, -1))
        for s in range(1 << n):
            part = slice(s * ONE, (s + 1) * ONE)
            segments.append(fit(low[part], high[part], numpy.arange(ONE, dtype=numpy.int64)))
    return segments


def main():
    folder = pathlib.Path(sys.argv[1])
    print("/* SPDX-License-Identifier: Apache-2.0\n * Copyright 2026 The fp4oracle authors */\n\n"
          "/* The quadratics of an H200's multi-function unit, fitted to its results by tools/mufu_fit.py (mufu.c). */")
    write("rcp", of_mantissa(folder, "rcp", [127], -1, 7, exact_first=True))
    write("rsqrt", of_mantissa(folder, "rsqrt", [127, 128], -1, 6, exact_first=True))
    write("sqrt", of_mantissa(folder, "sqrt", [127, 128], 0, 6))
    write("ex2", of_mantissa(folder, "ex2", [127], 1, 6))
    write("lg2", of_mantissa(folder, "lg2", [128], 0, 6))
    write("sin", of_sine(folder))
    write("tanh", of_tanh(folder))


main()
