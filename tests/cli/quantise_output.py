# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

"""An f32 output quantised to NVFP4 (e2m1 codes, a ue4m3 scale per 16 columns) as an epilogue does it, right or with a
mistake. No code of fp4oracle: doubles, rounded to f32 where the epilogue's steps are.

quantise_output.py FILE:TENSOR OUTPUT HOW NORM    OUTPUT has `d` and `d_scale`; NORM multiplies y first
HOW  right          S = ue4m3(amax / 6), d = e2m1(y * (1 / S))
     norm_dropped   y as it is
     norm_inverted  y / NORM
     swizzled       the scales at their 128x4 addresses, read row after row
     nibbles        even columns in the high nibble
     ue8m0          S is the power of two above amax / 6, as a ue8m0 byte
     inverted       1 / S is stored
"""
import json
import math
import struct
import sys

from exact_gemm import load
from misread import address_128x4

E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
UE4M3 = [(c % 8 + (8 if c >= 8 else 0)) / 8 * 2.0 ** (max(c // 8, 1) - 7) for c in range(127)]


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def nearest(table, x):
    """The code of the nearest number, the even one of two; beyond the last one the last."""
    best = 0
    for code, number in enumerate(table):
        distance, own = abs(number - x), abs(table[best] - x)
        if distance < own or (distance == own and code % 2 == 0):
            best = code
    return best


def scale_of(amax, how):
    quotient = f32(amax / 6)
    if how != "ue8m0":
        code = nearest(UE4M3, quotient)
        return code, UE4M3[code]
    power = -127 if quotient == 0 else max(math.ceil(math.log2(quotient)), -127)
    return power + 127, 2.0 ** power


def stored(code, how):
    if how != "inverted" or UE4M3[code] == 0:
        return code
    return nearest(UE4M3, 1 / UE4M3[code])


def main():
    path, tensor = sys.argv[1].split(":")
    how, norm = sys.argv[3], float(sys.argv[4])
    _, (m, n), data = load(path)[tensor]
    y = struct.unpack(f"<{m * n}f", data)
    factor = {"norm_dropped": 1.0, "norm_inverted": f32(1 / norm)}.get(how, norm)
    groups = (n + 15) // 16
    codes, scales = bytearray(), bytearray(m * groups)
    memory = bytearray((m + 127) // 128 * 128 * ((groups + 3) // 4 * 4))
    for row in range(m):
        line = [f32(v * factor) for v in y[row * n:row * n + n]]
        nibbles = []
        for g in range(groups):
            block = line[16 * g:16 * g + 16]
            code, scale = scale_of(max(abs(v) for v in block), how)
            scales[row * groups + g] = memory[address_128x4(row, g, groups)] = stored(code, how)
            inverse = f32(1 / scale) if scale else 0.0
            for v in block:
                nibbles.append(nearest(E2M1, abs(f32(v * inverse))) | (8 if math.copysign(1, v) < 0 else 0))
        nibbles += [0] * (n % 2)
        high = how == "nibbles"
        codes += bytes(a << 4 | b if high else b << 4 | a for a, b in zip(nibbles[::2], nibbles[1::2]))
    if how == "swizzled":
        scales = memory[:m * groups]
    header = json.dumps({"d": {"dtype": "U8", "shape": [m, (n + 1) // 2], "data_offsets": [0, len(codes)]},
                         "d_scale": {"dtype": "F8_E4M3", "shape": [m, groups],
                                     "data_offsets": [len(codes), len(codes) + len(scales)]}}).encode()
    with open(sys.argv[2], "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + bytes(codes) + bytes(scales))


main()
