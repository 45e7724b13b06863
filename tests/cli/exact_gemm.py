# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

"""An independent GEMM on a vector's operands: Python fractions, one rounding to f32, no code of fp4oracle.

exact_gemm.py VECTOR OUTPUT [MISREADING]   MISREADING: nibbles_a, ue8m0_a, truncate_bf16, noise
"""
import json
import struct
import sys
from fractions import Fraction


def load(path):
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: (t["dtype"], t["shape"], data[slice(*t["data_offsets"])]) for name, t in header.items()}


def save(path, name, dtype, shape, values):
    data = b"".join(struct.pack("<I" if dtype == "F32" else "<H", v) for v in values)
    header = json.dumps({name: {"dtype": dtype, "shape": shape, "data_offsets": [0, len(data)]}}).encode()
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + data)


def minifloat(code, exponent_bits, mantissa_bits, bias, sign):
    mantissa = code & ((1 << mantissa_bits) - 1)
    exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1)
    magnitude = Fraction(mantissa + (1 << mantissa_bits if exponent else 0)) * Fraction(2) ** (
        max(exponent, 1) - bias - mantissa_bits)
    return -magnitude if sign and code >> (exponent_bits + mantissa_bits) & 1 else magnitude


def f32_bits(x, truncate=False):
    """To nearest, ties to even."""
    if x == 0:
        return 0
    sign, x = (0x80000000 if x < 0 else 0), abs(x)
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > x
    quantum = Fraction(2) ** (max(exponent, -126) - 23)
    kept = x / quantum
    whole = kept.numerator // kept.denominator
    rest = kept - whole
    if not truncate and (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1)):
        whole += 1
    bits = whole if exponent < -126 else whole + ((exponent + 126) << 23)
    return sign | min(bits, 0x7F800000)


def operand(tensors, name, misreading):
    dtype, (rows, columns), data = tensors[name]
    if dtype == "U8":
        pairs = [(b & 15, b >> 4) for b in data]
        codes = [c for p in pairs for c in (p[::-1] if misreading == "nibbles_" + name else p)]
        table = [minifloat(c, 2, 1, 1, True) for c in range(16)]
        columns *= 2
    else:
        codes = list(data)
        shape = (4, 3, 7) if dtype == "F8_E4M3" else (5, 2, 15)
        table = [minifloat(c, *shape, True) for c in range(256)]
    if name + "_scale" in tensors:
        scale_dtype, scale_shape, scale_data = tensors[name + "_scale"]
        blocks = scale_shape[1]
        size = 16 if dtype == "U8" and scale_dtype == "F8_E4M3" else 32
        if scale_dtype == "F8_E4M3" and misreading != "ue8m0_" + name:
            scales = [minifloat(c & 127, 4, 3, 7, False) for c in scale_data]
        else:
            scales = [Fraction(2) ** (c - 127) for c in scale_data]
    else:
        blocks, size, scales = 1, columns, [Fraction(1)] * rows
    return [[table[codes[r * columns + k]] * scales[r * blocks + k // size] for k in range(columns)] for r in range(rows)]


def scalar(tensors, name):
    return Fraction(struct.unpack("<f", tensors[name][2])[0]) if name in tensors else Fraction(1)


def main():
    misreading = sys.argv[3] if len(sys.argv) > 3 else ""
    tensors = load(sys.argv[1])
    a, b = operand(tensors, "a", misreading), operand(tensors, "b", misreading)
    factor = scalar(tensors, "a_tensor_scale") * scalar(tensors, "b_tensor_scale") * scalar(tensors, "alpha")
    truncate = misreading == "truncate_bf16"
    bits = [f32_bits(factor * sum(x * y for x, y in zip(row, column)), truncate) for row in a for column in b]
    if misreading == "noise":
        bits = [v ^ (i * 2654435761 >> 7 & 0x7FFF) for i, v in enumerate(bits)]
    if truncate:
        save(sys.argv[2], "d", "BF16", [len(a), len(b)], [v >> 16 for v in bits])
    else:
        save(sys.argv[2], "d", "F32", [len(a), len(b)], bits)


if __name__ == "__main__":
    main()
