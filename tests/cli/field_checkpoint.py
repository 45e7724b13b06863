# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

"""A small checkpoint as DeepSeek-V3's are: e4m3 weights, an fp32 scale for each 128x128 block.

field_checkpoint.py FOLDER    model.layers.0.mlp.down_proj, 256 x 1024, and config.json
The weights are normal numbers from a fixed seed; a block's scale is amax/448, as the fp32 quotient.
"""
import json
import os
import random
import struct
import sys

NAME = "model.layers.0.mlp.down_proj"
ROWS, COLUMNS, BLOCK = 256, 1024, 128
CONFIG = {"model_type": "deepseek_v3", "num_hidden_layers": 1, "quantization_config": {
    "activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8", "weight_block_size": [BLOCK, BLOCK]}}


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def e4m3_magnitudes():
    return [(m if e == 0 else 8 + m) * 2.0 ** (max(e, 1) - 10) for e in range(16) for m in range(8)][:127]


MAGNITUDES = e4m3_magnitudes()


def encode(x):
    """To nearest, ties to even codes."""
    low, high, size = 0, 126, abs(x)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if MAGNITUDES[middle] <= size else (low, middle)
    below, above = size - MAGNITUDES[low], MAGNITUDES[high] - size
    code = high if above < below or (above == below and high % 2 == 0) else low
    return code | (0x80 if x < 0 else 0)


def main():
    rng = random.Random(8)
    weights = [[rng.gauss(0, 0.02 * (1 + r // BLOCK + c // BLOCK)) for c in range(COLUMNS)] for r in range(ROWS)]
    blocks = [[[weights[r][c] for r in range(i, i + BLOCK) for c in range(j, j + BLOCK)]
               for j in range(0, COLUMNS, BLOCK)] for i in range(0, ROWS, BLOCK)]
    scales = [[f32(max(map(abs, block)) / 448) for block in row] for row in blocks]
    codes = bytes(encode(weights[r][c] / scales[r // BLOCK][c // BLOCK]) for r in range(ROWS) for c in range(COLUMNS))
    data = codes + b"".join(struct.pack("<f", s) for row in scales for s in row)
    header = json.dumps({
        NAME + ".weight": {"dtype": "F8_E4M3", "shape": [ROWS, COLUMNS], "data_offsets": [0, len(codes)]},
        NAME + ".weight_scale_inv": {"dtype": "F32", "shape": [ROWS // BLOCK, COLUMNS // BLOCK],
                                     "data_offsets": [len(codes), len(data)]}}).encode()
    os.makedirs(sys.argv[1], exist_ok=True)
    with open(os.path.join(sys.argv[1], "model.safetensors"), "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header + data)
    with open(os.path.join(sys.argv[1], "config.json"), "w", encoding="utf-8") as file:
        json.dump(CONFIG, file)


main()
