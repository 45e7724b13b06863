# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

"""What a kernel returns that takes its operands for something else, as kernels of the field did. No code of fp4oracle:
integers and fractions, one rounding to f32.

misread.py VECTOR OUTPUT HOW OPERANDS    OPERANDS: the operands that are misread, A, B or AB
HOW  right             as stored
  fp32 scales
     raw_words         handed over as packed ue8m0: block k takes byte k%4 of the fp32 word k/4
     mantissa_dropped  2^floor(log2 s), the codes kept
     rounded_up        2^ceil(log2 s), the codes kept
     packed_unmasked   four words packed by shifts alone, v0>>23 | v1>>15 | v2>>7 | v3<<1, and read as ue8m0
  scale bytes
     linear_as_128x4   linear scales read at the addresses of the 128x4 layout
     swizzled_twice    scales brought into the 128x4 layout twice, read as 128x4
     subnormal_normal  ue4m3 codes 0 to 7 with the hidden bit of a normal number
     nan_is_480        ue4m3 code 7F is 480
     zero_block_nan    blocks whose codes are all zero have the scale 7F: NaN
     shifted           ue8m0 as code << 23: 0 is zero
     exponent_off      every scale is four times too small (the -emax of e2m1 taken off twice)
  which scale
     group_offset      the second half of the rows takes its scales one row too early
     k_frozen          K blocks 2i and 2i+1 take the scale of 2i
     tail_rows         rows from 128 on take a padding byte, 00
  elements, output
     rows_wrapped      rows from the middle on are those of the beginning again, with their own scales
     fused_larger      columns from the middle on are 4 times too large: the tensor scale of the other half
     saturated         f16 output: the largest number instead of infinity
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


def ue4m3(byte, how):
    code = byte & 127
    if how == "subnormal_normal" and code < 8:
        return Fraction(8 + code, 8) * Fraction(2) ** -7
    if code == 127:
        return Fraction(480) if how == "nan_is_480" else NAN
    return minifloat(code, 4, 3, 7, False)


def place(how, rows, columns):
    """The byte that is read for the scale of a row and a K block, in the buffer as it is handed over."""
    if how in ("swizzled_twice", "linear_as_128x4"):
        return lambda r, c: address_128x4(r, c, columns)
    if how == "group_offset":
        return lambda r, c: (r - (r >= rows // 2)) * columns + c
    if how == "k_frozen":
        return lambda r, c: r * columns + c // 2 * 2
    if how == "tail_rows":
        return lambda r, c: r * columns + c if r < 128 else rows * columns  # beyond the scales: zero bytes
    return lambda r, c: r * columns + c


def of_bytes(data, rows, columns, how, is_ue8m0):
    """All ue4m3 or ue8m0 scales."""
    decode = (lambda b: Fraction(0) if b == 0 and how == "shifted" else ue8m0(b)) if is_ue8m0 else lambda b: ue4m3(b, how)
    table = [decode(c) for c in range(256)]
    if how == "exponent_off":
        table = [NAN if s is NAN else s / 4 for s in table]
    if how == "swizzled_twice":
        data = swizzle(swizzle(data, rows, columns)[:rows * columns], rows, columns)
    at = place(how, rows, columns)
    return [[table[data[at(r, c)] if at(r, c) < len(data) else 0] for c in range(columns)] for r in range(rows)]


def scales_of(tensors, name, how):
    dtype, (rows, columns), data = tensors[name + "_scale"]
    if dtype == "F32":
        words = struct.unpack(f"<{rows * columns}I", data)
        return [of_words(list(words[r * columns:(r + 1) * columns]), how) for r in range(rows)]
    return of_bytes(data, rows, columns, how, dtype == "U8")


def without_zero_blocks(codes, scales):
    size = len(codes[0]) // len(scales[0])
    return [[s if any(codes[r][c * size:(c + 1) * size]) else NAN for c, s in enumerate(row)] for r, row in enumerate(scales)]


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
    """The exact product, or NaN."""
    total = Fraction(0)
    size = min(a_size, b_size)
    for k in range(0, len(a_row), size):
        a_scale, b_scale = a_scales[k // a_size], b_scales[k // b_size]
        if a_scale is NAN or b_scale is NAN:
            return NAN
        total += sum(x * y for x, y in zip(a_row[k:k + size], b_row[k:k + size])) * a_scale * b_scale
    return total * factor


def scalar(tensors, name):
    return Fraction(struct.unpack("<f", tensors[name][2])[0]) if name in tensors else Fraction(1)


def operand(tensors, name, how):
    codes, unit = codes_of(tensors, name)
    scales = scales_of(tensors, name, how)
    if how == "zero_block_nan":
        scales = without_zero_blocks(codes, scales)
    if how == "rows_wrapped":
        codes = [codes[r % (len(codes) // 2)] for r in range(len(codes))]
    return codes, scales, unit


def f16_bits_saturated(x):
    """No subnormals in these tests."""
    wide = f32_bits(x)
    magnitude = wide & 0x7FFFFFFF
    bits = (magnitude + 0xFFF + (magnitude >> 13 & 1) >> 13) - (112 << 10) if magnitude >= 0x38800000 else 0
    return wide >> 16 & 0x8000 | min(bits, 0x7BFF)


def main():
    vector, output, how, operands = sys.argv[1:5]
    tensors = load(vector)
    a, a_scales, a_unit = operand(tensors, "a", how if "A" in operands else "right")
    b, b_scales, b_unit = operand(tensors, "b", how if "B" in operands else "right")
    a_size, b_size = len(a[0]) // len(a_scales[0]), len(b[0]) // len(b_scales[0])
    a_rows, b_rows = len(a) // len(a_scales), len(b) // len(b_scales)
    factor = scalar(tensors, "a_tensor_scale") * scalar(tensors, "b_tensor_scale") * scalar(tensors, "alpha") * a_unit * b_unit
    half = len(b) // 2 if how == "fused_larger" else len(b)
    values = [element(a[m], b[n], a_scales[m // a_rows], b_scales[n // b_rows], a_size, b_size,
                      factor * (1 if n < half else 4)) for m in range(len(a)) for n in range(len(b))]
    if how == "saturated":
        save(output, "d", "F16", [len(a), len(b)], [f16_bits_saturated(x) for x in values])
    else:
        save(output, "d", "F32", [len(a), len(b)], [NAN_BITS if x is NAN else f32_bits(x) for x in values])


if __name__ == "__main__":
    main()
