#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors
"""An output of torch._scaled_mm for `fp4oracle verify`: operands from a vector file, the result into another file.

    torch_scaled_mm.py VECTOR OUTPUT [--fast]      --fast: use_fast_accum
"""
import sys

import torch
from safetensors.torch import load_file, save_file

vector, output, *options = sys.argv[1:]
t = {name: tensor.cuda() for name, tensor in load_file(vector).items()}
d = torch._scaled_mm(
    t["a"],  # M x K
    t["b"].t(),  # K x N, column-major: B as the vector has it
    scale_a=t["a_scale"].view(1, 1) if t["a_scale"].numel() == 1 else t["a_scale"].view(-1, 1),
    scale_b=t["b_scale"].view(1, 1) if t["b_scale"].numel() == 1 else t["b_scale"].view(1, -1),
    out_dtype=torch.bfloat16,
    use_fast_accum="--fast" in options,
)
save_file({"d": d.contiguous().cpu()}, output)
print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}: D {list(d.shape)} in {d.dtype}")
