# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

"""A plain file as somebody dumps it: a vector's operands and scales without metadata, and an output as tensor `y`.

plain_file.py VECTOR PLAIN OUTPUT
"""
import json
import sys

OPERANDS = ("a", "b", "a_scale", "b_scale", "a_tensor_scale", "b_tensor_scale")


def load(path):
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        return json.loads(file.read(size)), file.read()


def main():
    plain, out = {}, b""
    for path, names in ((sys.argv[1], {name: name for name in OPERANDS}), (sys.argv[3], {"d": "y"})):
        header, data = load(path)
        for name, tensor in header.items():
            if name in names:
                piece = data[slice(*tensor["data_offsets"])]
                plain[names[name]] = dict(tensor, data_offsets=[len(out), len(out) + len(piece)])
                out += piece
    text = json.dumps(plain).encode()
    with open(sys.argv[2], "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + out)


main()
