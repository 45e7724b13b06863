# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The fp4oracle authors

"""Compiles a pipelined FP8 GEMM of Triton's tl.dot to PTX, without a GPU and without torch: loads by cp.async in three
stages; on sm_90a the products by wgmma, of which one group stays in flight.

usage: fp8_gemm.py FOLDER    writes FOLDER/{sm90,sm120}_fp8.ptx and .json, which `fp4oracle run --kernel` takes

D (M x N, f32) = A (M x K) * B (N x K)^T, e4m3 without scales; M and N multiples of 64, K of 128."""
import json
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TILE, STEP = 64, 128
MODELS = {90: "sm90_wgmma_fp8", 120: "sm120_f8f6f4"}


@triton.jit
def fp8_gemm(a, b, d, N, K, TILE: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    ks = tl.arange(0, STEP)
    acc = tl.zeros((TILE, TILE), dtype=tl.float32)
    for k in range(0, K, STEP):
        x = tl.load(a + rows[:, None] * K + (k + ks)[None, :])
        y = tl.load(b + columns[None, :] * K + (k + ks)[:, None])
        acc = tl.dot(x, y, acc)
    tl.store(d + rows[:, None] * N + columns[None, :], acc)


def compile_kernel(capability):
    constants = {"TILE": TILE, "STEP": STEP}
    signature = {"a": "*fp8e4nv", "b": "*fp8e4nv", "d": "*fp32", "N": "i32", "K": "i32"}
    # cp.async wants 16 bytes that are aligned: Triton has to know that addresses and lines are.
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(len(signature))}
    signature.update({key: "constexpr" for key in constants})
    source = ASTSource(fn=fp8_gemm, signature=signature, constexprs=constants, attrs=aligned)
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": 4, "num_stages": 3})


def description(name, capability, metadata):
    operand = {"element": "e4m3"}
    kernel = {
        "name": f"triton/{name}",
        "summary": f"tl.dot, tile {TILE}x{TILE}x{STEP}, three stages",
        "source": f"Triton {triton.__version__}",
        "entry": metadata.name,
        "a": operand, "b": operand, "d": "f32", "m_multiple": TILE, "n_multiple": TILE, "k_multiple": STEP,
        "native": [capability, capability + (1 if capability == 120 else 0)],
        "grid": [f"m / {TILE}", f"n / {TILE}"],
        "block": [32 * metadata.num_warps],
        "shared": str(metadata.shared),
        "arguments": ["a", "b", "d", {"i32": "n"}, {"i32": "k"}, "null", "null"],
        "order": {"models": MODELS[capability]},
    }
    return {"module": f"{name}.ptx", "kernels": [kernel]}


def main():
    folder = sys.argv[1]
    for capability in MODELS:
        name = f"sm{capability}_fp8"
        compiled = compile_kernel(capability)
        with open(f"{folder}/{name}.ptx", "w") as out:
            out.write(compiled.asm["ptx"])
        with open(f"{folder}/{name}.json", "w") as out:
            json.dump(description(name, capability, compiled.metadata), out, indent=1)
        print(f"{folder}/{name}.json")


main()
