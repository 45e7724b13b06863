#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""What microxcaling makes of the recorded inputs: writes tests/data/recipes/microxcaling.tar.xz's files.

usage: VENV/bin/python record_microxcaling.py RECORDED/recipes MICROXCALING FOLDER
"""
import pathlib
import sys

import torch
from safetensors import safe_open
from safetensors.numpy import save_file

import libraries

DTYPES = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}


def main():
    recorded, source, folder = map(pathlib.Path, sys.argv[1:])
    libraries.microxcaling(source)
    folder.mkdir(parents=True, exist_ok=True)
    for recipe, (library, run) in libraries.RECIPES.items():
        if not recipe.startswith("microxcaling_"):
            continue
        for dtype in DTYPES:
            inputs = f"inputs.mx.{dtype}.safetensors"
            with safe_open(recorded / inputs, "pt") as file:
                x = file.get_tensor("x")
            codes, scale = run(x.to(DTYPES[dtype]))
            about = {"library": "microxcaling", "version": "7bc41952de394f5cc5e782baf132e7c7542eb4e4", "dtype_fed": dtype,
                     "function": "mx.mx_ops._quantize_mx, _shared_exponents", "inputs": inputs,
                     "arguments": "scale_bits=8, block_size=32, axes=[-1], round=nearest, custom_cuda=False",
                     "executed": f"executed on CPU, torch {torch.__version__}",
                     "tensors": "q: codes, from the returned numbers over the shared scale; sf: e8m0 bytes"}
            save_file({"q": codes, "sf": scale}, folder / f"microxcaling.{recipe[13:]}.{dtype}.safetensors", about)


if __name__ == "__main__":
    main()
