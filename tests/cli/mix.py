# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

"""An output that is wrong in places.

mix.py RIGHT WRONG OUT WHERE   the tensor of RIGHT (FILE:TENSOR), with the elements of WRONG where the Python expression of
                               the row r and the column c holds. WRONG is FILE:TENSOR, or the bytes of one element in hex.
"""
import json
import sys

SIZES = {"F32": 4, "BF16": 2, "F16": 2, "U8": 1, "F8_E4M3": 1, "F8_E5M2": 1}


def load(name):
    path, _, tensor = name.partition(":")
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        data = file.read()
    header.pop("__metadata__", None)
    entry = header[tensor] if tensor else next(iter(header.values()))
    return entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])]


def main():
    dtype, (rows, columns), right = load(sys.argv[1])
    size = SIZES[dtype]
    wrong = load(sys.argv[2])[2] if "." in sys.argv[2] else bytes.fromhex(sys.argv[2]) * (rows * columns)
    where = compile(sys.argv[4], "WHERE", "eval")
    data = bytearray(right)
    for r in range(rows):
        for c in range(columns):
            if eval(where, {"r": r, "c": c}):
                at = (r * columns + c) * size
                data[at:at + size] = wrong[at:at + size]
    header = json.dumps({"d": {"dtype": dtype, "shape": [rows, columns], "data_offsets": [0, len(data)]}}).encode()
    with open(sys.argv[3], "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + data)


main()
