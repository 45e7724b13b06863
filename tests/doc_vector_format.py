#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""docs/vector-format.md kept true: doc_vector_format.py VECTOR_TOOL DOCUMENT

- The reader in the document reads our vectors.
- What the document says is enough to compute the exact outputs, with integers alone and nothing of ours.
- Every field and every name that a spec can have is in the document; so are the bytes of its example.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
from fractions import Fraction

TOOL, DOCUMENT = sys.argv[1], open(sys.argv[2], encoding="utf-8").read()
MANTISSA = {"f32": (23, 8, 127), "bf16": (7, 8, 127), "f16": (10, 5, 15), "e4m3": (3, 4, 7), "e5m2": (2, 5, 15),
            "e2m1": (1, 2, 1), "e2m3": (3, 2, 1), "e3m2": (2, 3, 3), "ue4m3": (3, 4, 7), "tf32": (10, 8, 127)}
SIZES = {"F32": 4, "U32": 4, "BF16": 2, "F16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "U8": 1}
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print("FAILED:", what)


def value(name, code):
    """The number of a finite code."""
    if name == "ue8m0":
        return Fraction(2) ** (code - 127)
    mantissa_bits, exponent_bits, bias = MANTISSA[name]
    mantissa, field = code & (1 << mantissa_bits) - 1, code >> mantissa_bits & (1 << exponent_bits) - 1
    if field:
        mantissa += 1 << mantissa_bits
    magnitude = mantissa * Fraction(2) ** (max(field, 1) - bias - mantissa_bits)
    return -magnitude if code >> (mantissa_bits + exponent_bits) & 1 and name != "ue4m3" else magnitude


def encode(name, x):
    """To nearest, ties to even: the code of a number that is in range."""
    mantissa_bits, exponent_bits, bias = MANTISSA[name]
    magnitude, exponent = abs(x), 1 - bias
    while magnitude >= Fraction(2) ** (exponent + 1):
        exponent += 1
    scaled = magnitude / Fraction(2) ** (exponent - mantissa_bits)
    units = scaled.numerator // scaled.denominator
    rest = scaled - units
    if rest > Fraction(1, 2) or rest == Fraction(1, 2) and units % 2:
        units += 1
    code = units + (exponent - 1 + bias << mantissa_bits)  # a carry runs into the exponent, subnormals have none
    return code | (1 << mantissa_bits + exponent_bits if x < 0 else 0)


def codes_of(tensor, name, columns):
    """Rows of codes."""
    dtype, shape, raw = tensor
    size = SIZES[dtype]
    numbers = [int.from_bytes(raw[i:i + size], "little") for i in range(0, len(raw), size)]
    if name == "e2m1":
        width = shape[1]
        return [[numbers[r * width + k // 2] >> k % 2 * 4 & 15 for k in range(columns)] for r in range(shape[0])]
    return [numbers[i:i + columns] for i in range(0, len(numbers), columns)]


def operand(tensors, name, spec, rows, k):
    view = spec["stored"]
    scale = view["scale"]
    codes = codes_of(tensors[name], view["element"], k)
    block_rows, block_k = scale["block_rows"] or rows, scale["block_k"] or k
    if scale["format"] == "none":
        return [[value(view["element"], code) for code in row] for row in codes]
    scales = codes_of(tensors[name + "_scale"], scale["format"], -(-k // block_k))
    return [[value(view["element"], code) * value(scale["format"], scales[r // block_rows][i // block_k])
             for i, code in enumerate(row)] for r, row in enumerate(codes)]


def scalar(tensors, name, absent):
    return Fraction(struct.unpack("<f", tensors[name][2])[0]) if name in tensors else Fraction(absent)


def exact(document, tensors):
    """The output under the exact model: every operation of the epilogue is exact, D is rounded once."""
    m, n, k = (document["shape"][x] for x in "mnk")
    spec, epilogue = document["spec"], document["spec"]["epilogue"]
    a, b = operand(tensors, "a", spec["a"], m, k), operand(tensors, "b", spec["b"], n, k)
    names = {x: scalar(tensors, x, 1) for x in ("alpha", "a_tensor_scale", "b_tensor_scale", "d_scale")}
    beta = scalar(tensors, "beta", 0)
    c = [[value(epilogue["c"], x) for x in row] for row in codes_of(tensors["c"], epilogue["c"], n)] if beta else None
    bias = None
    if epilogue["bias"] != "none":
        bias = [value(epilogue["bias"], x) for x in codes_of(tensors["bias"], epilogue["bias"], n)[0]]
    out = []
    for row in range(m):
        for column in range(n):
            y, coef = sum(x * z for x, z in zip(a[row], b[column])), Fraction(1)
            for step in epilogue["steps"]:
                factor = names.get(step["operand"], 1)  # a_scale, b_scale: taken into the elements above
                if step["op"] == "coef_mul":
                    coef *= factor
                elif step["op"] == "mul":
                    y *= factor
                elif step["op"] == "mul_coef":
                    y *= coef
                elif step["op"] == "fma_beta_c":
                    y += beta * c[row][column] if beta else 0
                elif step["op"] == "add_bias":
                    y += bias[column] if bias else 0
                else:
                    raise ValueError(step)
            out.append(encode(epilogue["d"], y))
    return out


def check_vectors(read_vector, folder):
    cases = [("uniform", "nvfp4", "nvfp4", "bf16"), ("uniform", "mxfp4", "mxfp8_e5m2", "f32"),
             ("gaussian", "mxfp6_e2m3", "mxfp6_e3m2", "f16"), ("gaussian", "fp8_1x128", "fp8_128x128", "bf16"),
             ("gaussian", "fp8_tensor", "fp8_row", "f32"), ("ties", "nvfp4", "nvfp4", "f32"),
             ("ties", "mxfp8_e4m3", "mxfp4", "bf16"), ("powers", "nvfp4", "mxfp8_e4m3", "f16"),
             ("ladder", "nvfp4", "nvfp4", "f32"), ("uniform", "tf32", "f32", "f32"), ("codes", "nvfp4", "nvfp4", "bf16")]
    for seed, (kind, a, b, d) in enumerate(cases):
        path = os.path.join(folder, "vector")
        subprocess.run([TOOL, "vector", kind, a, b, d, "5x7x163", str(seed), "exact", path], check=True)
        document, tensors = read_vector(path)
        size = SIZES[tensors["d.exact"][0]]
        raw = tensors["d.exact"][2]
        observed = [int.from_bytes(raw[i:i + size], "little") for i in range(0, len(raw), size)]
        expected = exact(document, tensors)
        # A zero that is exact has the sign of the rules for signs, which this check leaves out.
        signless = [(o, e) for o, e in zip(observed, expected, strict=True) if o != e and (o | e) != 1 << 8 * size - 1]
        expect(not signless, "%s %s %s %s: %d of %d outputs differ" % (kind, a, b, d, len(signless), len(expected)))
        expect(sorted(document["digests"]) == sorted(tensors), "%s: digests for other tensors" % kind)


def check_names(document):
    """Every key of a real document, and every name that a choice can have, stands in backquotes."""
    quoted = set(re.findall(r"`([^`\n]+)`", DOCUMENT))
    names = set(subprocess.run([TOOL, "names"], check=True, capture_output=True, text=True).stdout.split())

    def walk(node):
        if isinstance(node, dict):
            for key, inner in node.items():
                names.add(key)
                walk(inner)
        elif isinstance(node, list):
            for inner in node:
                walk(inner)
    walk({key: inner for key, inner in document.items() if key != "digests"})
    for name in sorted(names):
        expect(name in quoted, "the document does not have `%s`" % name)
    expect(len(names) > 120, "only %d names" % len(names))


def check_example(folder):
    path = os.path.join(folder, "example")
    subprocess.run([TOOL, "vector", "uniform", "nvfp4", "nvfp4", "bf16", "2x3x17", "8", "exact", path], check=True)
    raw = open(path, "rb").read()
    lines = re.findall(r"^([0-9a-f]{8}): ((?:[0-9a-f]{2,4} )+)", DOCUMENT, re.MULTILINE)
    expect(len(lines) >= 7, "the example has no bytes")
    for offset, text in lines:
        shown = bytes.fromhex(text.replace(" ", ""))
        expect(raw[int(offset, 16):int(offset, 16) + len(shown)] == shown, "example, bytes at %s" % offset)
    expect("%d bytes" % len(raw) in DOCUMENT, "example: the file has %d bytes" % len(raw))


def main():
    scope = {}
    reader = re.search(r"```python\n(.*?)```", DOCUMENT, re.DOTALL).group(1)
    exec(reader, scope)  # pylint: disable=exec-used
    with tempfile.TemporaryDirectory() as folder:
        check_vectors(scope["read_vector"], folder)
        check_example(folder)
        check_names(scope["read_vector"](os.path.join(folder, "example"))[0])
    print("%d failures" % len(failures))
    sys.exit(1 if failures else 0)


main()
