#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Turns mma.sync registers and wgmma shared-memory images recorded on an H200 into rows of single steps.

usage: convert_h200_conformance.py FOLDER OUT    FOLDER holds h200_conformance.safetensors and .json; needs numpy

One file an instruction and pair of types (docs/steps-format.md). Fragment layouts: PTX ISA 9.7.14.5 (mma.sync) and
9.7.15.5 (wgmma); the shared-memory addresses are those that the recorder wrote to (conf.cpp beside the data).
"""
import collections
import json
import pathlib
import re
import struct
import sys

import numpy as np

SOURCE = "recorded on an NVIDIA H200 (cc 9.0, driver 580.159.04), from SASS of ptxas 13.0.88 and from the driver's JIT"
WIDTH = {"e4m3": 1, "e5m2": 1, "f16": 2, "bf16": 2, "tf32": 4}
CODES = {1: np.uint8, 2: np.uint16, 4: np.uint32}


class Safetensors:
    def __init__(self, path):
        self.bytes = pathlib.Path(path).read_bytes()
        size, = struct.unpack_from("<Q", self.bytes)
        self.header = json.loads(self.bytes[8:8 + size])
        self.start = 8 + size

    def __getitem__(self, name):
        entry = self.header[name]
        begin, end = entry["data_offsets"]
        dtype = {"U8": np.uint8, "U16": np.uint16, "U32": np.uint32}[entry["dtype"]]
        return np.frombuffer(self.bytes[self.start + begin:self.start + end], dtype).reshape(entry["shape"])


def write(path, tensors, metadata):
    names = {np.uint8: "U8", np.uint16: "U16", np.uint32: "U32"}
    header, data = {"__metadata__": metadata}, b""
    for name, array in sorted(tensors.items(), key=lambda item: (-item[1].dtype.itemsize, item[0])):
        header[name] = {"dtype": names[array.dtype.type], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header, separators=(",", ":"))
    text += " " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text.encode() + data)


def halves(words, accumulator):
    """Registers of C or D with a last axis of values: one f32, or two f16."""
    if accumulator == "f32":
        return words[..., None]
    return np.stack([words & 0xFFFF, words >> 16], -1)


def mma_rows(data, case, shape, accumulator, width):
    """(a, b, c, d): one row an output. Lane l = 4 g + q."""
    a_registers, b_registers = data[case + "/A"], data[case + "/B"]
    tiles, per = len(a_registers), 4 // width
    k_size = int(shape.split("k")[1])
    g, q = np.arange(32) // 4, np.arange(32) % 4
    a = np.zeros((tiles, 16, k_size), CODES[width])
    b = np.zeros((tiles, 8, k_size), CODES[width])
    a_codes = np.ascontiguousarray(a_registers).view(CODES[width]).reshape(tiles, -1, 32, per)
    b_codes = np.ascontiguousarray(b_registers).view(CODES[width]).reshape(tiles, -1, 32, per)
    for r in range(a_codes.shape[1]):
        for e in range(per):
            a[:, g + 8 * (r & 1), per * q + e + 4 * per * (r >> 1)] = a_codes[:, r, :, e]
    for r in range(b_codes.shape[1]):
        for e in range(per):
            b[:, g, per * q + e + 4 * per * r] = b_codes[:, r, :, e]
    c_values, d_values = (halves(data[case + "/" + x], accumulator) for x in "CD")
    c, d = np.zeros((2, tiles, 16, 8), np.uint32)
    for r in range(c_values.shape[1]):
        for h in range(c_values.shape[3]):
            m, n = (g + 8 * (r >> 1), 2 * q + (r & 1)) if accumulator == "f32" else (g + 8 * r, 2 * q + h)
            c[:, m, n], d[:, m, n] = c_values[:, r, :, h], d_values[:, r, :, h]
    return spread(a, b, c, d)


def spread(a, b, c, d):
    """Every output with its row of A and its row of B."""
    tiles, m, n = c.shape
    return (np.repeat(a, n, 1).reshape(tiles * m * n, -1), np.tile(b, (1, m, 1)).reshape(tiles * m * n, -1),
            c.reshape(-1), d.reshape(-1))


def matrix(image, base, offset, rows, swizzle, layout, raw):
    """Rows of 32 bytes of K-major A or B: byte j of row r. base: start of the matrix, offset: of the descriptor in it."""
    pitch = {0: 32, 1: 128, 2: 64, 3: 32}[swizzle]
    mask = {0: 0, 1: 7, 2: 3, 3: 1}[swizzle]
    row, byte = np.meshgrid(np.arange(rows), np.arange(32), indexing="ij")
    if raw:  # A went through registers, loaded without looking at the swizzle
        at = base + row * 32 + byte
    elif swizzle:
        at = base + row * pitch + byte + offset
        at ^= (at >> 7 & mask) << 4
    elif layout == 0:
        at = base + row // 8 * 256 + byte // 16 * 128 + row % 8 * 16 + byte % 16
    else:
        at = base + row // 8 * 128 + byte // 16 * rows * 16 + row % 8 * 16 + byte % 16
    return image[:, at]


def wgmma_rows(data, case, variant, n, accumulator, widths, registers, signs):
    prefix = f"{case}/{variant}"
    swizzle, offset, scale_d, layout = map(int, re.match(r"v\d+_sw(\d)_off(\d+)_sd(\d)_lay(\d)", variant).groups())
    pitch = {0: 32, 1: 128, 2: 64, 3: 32}[swizzle]
    c_flat, d_flat = data[prefix + "/C"], data[prefix + "/D"]
    count = n // 2 if accumulator == "f32" else n // 4
    c_values, d_values = (halves(x.reshape(-1, count, 128), accumulator) for x in (c_flat, d_flat))
    ctas = len(c_values)
    image = data[prefix + "/img"].reshape(ctas, -1)
    a = np.ascontiguousarray(matrix(image, 0, offset, 64, swizzle, layout, registers)).view(CODES[widths[0]])
    b = np.ascontiguousarray(matrix(image, 64 * pitch, offset, n, swizzle, layout, False)).view(CODES[widths[1]])
    for matrix_, sign, width in ((a, signs[0], widths[0]), (b, signs[1], widths[1])):
        if sign < 0:
            matrix_ ^= CODES[width](1 << (8 * width - 1))
    thread = np.arange(128)
    w, g, q = thread // 32, thread % 32 // 4, thread % 4
    c, d = np.zeros((2, ctas, 64, n), np.uint32)
    for r in range(count):
        for h in range(c_values.shape[3]):
            if accumulator == "f32":
                m, column = 16 * w + g + 8 * (r >> 1 & 1), 8 * (r // 4) + 2 * q + (r & 1)
            else:
                m, column = 16 * w + g + 8 * (r & 1), 8 * (r // 2) + 2 * q + h
            c[:, m, column], d[:, m, column] = c_values[:, r, :, h], d_values[:, r, :, h]
    if scale_d == 0:
        c[:] = 0
    return spread(a, b, c, d)


def main():
    folder, out = map(pathlib.Path, sys.argv[1:3])
    data = Safetensors(folder / "h200_conformance.safetensors")
    cases = json.loads((folder / "h200_conformance.json").read_text())["cases"]
    files = collections.defaultdict(list)
    for case, kind, name, *_ in cases:
        if kind == "mma":
            shape, types = re.match(r"mma\.sync\.aligned\.(m\d+n\d+k\d+)\.row\.col\.(.*)", name).groups()
            accumulator, a, b, _ = types.split(".")
            files[f"sm90_mma_{shape}", accumulator, a, b].append(mma_rows(data, case, shape, accumulator, WIDTH[a]))
        elif kind == "wg":
            n, types, rest = re.match(r"wgmma\.\S*\.m64n(\d+)k\d+\.(\S+)(.*)", name).groups()
            accumulator, a, b = types.split(".")
            variant = re.search(r"v\d+ sw\d off\d+ sd\d lay\d", rest).group().replace(" ", "_")
            if f"{case}/{variant}/img" not in data.header or f"{case}/{variant}/D" not in data.header:
                continue  # the recording keeps a digest of these alone
            signs = re.search(r"scale (-?1) (-?1)", rest)
            signs = tuple(map(int, signs.groups())) if signs else (1, 1)
            files["sm90_wgmma", accumulator, a, b].append(
                wgmma_rows(data, case, variant, int(n), accumulator, (WIDTH[a], WIDTH[b]), "A-regs" in rest, signs))
    for (instruction, accumulator, a, b), parts in sorted(files.items()):
        arrays = dict(zip("abcd", (np.concatenate(x) for x in zip(*parts))))
        operand = {"tf32": "f32"}  # the registers hold f32, of which the instruction reads the upper 19 bits
        metadata = {"source": SOURCE, "arch": "sm90 (H200)", "instruction": f"{instruction} {accumulator} {a} {b}",
                    "a_type": operand.get(a, a), "b_type": operand.get(b, b), "c_type": accumulator,
                    "d_type": accumulator, "scale_type": "none", "K": str(arrays["a"].shape[1])}
        path = out / f"{instruction}_{accumulator}_{a}_{b}.safetensors"
        write(path, arrays, metadata)
        print(f"{path.name}: {len(arrays['d'])} rows of {arrays['a'].shape[1]}")


if __name__ == "__main__":
    main()
