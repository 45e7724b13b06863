# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

"""What a kernel returns that misreads block scales as kernels of the field did. No code of fp4oracle: integers and
fractions, one rounding to f32.

misread.py VECTOR OUTPUT HOW OPERANDS    OPERANDS: the operands whose scales are misread, A, B or AB
HOW  right             as stored
     raw_words         fp32 scales handed over as packed ue8m0: block k takes byte k%4 of the fp32 word k/4
     mantissa_dropped  2^floor(log2 s), the codes kept
     rounded_up        2^ceil(log2 s), the codes kept
     packed_unmasked   four fp32 words packed by shifts alone, v0>>23 | v1>>15 | v2>>7 | v3<<1, and read as ue8m0
     linear_as_128x4   linear scales read at the addresses of the 128x4 layout
     swizzled_twice    scales brought into the 128x4 layout twice, read as 128x4
"""
import struct
import sys
from fractions import Fraction

from exact_gemm import f32_bits, load, minifloat, save

NAN = None  # a scale that is NaN; so is every sum that it takes part in
NAN_BITS = 0x7FFFFFFF


def ue8m0(byte):
    return NAN if byte == 255 else Fraction(2) ** (byte - 127)


def floor_log2(word):
    return Fraction(2) ** ((word >> 23) - 127)


def of_words(words, how):
    """One row of fp32 scales."""
    if how == "raw_words":
        return [ue8m0(words[k // 4] >> 8 * (k % 4) & 255) for k in range(len(words))]
    if how == "mantissa_dropped":
        return [floor_log2(w) for w in words]
    if how == "rounded_up":
        return [floor_log2(w) * (2 if w & 0x7FFFFF else 1) for w in words]
    if how == "packed_unmasked":
        padded = words + [0] * (-len(words) % 4)
        packed = [(v[0] >> 23 | v[1] >> 15 | v[2] >> 7 | v[3] << 1) & 0xFFFFFFFF
                  for v in (padded[i:i + 4] for i in range(0, len(padded), 4))]
        return [ue8m0(packed[k // 4] >> 8 * (k % 4) & 255) for k in range(len(words))]
    return [Fraction(struct.unpack("<f", struct.pack("<I", w))[0]) for w in words]


def address_128x4(row, column, columns):
    tiles = (columns + 3) // 4
    return ((row // 128 * tiles + column // 4) * 512 + row % 32 * 16 + row % 128 // 32 * 4 + column % 4)


def swizzle(data, rows, columns):
    out = bytearray((rows + 127) // 128 * 128 * ((columns + 3) // 4 * 4))
    for row in range(rows):
        for column in range(columns):
            out[address_128x4(row, column, columns)] = data[row * columns + column]
    return bytes(out)


def of_bytes(data, rows, columns, how):
    """All ue4m3 scales."""
    table = [minifloat(c & 127, 4, 3, 7, False) if c & 127 != 127 else NAN for c in range(256)]
    if how == "swizzled_twice":
        data = swizzle(swizzle(data, rows, columns)[:rows * columns], rows, columns)
    if how in ("swizzled_twice", "linear_as_128x4"):
        read = lambda r, c: data[address_128x4(r, c, columns)] if address_128x4(r, c, columns) < len(data) else 0
    else:
        read = lambda r, c: data[r * columns + c]
    return [[table[read(r, c)] for c in range(columns)] for r in range(rows)]


def scales_of(tensors, name, how):
    dtype, (rows, columns), data = tensors[name + "_scale"]
    if dtype == "F32":
        words = struct.unpack(f"<{rows * columns}I", data)
        return [of_words(list(words[r * columns:(r + 1) * columns]), how) for r in range(rows)]
    return of_bytes(data, rows, columns, how)


def codes_of(tensors, name):
    """Whole numbers in units of 2^-9 (e4m3) or 1/2 (e2m1), and the unit."""
    dtype, (rows, columns), data = tensors[name]
    if dtype == "U8":
        table = [int(2 * minifloat(c, 2, 1, 1, True)) for c in range(16)]
        codes = [table[c] for byte in data for c in (byte & 15, byte >> 4)]
        columns *= 2
    else:
        table = [int(512 * minifloat(c, 4, 3, 7, True)) for c in range(256)]
        codes = [table[c] for c in data]
    unit = Fraction(1, 2 if dtype == "U8" else 512)
    return [codes[r * columns:(r + 1) * columns] for r in range(rows)], unit


def element(a_row, b_row, a_scales, b_scales, a_size, b_size, factor):
    total = Fraction(0)
    size = min(a_size, b_size)
    for k in range(0, len(a_row), size):
        a_scale, b_scale = a_scales[k // a_size], b_scales[k // b_size]
        if a_scale is NAN or b_scale is NAN:
            return NAN_BITS
        total += sum(x * y for x, y in zip(a_row[k:k + size], b_row[k:k + size])) * a_scale * b_scale
    return f32_bits(total * factor)


def scalar(tensors, name):
    return Fraction(struct.unpack("<f", tensors[name][2])[0]) if name in tensors else Fraction(1)


def main():
    vector, output, how, operands = sys.argv[1:5]
    tensors = load(vector)
    (a, a_unit), (b, b_unit) = codes_of(tensors, "a"), codes_of(tensors, "b")
    a_scales = scales_of(tensors, "a", how if "A" in operands else "right")
    b_scales = scales_of(tensors, "b", how if "B" in operands else "right")
    a_size, b_size = len(a[0]) // len(a_scales[0]), len(b[0]) // len(b_scales[0])
    a_rows, b_rows = len(a) // len(a_scales), len(b) // len(b_scales)
    factor = scalar(tensors, "a_tensor_scale") * scalar(tensors, "b_tensor_scale") * scalar(tensors, "alpha") * a_unit * b_unit
    bits = [element(a[m], b[n], a_scales[m // a_rows], b_scales[n // b_rows], a_size, b_size, factor)
            for m in range(len(a)) for n in range(len(b))]
    save(output, "d", "F32", [len(a), len(b)], bits)


main()
