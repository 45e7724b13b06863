# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

"""Compiles a block-scaled GEMM of Triton's tl.dot_scaled to PTX, without a GPU and without torch.

usage: triton_scaled.py FOLDER [120 | 100]    writes FOLDER/{nvfp4,mxfp4,mxfp8}.ptx, for sm_120a or sm_100a

tests/data/triton holds what Triton 3.9.0 made of it. D (M x N, f32) = A (M x K) * B (N x K)^T, M and N multiples of 128,
K of 128; four warps, 32768 bytes of shared memory (sm_100a: 65536)."""
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scaled_gemm(a, sa, b, sb, d, M, N, K, TILE: tl.constexpr, STEP: tl.constexpr, BLOCK: tl.constexpr,
                PACKED: tl.constexpr, FORMAT: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    bytes_k = tl.arange(0, STEP // PACKED)
    blocks = tl.arange(0, STEP // BLOCK)
    acc = tl.zeros((TILE, TILE), dtype=tl.float32)
    for k in range(0, K, STEP):
        x = tl.load(a + rows[:, None] * (K // PACKED) + (k // PACKED + bytes_k)[None, :])
        y = tl.load(b + columns[None, :] * (K // PACKED) + (k // PACKED + bytes_k)[:, None])
        u = tl.load(sa + rows[:, None] * (K // BLOCK) + (k // BLOCK + blocks)[None, :])
        v = tl.load(sb + columns[:, None] * (K // BLOCK) + (k // BLOCK + blocks)[None, :])
        acc = tl.dot_scaled(x, u, FORMAT, y, v, FORMAT, acc)
    tl.store(d + rows[:, None] * N + columns[None, :], acc)


FORMATS = {
    "nvfp4": ("*u8", "*fp8e4nv", 16, 2, "e2m1"),
    "mxfp4": ("*u8", "*u8", 32, 2, "e2m1"),
    "mxfp8": ("*fp8e4nv", "*u8", 32, 1, "e4m3"),
}


def main():
    capability = int(sys.argv[2]) if len(sys.argv) > 2 else 120
    for name, (element, scale, block, packed, kind) in FORMATS.items():
        constants = {"TILE": 128, "STEP": 128, "BLOCK": block, "PACKED": packed, "FORMAT": kind}
        signature = {"a": element, "sa": scale, "b": element, "sb": scale, "d": "*fp32", "M": "i32", "N": "i32", "K": "i32"}
        signature.update({key: "constexpr" for key in constants})
        source = ASTSource(fn=scaled_gemm, signature=signature, constexprs=constants)
        compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": 4, "num_stages": 2})
        with open(f"{sys.argv[1]}/{name}.ptx", "w") as out:
            out.write(compiled.asm["ptx"])
        print(name, compiled.metadata.shared, "bytes of shared memory,", compiled.metadata.num_warps, "warps")


main()
